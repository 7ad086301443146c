/* Starting an editor and waiting for it. */
#include "tui/editor.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *editor_command(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* Signals as they were before the screen waited for them. */
static bool prepare(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    return !posix_spawnattr_init(attributes) && !posix_spawnattr_setsigmask(attributes, &none) &&
           !posix_spawnattr_setsigdefault(attributes, &all) &&
           !posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int wait_for(pid_t editor, const struct editor_place *p)
{
    int status = 0;
    for (;;) {
        if (waitpid(editor, &status, WUNTRACED) < 0) {
            if (errno == EINTR)
                continue;
            return 0;
        }
        if (!WIFSTOPPED(status))
            return status;
        p->stop(p->context);
        kill(editor, SIGCONT);
    }
}

bool editor_run(const struct editor_place *p, const char *path, size_t line, struct err *e)
{
    enum { NOT_FOUND = 127 };
    char script[4096], at[32], shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, script, shell, at, (char *)path, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    pid_t editor;
    snprintf(at, sizeof at, "+%zu", line);
    if (snprintf(script, sizeof script, "%s \"$@\"", editor_command()) >= (int)sizeof script)
        return err_set(e, "the editor's command is too long");
    if (!prepare(&attributes) || posix_spawn_file_actions_init(&actions))
        return err_set(e, "the system has no room for an editor");
    int why = posix_spawn_file_actions_adddup2(&actions, p->input, STDIN_FILENO);
    if (!why && p->error >= 0)
        why = posix_spawn_file_actions_adddup2(&actions, p->error, STDERR_FILENO);
    if (!why)
        why = posix_spawn(&editor, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (why)
        return err_errno(e, "/bin/sh", why);
    int status = wait_for(editor, p);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return err_set(e, "there is no editor '%s' (VISUAL, EDITOR)", editor_command());
    if (WIFSIGNALED(status))
        return err_set(e, "the editor was ended by signal %d", WTERMSIG(status));
    return true;
}
