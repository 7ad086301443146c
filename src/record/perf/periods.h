/* Periods of sampling clocks, drawn at random, and what each sample of such a clock weighs.
 *
 * The kernel makes a clock for each new thread on each CPU, with the period that the parent event
 * has at that moment, and that clock keeps it: its samples come at ages p, 2p, 3p ... A period of
 * its own for each clock does two things. No two clocks keep step with the same rhythm of the
 * program, and where the first sample of a thread falls is up to chance, so that each moment of a
 * thread can be met, the first ones as well. periods.c has the method. */
#ifndef MONARC_RECORD_PERF_PERIODS_H
#define MONARC_RECORD_PERF_PERIODS_H

#include "base/map.h"
#include "base/vec.h"

#include <stdatomic.h>

/* What periods are drawn from. The kind is in the period's lowest bits, so that a sample tells it.
 */
enum period_kind {
    PERIOD_FIXED, /* not drawn: the nominal one */
    PERIOD_LONG,  /* [P / 2, 3 P / 2]: for a thread that is likely to live long */
    PERIOD_MIXED, /* [P / 4, 2 P]: for others */
    PERIOD_YOUNG, /* [P / 25, 2 P]: where short threads have a good part of the time */
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
    double young, old;               /* recent weights of samples, by the age of their clocks */
    uint64_t aged;                   /* clocks that have been seen to get old */
    uint64_t newest, forgotten;      /* clocks: the newest seen; up to this number they are old */
    struct map clock_of;             /* number -> index */
    VEC(struct period_clock) clocks; /* of the others */
};

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed);
void periods_deinit(struct periods *p);

/* The period of the clocks that are made next. Safe beside periods_weigh() in another thread. */
uint64_t periods_draw(struct periods *p, enum period_kind kind);

/* Of threads to come, as periods_weigh() has seen what becomes of them. */
uint64_t periods_draw_next(struct periods *p);

/* A thread has begun: should many be too short for any sample, the next are drawn shorter. */
void periods_begun(struct periods *p);

/* The weight of the next sample of a clock. Clocks are numbered as they are made, all their lives;
 * one that is given another period begins anew. 0: the sample is to be left out. *is_young: the
 * weight is right on average only. */
uint64_t periods_weigh(struct periods *p, uint64_t clock, uint64_t period, bool *is_young);

#endif
