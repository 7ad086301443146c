/* Colour and pager. */
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool parse_colour(const char *value, enum colour_when *when, struct err *e)
{
    if (!value || !strcmp(value, "always"))
        *when = COLOUR_ALWAYS;
    else if (!strcmp(value, "auto"))
        *when = COLOUR_AUTO;
    else if (!strcmp(value, "never"))
        *when = COLOUR_NEVER;
    else
        return err_set(e, "option '--color' takes auto, always or never, not '%s'", value);
    return true;
}

static bool wants_colour(enum colour_when when, bool is_terminal)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != COLOUR_AUTO)
        return when == COLOUR_ALWAYS;
    return is_terminal && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static const char *pager_command(void)
{
    const char *pager = getenv("MONARC_PAGER");
    if (!pager)
        pager = getenv("PAGER");
    if (!pager)
        pager = "less -FRX";
    return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static _Noreturn void become_pager(const char *command, int input)
{
    dup2(input, STDIN_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void start_pager(struct terminal *t, const char *command, struct out *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return;
    t->pager = fork();
    if (t->pager == 0)
        become_pager(command, ends[0]);
    close(ends[0]);
    if (t->pager < 0) {
        t->pager = 0;
        close(ends[1]);
        return;
    }
    /* A pager left early must end this process neither by SIGPIPE nor, while it waits, by the
     * user's ^C, which is meant for the pager. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    t->screen = out->fd;
    out->fd = ends[1];
}

void terminal_start(struct terminal *t, enum colour_when when, bool no_pager, struct out *out)
{
    bool is_terminal = out->fd >= 0 && isatty(out->fd);
    *t = (struct terminal){.has_colour = wants_colour(when, is_terminal)};
    const char *command = is_terminal && !no_pager ? pager_command() : NULL;
    if (command)
        start_pager(t, command, out);
}

void terminal_end(struct terminal *t, struct out *out)
{
    if (!t->pager)
        return;
    out_flush(out);
    if (out->error == EPIPE)
        out->error = 0;
    close(out->fd);
    while (waitpid(t->pager, NULL, 0) < 0 && errno == EINTR)
        continue;
    out->fd = t->screen;
    t->pager = 0;
}
