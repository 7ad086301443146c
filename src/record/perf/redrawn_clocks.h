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

#include <stdbool.h>

struct perf_source;

/* Of one thread on one CPU. */
struct redrawn_clock {
    int fd;       /* -1: not open */
    bool is_over; /* the thread is, or its program */
    uint32_t tid;
    uint64_t id, from_ns; /* since when it counts */
    /* the reader's: */
    uint64_t period, count; /* how long the thread had run at the last sample */
    bool is_fresh;          /* the period was drawn since then */
    bool is_due;            /* for another */
};

struct redrawn_clocks {
    uint64_t nominal, random;
    bool user_only;
    uint32_t open, most_open;
    VEC(struct redrawn_clock) clocks; /* all that there were */
    VEC(uint32_t) due;
    struct map of_id, of_thread; /* id; tid and CPU -> index */
};

void redrawn_clocks_init(struct redrawn_clocks *c, uint64_t nominal, bool user_only);
void redrawn_clocks_deinit(struct redrawn_clocks *c);

/* A period between a quarter of the nominal one and seven quarters. */
uint64_t redrawn_clocks_draw(struct redrawn_clocks *c);

/* How many samples on one CPU wake the reader. */
uint32_t redrawn_clocks_wake(uint32_t rate, uint32_t cpus);

/* Puts a record from a buffer into the backlog: a sample of these clocks without the field that
 * others do not have, and its weight for its period. */
void redrawn_clocks_add(struct redrawn_clocks *c, struct perf_backlog *q,
                        const struct perf_layout *l, struct bytes record);

/* Gives those that have ticked since then another period. */
void redrawn_clocks_redraw(struct redrawn_clocks *c);

/* Whether a sample counts, of a thread whose inherited clocks have ticked so often before; *is_own:
 * its period is its weight. Opens a clock when it is time. */
bool redrawn_clocks_admit(struct perf_source *s, const struct perf_record *r, uint32_t ticks,
                          bool *is_own);

/* The thread has ended, or executed a program, which may have its number from another thread. */
void redrawn_clocks_end(struct perf_source *s, uint32_t tid);

#endif
