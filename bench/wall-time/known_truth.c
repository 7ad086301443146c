/* Programs that know how their wall time was spent: known_truth MODE. Each prints NAME NUMBER
 * lines.
 *
 *     beside    `alone` runs, then `left` and `right` at the same time: shares of the wall time in
 *               which any ran, by their own clocks
 *     openmp    two threads of OpenMP, of which one has three times the work of the other
 *     ready     works and sleeps in turn; how long it was ready without a CPU, by the account of
 *               the kernel
 *     stages    a pipeline: the first process works 3 parts of a round, the second 1 part
 *     alone, joined  what is saved if `left` is four times as fast: of a thread, or of two
 *     syncs     FOLDER: writes to a file there; what it waits in fsync, by its own clock, without
 *               CPU time and without waiting for a CPU
 *     piped     waits for bytes of another process, which sleeps before each
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
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

/* When a thread was on a CPU: pieces of some 20 us, of which it may have been pushed off for a
 * part. That is taken to be at the end of the piece. */
enum { MOST_PIECES = 1 << 17, WORKERS = 2 };
struct piece {
    double from, to;
};
static struct work {
    const char *name;
    struct piece pieces[MOST_PIECES];
    int len;
} works[WORKERS + 1];

static double work(struct work *w, const char *name, double seconds)
{
    double begin = now(CLOCK_THREAD_CPUTIME_ID), at = begin, from = now(CLOCK_MONOTONIC);
    w->name = name;
    do {
        for (volatile int i = 0; i < 20000; i++)
            ;
        double to = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
        bool is_whole = to - from < 1.05 * (cpu - at);
        if (w->len < MOST_PIECES)
            w->pieces[w->len++] = (struct piece){from, is_whole ? to : from + (cpu - at)};
        from = to;
        at = cpu;
    } while (at - begin < seconds);
    return at - begin;
}

/* Works for so much CPU time; returns it. */
#define WORK(name, of)                                           \
    __attribute__((noinline)) static double name(double seconds) \
    {                                                            \
        double spent = work(&works[of], #name, seconds);         \
        __asm__ volatile("");                                    \
        return spent;                                            \
    }
WORK(alone, 2)
WORK(left, 0)
WORK(right, 1)
WORK(heavy, 0)
WORK(light, 1)

/* The same, in a function that calls none for it, and without notes. */
#define SPIN(name)                                             \
    __attribute__((noinline)) static void name(double seconds) \
    {                                                          \
        double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;   \
        do                                                     \
            for (volatile int i = 0; i < 20000; i++)           \
                ;                                              \
        while (now(CLOCK_THREAD_CPUTIME_ID) < end);            \
    }
SPIN(first)
SPIN(second)

/* How long `w` was on a CPU, each moment divided by how many were. The others' pieces are in the
 * order of time, too. */
static double latency_of(const struct work *w)
{
    double sum = 0;
    for (int i = 0; i < w->len; i++)
        sum += w->pieces[i].to - w->pieces[i].from;
    for (const struct work *other = works; other <= &works[WORKERS]; other++)
        for (int i = 0, k = 0; other != w && i < w->len && k < other->len;) {
            const struct piece *a = &w->pieces[i], *b = &other->pieces[k];
            double from = a->from > b->from ? a->from : b->from, to = a->to < b->to ? a->to : b->to;
            sum -= to > from ? (to - from) / 2 : 0;
            a->to < b->to ? i++ : k++;
        }
    return sum;
}

static void tell_latency(void)
{
    double all = 0;
    for (int i = 0; i <= WORKERS; i++)
        all += latency_of(&works[i]);
    for (int i = 0; i <= WORKERS; i++)
        if (works[i].len)
            printf("%s %.6f\n", works[i].name, latency_of(&works[i]) / all);
}

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
    tell_latency();
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
    tell_latency(); /* 4 / 2 + 8, and 4 / 2, of 12 */
}

/* Off a CPU, though ready: by the kernel's account of this thread. */
static double ready_so_far(void)
{
    unsigned long long on, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file || fscanf(file, "%llu %llu", &on, &waited) != 2)
        exit(1);
    fclose(file);
    return (double)waited / 1e9;
}

static void ready(void)
{
    for (int i = 0; i < 150; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        left(0.001);
    }
    printf("ready %.6f\n", ready_so_far());
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
            second(0.01);
        _exit(0);
    }
    close(ends[0]);
    for (int i = 0; i < 20; i++) {
        first(0.03);
        if (write(ends[1], &byte, 1) != 1)
            exit(1);
    }
    close(ends[1]);
    wait(NULL);
    printf("first %.6f\n",
           60.0 / 61); /* of the path: all rounds of the first, the last of the second */
}

/* What `left` four times as fast saves, alone and where another thread is joined as well. */
static void one_thread(void)
{
    double spent = 0;
    for (int i = 0; i < 20; i++) {
        spent += left(0.015);
        right(0.005);
    }
    printf("saved %.6f\n", spent * 3 / 4);
}

static double left_spent, left_end, right_end;

static void *only_left(void *unused)
{
    left_spent = left(0.3);
    left_end = now(CLOCK_MONOTONIC);
    return unused;
}

static void *only_right(void *unused)
{
    right(0.2);
    right_end = now(CLOCK_MONOTONIC);
    return unused;
}

static void two_threads(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, only_left, NULL);
    pthread_create(&other, NULL, only_right, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    double sooner = left_end - left_spent * 3 / 4, end = sooner > right_end ? sooner : right_end;
    printf("saved %.6f\n", left_end > right_end ? left_end - end : 0);
}

static void syncs(const char *folder)
{
    enum { BYTES = 32 << 20 };
    char path[4096], *bytes = calloc(1, BYTES);
    double waited = 0;
    snprintf(path, sizeof path, "%s/synced", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 5; i++) {
        if (pwrite(fd, bytes, BYTES, 0) != BYTES)
            exit(1);
        double before = ready_so_far() + now(CLOCK_THREAD_CPUTIME_ID);
        double from = now(CLOCK_MONOTONIC);
        if (fsync(fd))
            exit(1);
        waited += now(CLOCK_MONOTONIC) - from;
        waited -= ready_so_far() + now(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    free(bytes);
    printf("fsync %.6f\n", waited);
}

static void piped(void)
{
    int ends[2];
    char byte = 0;
    double waited = 0;
    if (pipe(ends))
        exit(1);
    if (!fork()) {
        for (int i = 0; i < 30; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
            if (write(ends[1], &byte, 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    for (int i = 0; i < 30; i++) {
        double from = now(CLOCK_MONOTONIC);
        if (read(ends[0], &byte, 1) != 1)
            exit(1);
        waited += now(CLOCK_MONOTONIC) - from;
    }
    wait(NULL);
    printf("pipe %.6f\n", waited);
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
    else if (!strcmp(mode, "alone"))
        one_thread();
    else if (!strcmp(mode, "joined"))
        two_threads();
    else if (!strcmp(mode, "syncs") && argc > 2)
        syncs(argv[2]);
    else if (!strcmp(mode, "piped"))
        piped();
    return 0;
}
