/* lockstep PERIOD_US SECONDS THREADS: each thread spends the first 30 % of each period of its CPU
 * clock in fa(), the rest in fb(), in step with that clock for as long as it runs. Prints the share
 * that fa() had of both. */
#include "counting.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static double period_s, seconds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Some 10 us without a system call: those are not sampled. */
static inline __attribute__((always_inline)) void turn(void)
{
    uint64_t x = 1;
    for (int i = 0; i < 8000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

NOINLINE void fa(double until)
{
    while (now() < until)
        turn();
    sink++;
}

NOINLINE void fb(double until)
{
    while (now() < until)
        turn();
    sink++;
}

NOINLINE void *work(void *share)
{
    double in_fa = 0, begun = now(), at = begun;
    while (at < begun + seconds) {
        double next = ((double)(uint64_t)(at / period_s) + 1) * period_s;
        fa(next - 0.7 * period_s);
        double between = now();
        in_fa += between - at;
        fb(next);
        at = now();
    }
    *(double *)share = in_fa / (at - begun);
    return share;
}

int main(int argc, char **argv)
{
    pthread_t id[16];
    double shares[16], sum = 0;
    period_s = argc > 1 ? atof(argv[1]) / 1e6 : 1e-3;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    int n = argc > 3 ? atoi(argv[3]) : 1;
    for (int i = 1; i < n; i++)
        pthread_create(&id[i], NULL, work, &shares[i]);
    work(&shares[0]);
    for (int i = 1; i < n; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < n; i++)
        sum += shares[i] / n;
    printf("%.4f\n", sum);
    return 0;
}
