/* calls KIND MILLIONS THREADS: prints nanoseconds of CPU time per call and thread.
 *   fib      recursion, three arcs
 *   direct   256 callees from 256 sites
 *   indirect 256 callees from one site */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

NOINLINE long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

#define LEAF(n)                  \
    NOINLINE void leaf_##n(void) \
    {                            \
        __asm__ volatile("");    \
    }
#define FOUR(m, n)    m(n##0) m(n##1) m(n##2) m(n##3)
#define SIXTEEN(m, n) FOUR(m, n##0) FOUR(m, n##1) FOUR(m, n##2) FOUR(m, n##3)
#define MANY(m, n)    SIXTEEN(m, n##0) SIXTEEN(m, n##1) SIXTEEN(m, n##2) SIXTEEN(m, n##3)
#define ALL(m)        MANY(m, 0) MANY(m, 1) MANY(m, 2) MANY(m, 3)

ALL(LEAF)

#define NAME(n) leaf_##n,
static void (*const leaves[256])(void) = {ALL(NAME)};

#define CALL(n) leaf_##n();
NOINLINE void direct(void){ALL(CALL)}

NOINLINE void indirect(void)
{
    for (int i = 0; i < 256; i++)
        leaves[i]();
}

static const char *kind;
static long millions;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double run(void)
{
    long calls = millions * 1000000;
    double start = now();
    if (strcmp(kind, "fib") == 0) {
        for (long i = 0; i < calls / 242785; i++)
            sink = fib(25); /* 242,785 calls */
        calls = calls / 242785 * 242785;
    } else {
        void (*f)(void) = strcmp(kind, "direct") == 0 ? direct : indirect;
        for (long i = 0; i < calls / 256; i++)
            f();
    }
    return (now() - start) / (double)calls;
}

static void *thread(void *number)
{
    static double results[64];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((int)(long)number % (int)sysconf(_SC_NPROCESSORS_ONLN), &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    results[(long)number] = run();
    return &results[(long)number];
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    kind = argv[1];
    millions = atol(argv[2]);
    long threads = atol(argv[3]);
    if (threads < 2) {
        printf("%.4f\n", run());
        return 0;
    }
    pthread_t id[64];
    double sum = 0;
    for (long i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, thread, (void *)i);
    for (long i = 0; i < threads; i++) {
        void *result;
        pthread_join(id[i], &result);
        sum += *(double *)result;
    }
    printf("%.4f\n", sum / (double)threads);
    return 0;
}
