/* truth.h: how a program says what is true of itself.
 *
 * Every process of a program appends lines `KIND NAME VALUE` to the file that $TRUTH names
 * (standard output without it); lines with the same kind and name are added up by who reads them.
 * Amounts are seconds, measured by the kernel's clock of the thread that worked, or counts.
 *
 *   self NAME S     CPU time within the function itself, what the kernel did for it not included
 *   total NAME S    the same with all that it called
 *   path A;B;C S    the same with this stack, outermost first, other frames between left out
 *   kernel NAME S   CPU time within the kernel for a call of this name; `any` if it has none
 *   calls NAME N    how often the function was called
 *   wait NAME S     how long a call of this name kept a thread off the CPU
 *   cpu - S         CPU time of the process and of the children that it has waited for
 *   error - S       how far these may be off: what reading the clocks took
 *
 * Nothing here starts threads, handles signals or allocates. */
#ifndef TRUTH_H
#define TRUTH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__) && !defined(__clang__)
#define APART __attribute__((noinline, noclone))
#else
#define APART __attribute__((noinline))
#endif
#define TRUTH_UNUSED __attribute__((unused))

/* A piece of work is a third of a millisecond or so: long against reading a clock. */
enum { TRUTH_PIECE = 200000 };

static unsigned truth_clock_reads;
static int truth_file = -1;

static double truth_clock_s(clockid_t clock)
{
    struct timespec t;
    __atomic_add_fetch(&truth_clock_reads, 1, __ATOMIC_RELAXED);
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static TRUTH_UNUSED double truth_thread_s(void)
{
    return truth_clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static TRUTH_UNUSED double truth_wall_s(void)
{
    return truth_clock_s(CLOCK_MONOTONIC);
}

/* Programs that give up their rights or descriptors call it first. */
static TRUTH_UNUSED void truth_open(void)
{
    const char *path = getenv("TRUTH");
    if (truth_file < 0)
        truth_file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : 1;
}

static TRUTH_UNUSED void truth_say(const char *kind, const char *name, double value)
{
    char line[256];
    truth_open();
    int length = snprintf(line, sizeof line, "%s %s %.9f\n", kind, name, value);
    if (write(truth_file, line, (size_t)length) != length)
        _exit(99);
}

static double truth_used_s(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* The last thing that a process says: its CPU time, and what measuring took of it. */
static TRUTH_UNUSED void truth_end(void)
{
    enum { READS = 1000 };
    unsigned reads = truth_clock_reads;
    double start = truth_thread_s();
    for (int i = 0; i < READS; i++)
        truth_thread_s();
    double each_s = (truth_thread_s() - start) / READS;
    truth_say("error", "-", each_s * (reads + READS));
    truth_say("cpu", "-", truth_used_s(RUSAGE_SELF) + truth_used_s(RUSAGE_CHILDREN));
}

/* A function that works: a chain of multiplications that no compiler shortens. Its name is in its
 * code, so that no two of them are folded into one. */
#define TRUTH_WORK(name)                                                           \
    APART void name(unsigned steps)                                                \
    {                                                                              \
        uint64_t x = steps | 1u;                                                   \
        for (unsigned i = 0; i < steps; i++) {                                     \
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); \
            __asm__ volatile("# " #name : "+r"(x));                                \
        }                                                                          \
    }

/* Calls `work` until the thread has used that much CPU time; returns how much it was. */
static TRUTH_UNUSED double truth_spend(void (*work)(unsigned), double seconds)
{
    double start = truth_thread_s(), now;
    do {
        work(TRUTH_PIECE);
        now = truth_thread_s();
    } while (now - start < seconds);
    return now - start;
}

/* The same, said as the function's own time. */
static TRUTH_UNUSED void truth_self(const char *name, void (*work)(unsigned), double seconds)
{
    truth_say("self", name, truth_spend(work, seconds));
}

#endif
