/* Colour and pager. */
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
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
        pager = "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi";
    return *pager && strcmp(pager, "cat") ? pager : NULL;
}

/* Runs the pager on `input`; 0 if the system has no room for it. */
static pid_t spawn_pager(const char *command, int input)
{
    char shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pager = 0;
    if (posix_spawn_file_actions_init(&actions))
        return 0;
    if (posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) ||
        posix_spawn(&pager, "/bin/sh", &actions, NULL, arguments, environ))
        pager = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pager;
}

static void start_pager(struct terminal *t, const char *command, struct out *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return;
    t->pager = spawn_pager(command, ends[0]);
    close(ends[0]);
    if (!t->pager) {
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

int terminal_width(const struct out *out)
{
    enum { LEAST = 80 };
    struct winsize size;
    if (out->fd < 0 || ioctl(out->fd, TIOCGWINSZ, &size) || size.ws_col < LEAST)
        return LEAST;
    return size.ws_col;
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
