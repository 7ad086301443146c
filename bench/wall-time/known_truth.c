/* Programs that know how their wall time was spent: known_truth MODE. Each prints NAME NUMBER
 * lines.
 *
 *     beside    `alone` runs, then `left` and `right` at the same time: shares of the wall time in
 *               which any ran, by their own clocks
 *     openmp    two threads of OpenMP, of which one has three times the work of the other
 *     ready     works and sleeps in turn; how long it was ready without a CPU, by the kernel's
 * account stages    a pipeline: the first process works 3 parts of a round, the second 1 part
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Works for so much CPU time; returns it. */
#define WORK(name)                                               \
    __attribute__((noinline)) static double name(double seconds) \
    {                                                            \
        double from = now(CLOCK_THREAD_CPUTIME_ID), spent;       \
        do {                                                     \
            for (volatile int i = 0; i < 20000; i++)             \
                ;                                                \
            spent = now(CLOCK_THREAD_CPUTIME_ID) - from;         \
        } while (spent < seconds);                               \
        return spent;                                            \
    }
WORK(alone)
WORK(left)
WORK(right)
WORK(heavy)
WORK(light)

static pthread_barrier_t start;

static void *go_left(void *unused)
{
    pthread_barrier_wait(&start);
    left(0.3);
    return unused;
}

static void beside(void)
{
    pthread_t other;
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&other, NULL, go_left, NULL);
    alone(0.3);
    pthread_barrier_wait(&start);
    right(0.3);
    pthread_join(other, NULL);
    printf("alone 0.5\nleft 0.25\nright 0.25\n");
}

static void openmp(void)
{
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num())
                light(0.04);
            else
                heavy(0.12);
        }
    }
    printf("heavy %.6f\nlight %.6f\n", 10.0 / 12, 2.0 / 12); /* 4 / 2 + 8, and 4 / 2, of 12 */
}

static void ready(void)
{
    unsigned long long on, waited = 0;
    for (int i = 0; i < 150; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        left(0.001);
    }
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%llu %llu", &on, &waited) != 2)
        waited = 0;
    printf("ready %.6f\n", (double)waited / 1e9);
}

static void stages(void)
{
    int ends[2];
    char byte = 0;
    if (pipe(ends))
        exit(1);
    if (!fork()) {
        close(ends[1]);
        while (read(ends[0], &byte, 1) == 1)
            right(0.01);
        _exit(0);
    }
    close(ends[0]);
    for (int i = 0; i < 20; i++) {
        left(0.03);
        if (write(ends[1], &byte, 1) != 1)
            exit(1);
    }
    close(ends[1]);
    wait(NULL);
    printf("left %.6f\n",
           60.0 / 61); /* of the path: all rounds of the first, the last of the second */
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "beside"))
        beside();
    else if (!strcmp(mode, "openmp"))
        openmp();
    else if (!strcmp(mode, "ready"))
        ready();
    else if (!strcmp(mode, "stages"))
        stages();
    return 0;
}
