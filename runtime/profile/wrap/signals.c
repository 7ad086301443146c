/* sigaction, signal: a program that arranges all signals anew, or looks at all, does not find the
 * ones that the clocks and sigbus.c use: it gets, and keeps, what it would have without them. */
#include "../sigbus.h"
#include "../sampling/sample.h"
#include "real.h"

#include <signal.h>

#define EXPORT __attribute__((visibility("default")))

static struct sigaction *programs_action(int signal)
{
    struct sigaction *mine = sample_programs_action(signal);
    return mine ? mine : cut_programs_action(signal);
}

EXPORT int sigaction(int signal, const struct sigaction *new, struct sigaction *old)
{
    struct sigaction *mine = programs_action(signal);
    if (!mine)
        return REAL(sigaction)(signal, new, old);
    struct sigaction before = *mine;
    if (new)
        *mine = *new;
    if (old)
        *old = before;
    return 0;
}

EXPORT void (*signal(int signal, void (*handler)(int)))(int)
{
    struct sigaction *mine = programs_action(signal);
    if (!mine)
        return REAL(signal)(signal, handler);
    void (*before)(int) = mine->sa_handler;
    *mine = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
    return before;
}
