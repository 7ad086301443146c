/* Time off the CPU: where each thread waited, in which call, and how long.
 *
 * How long is exact: the source says when a thread leaves the CPU and when it is back, and whether
 * it could have run on. Where comes in one of two ways. A source that sees a thread's registers as
 * it leaves says so with waits_leaving(). Without that, threads that have been off for some
 * milliseconds are inspected from outside, through /proc and by reading their memory; nothing wakes
 * or stops them. A look counts for a wait only if it began after the thread had left and ended
 * before it was back, by the source's own times. Waits too short to inspect, or that may not be
 * inspected, have their length and an unknown place: they are never added to others.
 *
 * The sum of what is counted for a thread and its CPU time is its life: by perf's clock, which like
 * the switches leaves out what switching takes; the kernel's accounting has it, some 10 us each, in
 * the CPU time. Waiting includes what a
 * thread that was woken waits for a CPU; RECORDING_WAIT_READY is the time of threads that were
 * pushed off the CPU or gave it away, or that are new.
 *
 * What is kept is bounded by the number of threads that live at a time. Times are CLOCK_MONOTONIC
 * in ns. A thread's end is reported here before it is reported to the collector. */
#ifndef MONARC_RECORD_WAITS_WAITS_H
#define MONARC_RECORD_WAITS_WAITS_H

#include "record/collector.h"

struct waits;

struct waits_options {
    uint32_t event; /* of the collector, in ns */
    const struct arch *arch;
    uint64_t look_after_ns; /* 0: 2 ms */
    bool no_looking;        /* the threads must not be inspected */
    struct labels *labels;  /* what threads publish; NULL: nothing */
};

struct waits *waits_new(struct collector *c, const struct waits_options *o);
void waits_free(struct waits *w);

/* A new thread or process, which does not run yet. Not needed for threads that are seen first in
 * waits_switch(): their life begins there. */
void waits_fork(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns);

/* A thread that was there before recording: it runs if it is seen leaving the CPU before it is seen
 * coming back, and waits since at_ns if not. A look at it may show that it does. */
void waits_found(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns);

/* The process goes on as one thread of its own number, which runs. */
void waits_exec(struct waits *w, pid_t pid, uint64_t at_ns);
void waits_exit(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns);

/* The thread is about to leave the CPU at this place: before its waits_switch(). */
void waits_leaving(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns,
                   const struct unwind_registers *registers, struct bytes stack);

/* The thread leaves the CPU, though it could run on (is_ready) or to wait, or it is back. */
void waits_switch(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns, bool is_out,
                  bool is_ready);

/* A thread is woken: before its waits_switch(). */
void waits_woken(struct waits *w, pid_t tid, const struct collector_wake *wake);

/* A sample of a thread that ran: a thread that waits for it may need its place, and it may be in a
 * call that reads or writes. */
void waits_ran(struct waits *w, const struct collector_sample *s, struct collector_place place);

/* For sources without records of switches, instead of the three above: what a thread's clock in
 * /proc shows, again and again, and at its end. A wait that is seen going on is inspected; it has
 * that place, and others, which began and ended unseen, have none. */
struct waits_clock {
    uint64_t cpu_ns, ready_ns; /* on a CPU; could run, but no CPU was free */
    uint64_t runs;             /* times that it came to a CPU; 0: not known */
    bool is_running;           /* it ran, or could, just before these were read */
    bool is_ending;            /* it waits no more, and its account is closed */
    uint64_t waits;            /* times that it left a CPU to wait, and one; 0: not known */
    uint64_t held_ns;          /* stopped by the source: no time of its own */
};
void waits_observe(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns,
                   const struct waits_clock *clock);

/* Some of the above was lost before this time: what threads do is not known until they are seen
 * again, and the time until then is counted as lost. */
void waits_lost(struct waits *w, uint64_t at_ns);

/* Looks at threads that are off the CPU, and counts the waits that go on, up to `told_ns`: the time
 * until which everything was reported. Returns the nanoseconds until the next call. */
uint64_t waits_poll(struct waits *w, uint64_t now_ns, uint64_t told_ns);

/* Counts everything up to now. Everything was reported but the ends of threads that are gone by
 * now, so that their last waits have no length. */
void waits_finish(struct waits *w, uint64_t now_ns);

/* What was counted, all threads together. */
struct waits_sums {
    uint64_t ready_ns, placed_ns, unknown_ns; /* unknown: waits without a place */
    uint64_t delayed_ns;                      /* of the latter two: woken, but no CPU was free */
    uint64_t lost_ns;
    uint64_t unlooked, unlooked_ns; /* of unknown_ns: waits that were long enough for a look */
    uint64_t looks, stale_looks;    /* stale: the thread was back before its end */
};
struct waits_sums waits_sums(const struct waits *w);

#endif
