/* What a clock of samples may keep step with: a loop of exactly a millisecond of CPU time, threads
 * that each do one thing first and another after it, and stacks that are built again elsewhere. */
#include "truth.h"

#include <pthread.h>

TRUTH_WORK(quarter)
TRUTH_WORK(rest)
TRUTH_WORK(early)
TRUTH_WORK(late)

enum { STEPS = 3000 };

static double until(void (*work)(unsigned), double end)
{
    double start = truth_thread_s(), now;
    do {
        work(STEPS);
        now = truth_thread_s();
    } while (now < end);
    return now - start;
}

/* A quarter of each millisecond, by the thread's own clock, so that nothing disturbs the step. */
static void in_step(double seconds)
{
    double next = truth_thread_s(), end = next + seconds, first = 0, second = 0;
    for (; next < end; next += 0.001) {
        first += until(quarter, next + 0.00025);
        second += until(rest, next + 0.001);
    }
    truth_say("self", "quarter", first);
    truth_say("self", "rest", second);
}

static void *live_shortly(void *spent)
{
    double *s = spent;
    double start = truth_thread_s();
    s[0] += until(early, start + 0.0002);
    s[1] += until(late, start + 0.0004);
    return NULL;
}

static void moments(int threads)
{
    double spent[2] = {0};
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, live_shortly, spent);
        pthread_join(thread, NULL);
    }
    truth_say("self", "early", spent[0]);
    truth_say("self", "late", spent[1]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "moments"))
        moments(3000);
    else
        in_step(1.5);
    truth_end();
    return 0;
}
