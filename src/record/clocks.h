/* The clocks of a recording, in nanoseconds.
 *
 * Events have times in CLOCK_MONOTONIC, which perf events are set to as well; CPU time is in the
 * thread's own clock, dates in CLOCK_REALTIME. None of the calls can fail with these clocks. */
#ifndef MONARC_RECORD_CLOCKS_H
#define MONARC_RECORD_CLOCKS_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* CLOCK_MONOTONIC: what all times of events are in. */
static inline uint64_t clock_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* A time of struct rusage. */
static inline uint64_t clock_of_usage(struct timeval t)
{
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_usec * 1000;
}

/* CPU time of the calling thread. */
static inline uint64_t clock_own_cpu(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
