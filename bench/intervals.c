/* intervals.c: programs that know the share of one function, `fa`, of their CPU time.
 *
 * Reading the clock of a thread is where the kernel sees that the thread's turn is over, so on a
 * busy machine that is where it leaves the CPU, after the clock was read. What leaving and coming
 * back takes is in the thread's CPU time, but not in the function that is called next. So a piece
 * begins at a reading that nothing came between.
 *
 * intervals KIND SHARE PERIOD_MS SECONDS runs for about so long and prints what share of its CPU
 * time was within fa(), by the clock of the threads that ran it, and the same without the time that
 * it was ready for a CPU. Work is done in pieces of a
 * calibrated length; clocks are read between pieces only. Kinds: periodic, random (lengths of
 * pieces drawn from exponential laws), nested, recursive, threads, forks, kernel, faults, io, waits
 * (the share is that of waiting, of all time). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static double read_s, turns_per_ms, share, period_ms, seconds;
static const char *kind;

struct known {
    double in_fa, all, ready_in_fa;
};

static double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Reads it until two readings follow each other at once. */
static double undisturbed_s(clockid_t clock)
{
    double before = clock_s(clock), now = clock_s(clock);
    for (int i = 0; now - before > 3 * read_s && i < 100; i++) {
        before = now;
        now = clock_s(clock);
    }
    return now;
}

/* A chain of multiplications takes as long wherever it stands; an empty loop has two speeds, and an
 * interrupt may change it over from one to the other. */
static inline __attribute__((always_inline)) void turn(double turns)
{
    uint64_t x = 1;
    for (uint64_t i = 0; i < (uint64_t)turns; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

static APART void kernel_work(double ms)
{
    static char bytes[1 << 16];
    int fd = open("/dev/urandom", O_RDONLY);
    for (double end = clock_s(CLOCK_THREAD_CPUTIME_ID) + ms / 1e3;
         clock_s(CLOCK_THREAD_CPUTIME_ID) < end;)
        (void)!read(fd, bytes, 1 << 13);
    close(fd);
}

static APART void fault_work(double ms)
{
    enum { BYTES = 1 << 20 };
    for (double end = clock_s(CLOCK_THREAD_CPUTIME_ID) + ms / 1e3;
         clock_s(CLOCK_THREAD_CPUTIME_ID) < end;) {
        char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; at != MAP_FAILED && i < BYTES; i += 4096)
            ((volatile char *)at)[i] = 1;
        munmap(at, BYTES);
    }
}

static APART void inner(double ms)
{
    turn(ms * turns_per_ms);
    __asm__ volatile("");
}

static APART void deeper(int depth, double ms)
{
    if (depth)
        deeper(depth - 1, ms / 2);
    turn((depth ? ms / 2 : ms) * turns_per_ms);
    __asm__ volatile("");
}

APART void fa(double ms)
{
    if (!strcmp(kind, "kernel"))
        kernel_work(ms);
    else if (!strcmp(kind, "faults"))
        fault_work(ms);
    else if (!strcmp(kind, "waits"))
        usleep((useconds_t)(ms * 1000));
    else if (!strcmp(kind, "nested"))
        turn(ms / 2 * turns_per_ms), inner(ms / 2);
    else if (!strcmp(kind, "recursive"))
        deeper(5, ms);
    else
        turn(ms * turns_per_ms);
    __asm__ volatile("");
}

APART void fb(double ms)
{
    turn(ms * turns_per_ms);
    __asm__ volatile("");
}

static double drawn(double mean, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return -log(((double)(*state >> 11) + 1) * 0x1p-53) * mean;
}

/* For how long the thread has been ready for a CPU so far, and all CPUs were taken. */
static double ready_s(void)
{
    unsigned long long ran, ready = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    if (!f || fscanf(f, "%llu %llu", &ran, &ready) != 2)
        ready = 0;
    if (f)
        fclose(f);
    return (double)ready * 1e-9;
}

static struct known work(void)
{
    struct known k = {0};
    uint64_t state;
    (void)!getrandom(&state, sizeof state, 0);
    int is_random = !strcmp(kind, "random"), is_io = !strcmp(kind, "io");
    int is_wait = !strcmp(kind, "waits");
    clockid_t clock = is_wait ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    double begin = clock_s(clock), at = begin;
    while (at - begin < seconds) {
        double a = share * period_ms, b = (1 - share) * period_ms;
        double ready = is_wait ? ready_s() : 0;
        at = undisturbed_s(clock);
        fa(is_random ? drawn(a, &state) : a);
        double between = clock_s(clock);
        k.in_fa += between - at - read_s;
        k.ready_in_fa += is_wait ? ready_s() - ready : 0;
        fb(is_random ? drawn(b, &state) : b);
        if (is_io)
            usleep(500);
        at = clock_s(clock);
    }
    k.all = at - begin;
    return k;
}

static void *work_thread(void *out)
{
    *(struct known *)out = work();
    return NULL;
}

static struct known work_in_threads(int threads)
{
    pthread_t thread[8];
    struct known each[8], sum = {0};
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work_thread, &each[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum.in_fa += each[i].in_fa;
    }
    return sum;
}

static struct known work_in_children(int children)
{
    struct known sum = {0}, one;
    int ends[2];
    if (pipe(ends))
        exit(2);
    for (int i = 0; i < children; i++)
        if (!fork()) {
            one = work();
            _exit(write(ends[1], &one, sizeof one) != sizeof one);
        }
    for (int i = 0; i < children && read(ends[0], &one, sizeof one) == sizeof one; i++)
        sum.in_fa += one.in_fa;
    while (wait(NULL) > 0)
        ;
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    kind = argv[1];
    share = atof(argv[2]), period_ms = atof(argv[3]), seconds = atof(argv[4]);
    double least = 1;
    read_s = 1;
    for (int i = 0; i < 1000; i++) {
        double before = clock_s(CLOCK_THREAD_CPUTIME_ID);
        double took = clock_s(CLOCK_THREAD_CPUTIME_ID) - before;
        read_s = took < read_s ? took : read_s;
    }
    for (int i = 0; i < 5; i++) {
        double begin = clock_s(CLOCK_THREAD_CPUTIME_ID);
        turn(500000);
        double took = clock_s(CLOCK_THREAD_CPUTIME_ID) - begin;
        least = took < least ? took : least;
    }
    turns_per_ms = 500000 / least / 1000;
    /* On the CPU, or ready for it: it has not waited for anything yet. */
    double lived = clock_s(CLOCK_PROCESS_CPUTIME_ID) + ready_s(), begin = clock_s(CLOCK_MONOTONIC);
    struct known k;
    if (!strncmp(kind, "threads", 7))
        seconds /= atoi(kind + 7), k = work_in_threads(atoi(kind + 7));
    else if (!strncmp(kind, "forks", 5))
        seconds /= atoi(kind + 5), k = work_in_children(atoi(kind + 5));
    else
        k = work();
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    double all = 0;
    struct timeval used[] = {own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime};
    for (int i = 0; i < 4; i++)
        all += (double)used[i].tv_sec + (double)used[i].tv_usec * 1e-6;
    if (!strcmp(kind, "waits"))
        all = lived + clock_s(CLOCK_MONOTONIC) - begin;
    printf("%.6f %.6f\n", k.in_fa / all, (k.in_fa - k.ready_in_fa) / all);
}
