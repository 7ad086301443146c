/* calls KIND MILLIONS THREADS: prints nanoseconds of CPU time per call, the median of 64 batches,
 * and in how many of them all threads had a processor for themselves; if there are such, only they
 * count. fib      recursion, three arcs direct   256 callees from 256 sites indirect 256 callees
 * from one site */
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

#define BATCHES 64
#define THREADS 64

/* One batch of about `calls` calls; returns how many they were. */
static long batch(long calls)
{
    if (strcmp(kind, "fib") == 0) {
        long each = 21891; /* calls of fib(20) */
        for (long i = 0; i < calls / each; i++)
            sink = fib(20);
        return calls / each * each;
    }
    void (*f)(void) = strcmp(kind, "direct") == 0 ? direct : indirect;
    for (long i = 0; i < calls / 256; i++)
        f();
    return calls / 256 * 256;
}

static struct measure {
    double ns;     /* per call */
    int undivided; /* the thread had its processor for itself all the while */
} results[THREADS][BATCHES];
static long threads;
static volatile long arrived;

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Batches that all threads begin together: in those that nobody interrupts they are at it at once.
 */
static void *thread(void *number)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((int)(long)number % (int)sysconf(_SC_NPROCESSORS_ONLN), &one);
    if (threads > 1)
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    for (long i = 0; i < BATCHES; i++) {
        __sync_fetch_and_add(&arrived, 1);
        while (arrived < threads * (i + 1))
            ;
        double cpu = now(), start = wall();
        long calls = batch(millions * 1000000 / BATCHES);
        cpu = now() - cpu;
        results[(long)number][i] =
            (struct measure){cpu / (double)calls, wall() - start < 1.03 * cpu};
    }
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The median over the batches in which no thread was interrupted; of all, if there were none. */
static double median(int *undivided)
{
    double times[BATCHES];
    int n = 0;
    for (int need = 1; need >= 0 && n == 0; need--)
        for (int i = 0; i < BATCHES; i++) {
            double sum = 0;
            int all = 1;
            for (long t = 0; t < threads; t++) {
                sum += results[t][i].ns;
                all &= results[t][i].undivided;
            }
            if (all >= need)
                times[n++] = sum / (double)threads;
            *undivided += all * need;
        }
    qsort(times, (size_t)n, sizeof *times, ascending);
    return times[n / 2];
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    kind = argv[1];
    millions = atol(argv[2]);
    threads = atol(argv[3]);
    threads = threads < 1 ? 1 : threads > THREADS ? THREADS : threads;
    pthread_t id[THREADS];
    for (long i = 1; i < threads; i++)
        pthread_create(&id[i], NULL, thread, (void *)i);
    thread(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(id[i], NULL);
    int undivided = 0;
    double ns = median(&undivided);
    printf("%.4f %d\n", ns, undivided);
    return 0;
}
