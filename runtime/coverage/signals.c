/* Signals that end the process, and the one that asks for a dump. See life.h.
 *
 * Where the program has SIG_DFL for a signal that kills, the library has a handler that writes the
 * files and lets the signal kill. So that this stays true, it stands in front of sigaction and
 * signal: a program that sets SIG_DFL, or a handler for once only, gets the library's handler back
 * afterwards, and sees SIG_DFL when it asks. Handlers of the program are otherwise left to the
 * kernel. */
#include "../common/sys.h"
#include "../common/text.h"
#include "dump.h"
#include "export.h"
#include "life.h"
#include "names.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)64 << 10)

#pragma weak dlsym
#pragma weak __sigaction
int __sigaction(int, const struct sigaction *, struct sigaction *);

static const struct {
    int number;
    const char *name;
} signals[] = {
    {SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"},     {SIGILL, "ILL"},
    {SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},       {SIGFPE, "FPE"},
    {SIGUSR1, "USR1"}, {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"},     {SIGPIPE, "PIPE"},
    {SIGALRM, "ALRM"}, {SIGTERM, "TERM"}, {SIGXCPU, "XCPU"},     {SIGXFSZ, "XFSZ"},
    {SIGSYS, "SYS"},   {SIGPROF, "PROF"}, {SIGVTALRM, "VTALRM"},
};
#define SIGNALS (sizeof signals / sizeof *signals)

/* By number: whether the library stands in for SIG_DFL, and a handler that the program wants for
 * once. */
static bool is_watched[NSIG];
static struct sigaction once[NSIG];
static void *own_stack;

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

/* The next one in line may be a sanitizer's. */
static int real_sigaction(int signal, const struct sigaction *new, struct sigaction *old)
{
    static sigaction_function *real;
    if (!real) {
        void *found = dlsym ? dlsym(RTLD_NEXT, "sigaction") : NULL;
        memcpy(&real, &found, sizeof real);
        if (!real)
            real = __sigaction;
    }
    if (real)
        return real(signal, new, old);
    errno = ENOSYS;
    return -1;
}

static void on_fatal(int signal)
{
    struct sigaction none = {.sa_handler = SIG_DFL};
    uint64_t one = (uint64_t)1 << (signal - 1), mask;
    dump(DUMP_LAST | DUMP_ASYNC);
    real_sigaction(signal, &none, NULL);
    sys_raise(signal); /* blocked until here */
    sys_block(&mask);
    mask &= ~one;
    sys_unblock(&mask);
}

static void on_request(int signal)
{
    (void)signal;
    dump(DUMP_MORE | DUMP_ASYNC);
}

static struct sigaction own_action(void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK | flags};
    sigfillset(&a.sa_mask);
    return a;
}

/* Takes the place of a handler with SA_RESETHAND. */
static void on_once(int signal, siginfo_t *info, void *context)
{
    struct sigaction handler = once[signal], own = own_action(on_fatal, 0);
    real_sigaction(signal, &own, NULL);
    if (handler.sa_flags & SA_SIGINFO)
        handler.sa_sigaction(signal, info, context);
    else
        handler.sa_handler(signal);
}

static bool is_default(const struct sigaction *a)
{
    return a->sa_handler == SIG_DFL;
}

EXPORT int sigaction(int signal, const struct sigaction *restrict new,
                     struct sigaction *restrict old)
{
    struct sigaction mine, was;
    if (signal <= 0 || signal >= NSIG || !is_watched[signal])
        return real_sigaction(signal, new, old);
    struct sigaction was_once = once[signal];
    if (new) {
        mine = *new;
        if (is_default(new)) {
            mine = own_action(on_fatal, 0);
        } else if ((new->sa_flags &(int)SA_RESETHAND) && new->sa_handler != SIG_IGN) {
            once[signal] = *new;
            mine.sa_flags = (new->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
            mine.sa_sigaction = on_once;
        }
    }
    int r = real_sigaction(signal, new ? &mine : NULL, &was);
    if (r == 0 && old) {
        *old = was;
        if (was.sa_handler == on_fatal)
            *old = (struct sigaction){.sa_handler = SIG_DFL};
        else if (was.sa_sigaction == on_once)
            *old = was_once;
    }
    return r;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags}, old;
    if (!(flags & (int)SA_RESETHAND))
        sigaddset(&new.sa_mask, number);
    if (sigaction(number, &new, &old) != 0)
        return SIG_ERR;
    return old.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

/* Not every libc declares it. NOLINTNEXTLINE(readability-redundant-declaration) */
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler);
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

static void watch(int signal)
{
    struct sigaction old, own = own_action(on_fatal, 0);
    if (real_sigaction(signal, NULL, &old) != 0)
        return;
    is_watched[signal] = true;
    if (is_default(&old))
        real_sigaction(signal, &own, NULL);
}

/* A number, or a name with or without SIG. */
static int number_of(const char *s)
{
    if (!s)
        return 0;
    if (strncmp(s, "SIG", 3) == 0)
        s += 3;
    for (size_t i = 0; i < SIGNALS; i++)
        if (strcmp(s, signals[i].name) == 0)
            return signals[i].number;
    uint64_t n = text_number(s, 0);
    return n < NSIG ? (int)n : 0;
}

/* An overflow of the first thread's stack is a signal that needs another one. */
static void provide_stack(void)
{
    stack_t now, own = {.ss_size = STACK_BYTES};
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    own.ss_sp = own_stack = sys_pages(STACK_BYTES);
    if (own.ss_sp)
        sigaltstack(&own, NULL);
}

void signals_begin(void)
{
    const char *fatal = names_variable("MONARC_COVER_FATAL");
    int request = number_of(names_variable("MONARC_COVER_SIGNAL"));
    struct sigaction own = own_action(on_request, SA_RESTART);
    if (text_number(fatal, 1) != 0) {
        provide_stack();
        for (size_t i = 0; i < SIGNALS; i++)
            if (signals[i].number != request)
                watch(signals[i].number);
    }
    if (request)
        real_sigaction(request, &own, NULL);
}

/* A library with a copy of this code may be about to go. */
void signals_end(void)
{
    struct sigaction none = {.sa_handler = SIG_DFL}, now;
    for (int i = 1; i < NSIG; i++) {
        if (!is_watched[i] || real_sigaction(i, NULL, &now) != 0)
            continue;
        if (now.sa_handler == on_fatal)
            real_sigaction(i, &none, NULL);
        else if (now.sa_sigaction == on_once)
            real_sigaction(i, &once[i], NULL);
        is_watched[i] = false;
    }
    stack_t old, off = {.ss_flags = SS_DISABLE};
    if (own_stack && sigaltstack(NULL, &old) == 0 && old.ss_sp == own_stack)
        sigaltstack(&off, NULL);
}
