/* Forking the screen off, waiting for it, stopping when it stops.
 *
 *    monarc (waits) ---fork---> screen (curses, tables)
 *       |  waitpid, sigwaitinfo      |
 *       |<---- end, stop ------------|
 *       |----- signals for it ------>|
 *       shared page: struct guard_answer      memfd: the screen's standard error
 *
 * The waiting process keeps what the terminal was like and has touched nothing since, so it can put
 * that back after any end of the other, SIGKILL included. The child inherits all sessions by fork:
 * nothing is opened twice. If the parent dies, PR_SET_PDEATHSIG sends the child SIGTERM, and the
 * child ends as it would by any SIGTERM.
 *
 * Signals are blocked in both and waited for, so none is handled in the middle of something, and
 * none is lost. */
#include "tui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the two share. */
struct guard_answer {
    bool is_fine;
    struct err e;
};

void guard_signals(sigset_t *set)
{
    static const int SIGNALS[] = {SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,        SIGTSTP,
                                  SIGCONT, SIGCHLD, SIGWINCH, GUARD_PUT_BACK};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        sigaddset(set, SIGNALS[i]);
}

/* A shell that asks why the process ended shall learn of the signal: raising it with its default
 * action says so, an exit status would not. */
_Noreturn void guard_end_by(int signal_number)
{
    sigset_t set;
    signal(signal_number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + signal_number);
}

/* --- the process with the screen ------------------------------------------------------------- */

/* _exit(): buffers and handlers of the parent were copied by fork and must not run twice. getppid()
 * finds a parent that ended before prctl() could arrange for its end. */
static _Noreturn void hold_screen(pid_t parent, int errors, guard_work *work, void *context,
                                  struct guard_answer *answer)
{
    int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    if (errors >= 0)
        dup2(errors, STDERR_FILENO);
    answer->is_fine = work(context, before, &answer->e);
    _exit(0);
}

/* --- the process that waits ------------------------------------------------------------------ */

/* The screen has stopped, so the shell may have the terminal. By Ctrl-Z, the screen has put it
 * back; SIGSTOP leaves it no time to. */
static void stop_too(const struct terminal_state *t, pid_t screen, int signal_number)
{
    bool puts_back = signal_number != SIGTSTP;
    if (puts_back)
        terminal_put_back(t);
    raise(SIGSTOP);
    if (puts_back)
        kill(screen, GUARD_PUT_BACK);
    kill(screen, SIGCONT);
}

/* Signals that the terminal sends reach the screen as well; others are passed on. */
static void pass_on(pid_t screen, const siginfo_t *info)
{
    bool is_from_terminal = info->si_code == SI_KERNEL;
    if (info->si_signo != SIGCHLD && info->si_signo != SIGCONT && !is_from_terminal)
        kill(screen, info->si_signo);
}

/* SIGCHLD is among the signals that are waited for, so that an end or a stop of the screen wakes
 * this loop as well. Returns what waitpid() has; 0 if there is no child to wait for. */
static int wait_for_end(const struct terminal_state *t, pid_t screen)
{
    sigset_t set;
    guard_signals(&set);
    for (;;) {
        siginfo_t info;
        int status;
        pid_t found;
        while ((found = waitpid(screen, &status, WNOHANG | WUNTRACED)) > 0) {
            if (!WIFSTOPPED(status))
                return status;
            stop_too(t, screen, WSTOPSIG(status));
        }
        if (found < 0 && errno != EINTR)
            return 0;
        if (sigwaitinfo(&set, &info) > 0)
            pass_on(screen, &info);
    }
}

/* What libraries had to say. */
static void show_errors(int errors)
{
    char piece[4096];
    ssize_t len;
    if (errors < 0)
        return;
    for (off_t at = 0; (len = pread(errors, piece, sizeof piece, at)) > 0; at += len)
        if (write(STDERR_FILENO, piece, (size_t)len) != len)
            break;
    close(errors);
}

/* Signals by which a user or the system ends a program: no failure that deserves a message. */
static bool means_end(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* The screen puts the terminal back itself when all is well. Otherwise it is put back before
 * anything is printed, so that the message lands on the user's own screen. */
static bool judge(const struct terminal_state *t, int status, int errors,
                  const struct guard_answer *answer, struct err *e)
{
    bool was_killed = WIFSIGNALED(status);
    bool is_left = was_killed || WEXITSTATUS(status);
    if (is_left)
        terminal_put_back(t);
    show_errors(errors);
    if (was_killed && means_end(WTERMSIG(status)))
        guard_end_by(WTERMSIG(status));
    if (was_killed)
        return err_set(e, "the screen was ended by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    if (is_left)
        return err_set(e, "the screen ended with status %d", WEXITSTATUS(status));
    if (!answer->is_fine)
        *e = answer->e;
    return answer->is_fine;
}

/* Without a memfd errors go where they always went: it is not worth refusing the screen for. */
bool guard_run(const struct terminal_state *t, guard_work *work, void *context, struct err *e)
{
    sigset_t set, before;
    struct guard_answer *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED)
        return err_errno(e, "memory", errno);
    int errors = memfd_create("errors", MFD_CLOEXEC);
    guard_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    pid_t self = getpid(), screen = fork();
    if (!screen)
        hold_screen(self, errors, work, context, answer);
    bool ok = screen < 0 ? err_errno(e, "fork", errno)
                         : judge(t, wait_for_end(t, screen), errors, answer, e);
    sigprocmask(SIG_SETMASK, &before, NULL);
    munmap(answer, sizeof *answer);
    return ok;
}
