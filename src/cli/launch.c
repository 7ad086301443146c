/* Spawning and waiting. Signals are taken synchronously, so that no handler needs to know the
 * child. */
#include "cli/launch.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static void choose_signals(sigset_t *set)
{
    static const int taken[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
                                SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(set, taken[i]);
}

static int wait_for(pid_t pid, const sigset_t *set)
{
    int status;
    for (;;) {
        siginfo_t info;
        int number = sigwaitinfo(set, &info);
        if (number == SIGCHLD && waitpid(pid, &status, WNOHANG) == pid)
            break;
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            kill(pid, number);
    }
    return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns an errno. The child gets the signal mask that we were started with. */
static int spawn(char **argv, const sigset_t *mask, pid_t *pid)
{
    posix_spawnattr_t how;
    int why = posix_spawnattr_init(&how);
    if (why)
        return why;
    posix_spawnattr_setsigmask(&how, mask);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    why = posix_spawnp(pid, argv[0], NULL, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    return why;
}

int launch_run(char **argv, pid_t *pid, struct err *e)
{
    sigset_t set, mask;
    choose_signals(&set);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigprocmask(SIG_BLOCK, &set, &mask);
    int why = spawn(argv, &mask, pid), status = why ? STATUS_CANNOT_RUN : wait_for(*pid, &set);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!why)
        return status;
    *pid = 0;
    err_errno(e, argv[0], why);
    return why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}
