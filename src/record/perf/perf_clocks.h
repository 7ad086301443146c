/* Sampling clocks whose periods are drawn at random: those that every thread inherits, and those
 * that are redrawn all the time, for threads that live long. */
#ifndef MONARC_RECORD_PERF_PERF_CLOCKS_H
#define MONARC_RECORD_PERF_PERF_CLOCKS_H

#include "base/map.h"
#include "base/vec.h"
#include "record/perf/perf_record.h"
#include "record/proc_threads.h"

#include <stdatomic.h>
#include <stdbool.h>

/* --- inherited clocks: periods.c ------------------------------------------------------------- */

/* Periods of sampling clocks, drawn at random, and what each sample of such a clock weighs.
 *
 * The kernel makes a clock for each new thread on each CPU, with the period that the parent event
 * has at that moment, and that clock keeps it: its samples come at ages p, 2p, 3p ... A period of
 * its own for each clock does two things. No two clocks keep step with the same rhythm of the
 * program, and where the first sample of a thread falls is up to chance, so that each moment of a
 * thread can be met, the first ones as well. periods.c has the method. */

/* What periods are drawn from. The kind is in the period's lowest bits, so that a sample has it.
 */
enum period_kind {
    PERIOD_FIXED,    /* not drawn: the nominal one */
    PERIOD_LONG,     /* [P / 2, 3 P / 2]: for a thread that is likely to live long */
    PERIOD_MIXED,    /* [P / 4, 2 P]: for others */
    PERIOD_SHORTEST, /* [P / 25, 2 P]: where short threads have a good part of the time */
    PERIOD_KINDS
};

struct period_clock {
    uint64_t period;
    uint32_t samples;
};

struct periods {
    uint64_t nominal;                /* P */
    uint64_t state;                  /* of the generator */
    _Atomic uint32_t kind;           /* of the next draws */
    double first_periods, later;     /* recent weights of samples, by the age of their clocks */
    uint64_t aged;                   /* clocks that have been seen to get old */
    uint64_t newest, forgotten;      /* clocks: the newest seen; up to this number they are old */
    struct map clock_of;             /* number -> index */
    VEC(struct period_clock) clocks; /* of the others */
};

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed);
void periods_deinit(struct periods *p);

/* The period of the clocks that are made next. Safe beside periods_weigh() in another thread. */
uint64_t periods_draw(struct periods *p, enum period_kind kind);

/* For threads to come, by what periods_weigh() saw of earlier ones. */
uint64_t periods_draw_next(struct periods *p);

/* A thread has begun: should many be too short for any sample, the next are drawn shorter. */
void periods_begun(struct periods *p);

/* The same for a copy of a redrawn clock, which has the period that that had at the moment. */
uint64_t periods_weigh_copy(struct periods *p, uint64_t clock, uint64_t period,
                            bool *is_first_period);

/* The weight of the next sample of a clock. Clocks are numbered as they are made, all their lives;
 * one that is given another period begins anew. 0: the sample is to be left out. *is_first_period:
 * the weight is right on average only. */
uint64_t periods_weigh(struct periods *p, uint64_t clock, uint64_t period, bool *is_first_period);

/* --- redrawn clocks: redrawn_clocks.c -------------------------------------------------------- */

/* Clocks whose period is drawn anew all the time, for threads that live long. redrawn_clocks.c has
 * the method.
 *
 * Two threads use them: the monitor opens and closes them, the reader weighs their samples and
 * draws. What both change is changed by who holds the reader's lock. */

/* Of one thread on one CPU. */
struct redrawn_clock {
    int fd;       /* -1: not open */
    bool is_over; /* the thread is, or its program */
    uint32_t pid, tid, cpu;
    bool has_copies;          /* something may have inherited it */
    uint64_t id, from_ns;     /* since when it counts; UINT64_MAX: not for now */
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
    size_t checked;              /* clocks up to this one, this time */
    uint64_t checked_ns;
};

/* Whether inherited clocks are off: inherited_clocks.c. */
struct inherited_owner {
    uint32_t pid, tid;
};

struct inherited_clocks {
    /* With the reader's lock held: */
    bool is_off, is_wanted; /* on again, for another reason than a new thread */
    bool is_unsure;         /* records of new threads were lost */
    uint32_t begun_read;    /* threads, as far as the reader knows */
    uint32_t begun_then;    /* when they were switched off */
    uint64_t switched_ns;   /* on, for the first time */
    uint64_t off_ns, on_ns; /* do not count from then until then; UINT64_MAX: not on yet */
    /* The monitor's: */
    uint64_t off_taken_ns, on_taken_ns; /* the same, when it took the newest records */
    uint32_t begun;                     /* threads, as far as it knows */
    uint64_t begun_ns;                  /* the last one */
    uint64_t again_ns;                  /* not tried before */
    VEC(struct inherited_owner) living;
    VEC(int) to_close; /* clocks whose copies count */
};

void inherited_clocks_deinit(struct inherited_clocks *c);

/* The reader has read a record of what tasks do. */
struct perf_event_header;
void inherited_clocks_read(struct inherited_clocks *c, const struct perf_event_header *header);

/* The monitor takes records. */
void inherited_clocks_take(struct inherited_clocks *c);

/* At the time of a record that was taken. */
bool inherited_clocks_are_off(const struct inherited_clocks *c, uint64_t at_ns);

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
