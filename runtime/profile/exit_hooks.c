/* The ends of a process that the recorder sees coming. See exit_hooks.h.
 *
 * The exit handler is registered with no object to belong to, before the loader's own, so it runs
 * after every destructor of every object. Fatal signals are watched only where the program left
 * them alone. */
#include "exit_hooks.h"
#include "../common/sys.h"
#include "dump.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int __cxa_atexit(void (*)(void *), void *, void *);
int __cxa_at_quick_exit(void (*)(void *), void *);

static const int fatal_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS, SIGFPE,
                                    SIGSEGV, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGSYS};

static void at_end(void *unused)
{
    (void)unused;
    dump(WRITTEN_EXIT, DUMP_FINAL, NULL);
}

static void on_fatal(int signal)
{
    struct process *p = process_if_started();
    sigset_t one;
    if (p && p->pid == sys_pid())
        dump(WRITTEN_SIGNAL + (uint32_t)signal, DUMP_FINAL | DUMP_ASYNC, NULL);
    /* SA_RESETHAND has put the default back. Raised again, it ends the process as it would have. */
    sigemptyset(&one);
    sigaddset(&one, signal);
    sys_raise(signal);
    SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, 0, 8);
}

static void on_request(int signal)
{
    dump(WRITTEN_SIGNAL + (uint32_t)signal, DUMP_ASYNC, NULL);
}

/* Installs a handler where there is none. */
static bool watch(int signal, void (*handler)(int), int flags)
{
    struct sigaction old, new = {.sa_handler = handler, .sa_flags = SA_ONSTACK | flags};
    if (sigaction(signal, NULL, &old) != 0 || (old.sa_flags & SA_SIGINFO) ||
        old.sa_handler != SIG_DFL)
        return false;
    sigfillset(&new.sa_mask);
    if (signal != SIGBUS)
        sigdelset(&new.sa_mask, SIGBUS); /* see sigbus.h */
    return sigaction(signal, &new, NULL) == 0;
}

static void watch_signals(void)
{
    for (size_t i = 0; config.fatal_signals && i < sizeof fatal_signals / sizeof *fatal_signals;
         i++)
        watch(fatal_signals[i], on_fatal, (int)SA_RESETHAND);
    if (config.dump_signal > 0 && config.dump_signal < NSIG)
        watch(config.dump_signal, on_request, SA_RESTART);
}

#ifdef MONARC_STATIC
/* In a static program exit() comes through here too, after the destructors. */
__attribute__((visibility("default"))) void _exit(int status)
{
    at_end(NULL);
    sys_exit(status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}
#endif

void ends_watch(void)
{
    __cxa_atexit(at_end, NULL, NULL);
    __cxa_at_quick_exit(at_end, NULL);
    watch_signals();
}
