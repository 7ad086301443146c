/* Calls that are counted exactly, in threads and in a child, beside times that are sampled. */
#include "truth.h"

#include <pthread.h>
#include <sys/wait.h>

enum { CALLS = 1000000, THREADS = 2 };

APART void counted(void)
{
    __asm__ volatile("");
}

APART void counted_twice(void)
{
    counted();
    counted();
}

TRUTH_WORK(heavy)
TRUTH_WORK(light)

static void *call(void *unused)
{
    for (int i = 0; i < CALLS; i++)
        counted_twice();
    return unused;
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, call, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    truth_say("calls", "counted_twice", (double)THREADS * CALLS);
    truth_say("calls", "counted", 2.0 * THREADS * CALLS);
    truth_self("heavy", heavy, 0.3);
    truth_self("light", light, 0.1);
    truth_end();
    return 0;
}
