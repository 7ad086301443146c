/* Stacks that are not where a thread's stack is: coroutines by swapcontext, a handler on an
 * alternate stack. */
#include "truth.h"

#include <signal.h>
#include <ucontext.h>

TRUTH_WORK(in_coroutine)
TRUTH_WORK(in_main)
TRUTH_WORK(in_handler)

enum { STACK_BYTES = 128 << 10, ROUNDS = 20 };

static ucontext_t main_context, coroutine_context;
static double coroutine_s;

static APART void coroutine(void)
{
    for (;;) {
        coroutine_s += truth_spend(in_coroutine, 0.015);
        swapcontext(&coroutine_context, &main_context);
    }
}

static void coroutines(void)
{
    static char stack[STACK_BYTES];
    volatile double s = 0; /* getcontext returns twice, as far as the compiler knows */
    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = sizeof stack;
    makecontext(&coroutine_context, coroutine, 0);
    for (int i = 0; i < ROUNDS; i++) {
        s += truth_spend(in_main, 0.005);
        swapcontext(&main_context, &coroutine_context);
    }
    truth_say("self", "in_main", s);
    truth_say("self", "in_coroutine", coroutine_s);
    truth_say("total", "coroutine", coroutine_s);
}

static double handler_s;

static void handler(int number)
{
    handler_s += truth_spend(in_handler, 0.015);
    (void)number;
}

/* The frames that the signal interrupted are callers of the handler, too. */
static APART void interrupted(void)
{
    raise(SIGUSR1);
    __asm__ volatile("");
}

static void handlers(void)
{
    static char stack[STACK_BYTES];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    double s = 0;
    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        s += truth_spend(in_main, 0.005);
        interrupted();
    }
    truth_say("self", "in_main", s);
    truth_say("self", "in_handler", handler_s);
    truth_say("total", "handler", handler_s);
    truth_say("total", "interrupted", handler_s);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "handler"))
        handlers();
    else
        coroutines();
    truth_end();
    return 0;
}
