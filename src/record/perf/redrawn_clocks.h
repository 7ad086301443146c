/* Clocks whose period is drawn anew all the time, for threads that live long. redrawn_clocks.c has
 * the method.
 *
 * Two threads use them: the monitor opens and closes them, the reader weighs their samples and
 * draws. What both change is changed by who holds the reader's lock. */
#ifndef MONARC_RECORD_PERF_REDRAWN_CLOCKS_H
#define MONARC_RECORD_PERF_REDRAWN_CLOCKS_H

#include "base/map.h"
#include "base/vec.h"
#include "record/perf/perf_backlog.h"
#include "record/proc_threads.h"

#include <stdbool.h>

/* Of one thread on one CPU. */
struct redrawn_clock {
    int fd;       /* -1: not open */
    bool is_over; /* the thread is, or its program */
    uint32_t pid, tid, cpu;
    uint64_t id, from_ns;     /* since when it counts */
    struct proc_thread files; /* of the thread; and what they said */
    struct proc_times times;
    /* the reader's: */
    uint64_t period;    /* in force */
    uint64_t last_ns;   /* when the last sample was; 0: there was none */
    uint64_t before_ns; /* how long after it the period was drawn; 0: before it */
    bool is_due;        /* for another period */
};

/* All of a recording. The maps' values are indices of `clocks`, which only grow. */
struct redrawn_clocks {
    uint64_t nominal, random;
    uint32_t open, most_open;
    VEC(struct redrawn_clock) clocks; /* all that there were */
    VEC(uint32_t) due;
    struct map of_id, of_thread; /* id; tid and CPU -> index */
    struct map instead_of;       /* the inherited clock, by its number -> index */
    size_t checked;              /* clocks up to this one, this time */
    uint64_t checked_ns;
};

void redrawn_clocks_init(struct redrawn_clocks *c, uint64_t nominal);
void redrawn_clocks_deinit(struct redrawn_clocks *c);

/* A period between a quarter of the nominal one and seven quarters. */
uint64_t redrawn_clocks_draw(struct redrawn_clocks *c);

/* How many samples on one CPU wake the reader. */
uint32_t redrawn_clocks_wake(uint32_t rate, uint32_t cpus);

/* Puts a record from a buffer into the backlog; a sample of these clocks with its weight for its
 * period. */
void redrawn_clocks_add(struct redrawn_clocks *c, struct perf_backlog *q,
                        const struct perf_layout *l, struct bytes record);

/* Gives those that have ticked since then another period; the reader has had this CPU
 * since it was woken. */
void redrawn_clocks_redraw(struct redrawn_clocks *c, uint32_t cpu, uint64_t woken_ns,
                           uint64_t now_ns);

#endif
