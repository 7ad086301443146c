/* fork, exec, wait. Signals are taken synchronously, so that no handler needs to know the child. */
#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* In the child: tells the parent through the pipe why there is no program. */
static _Noreturn void become(const struct launch *l, int report, const sigset_t *mask,
                             const struct sigaction *on_child)
{
    l->prepare(l->context);
    sigaction(SIGCHLD, on_child, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(l->argv[0], l->argv);
    int why = errno;
    ssize_t written = write(report, &why, sizeof why);
    _exit(written == sizeof why ? STATUS_CANNOT_RUN : STATUS_NOT_FOUND);
}

/* 0: the program runs. */
static int why_not(int report)
{
    int why = 0;
    ssize_t n;
    while ((n = read(report, &why, sizeof why)) < 0 && errno == EINTR)
        ;
    close(report);
    return n == sizeof why ? why : 0;
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

static int run_with(const struct launch *l, pid_t *pid, const sigset_t *set, const sigset_t *mask,
                    const struct sigaction *on_child, struct err *e)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) || (*pid = fork()) < 0) {
        *pid = 0;
        err_errno(e, l->argv[0], errno);
        return STATUS_CANNOT_RUN;
    }
    if (*pid == 0)
        become(l, report[1], mask, on_child);
    close(report[1]);
    int why = why_not(report[0]), status = wait_for(*pid, set);
    if (!why)
        return status;
    *pid = 0;
    err_errno(e, l->argv[0], why);
    return why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

int launch_run(const struct launch *l, pid_t *pid, struct err *e)
{
    sigset_t set, mask;
    struct sigaction usual = {.sa_handler = SIG_DFL}, on_child;
    *pid = 0;
    choose_signals(&set);
    sigaction(SIGCHLD, &usual, &on_child);
    sigprocmask(SIG_BLOCK, &set, &mask);
    int status = run_with(l, pid, &set, &mask, &on_child, e);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return status;
}
