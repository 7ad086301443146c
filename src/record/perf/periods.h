/* Periods drawn by chance, and weights that make sums right all the same.
 *
 * The kernel makes a clock for each new thread on each CPU, and its first sample comes a full
 * period later: a thread that lives shorter would never be seen. So each clock gets a period of its
 * own, drawn from [P / 5, 5 P / 2], all equally likely: somewhat more than one sample in P on
 * average. Samples of a clock's first 5 P / 2 weigh what makes each moment count once on average
 * over all draws; from there on each weighs its period, as ever. The first P / 8, which no clock
 * sees, are stood in for by the P / 5 after them.
 *
 * Threads that take turns may exchange their clocks (the kernel saves work so): what counts is a
 * clock's age, not its thread's. */
#ifndef MONARC_RECORD_PERF_PERIODS_H
#define MONARC_RECORD_PERF_PERIODS_H

#include "base/map.h"
#include "base/vec.h"

struct period_clock {
    uint64_t period;
    uint32_t samples;
};

struct periods {
    uint64_t aged;                   /* clocks that have been seen to get old */
    uint64_t nominal;                /* P */
    uint64_t state;                  /* of the generator */
    uint64_t newest, old;            /* clocks: the newest seen; up to this number they are old */
    struct map clock_of;             /* number -> index */
    VEC(struct period_clock) clocks; /* of the others */
};

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed);
void periods_deinit(struct periods *p);

/* The period of the clocks that are made next. */
uint64_t periods_draw(struct periods *p);

/* The weight of the next sample of a clock. Clocks are numbered as they are made, all their lives.
 * One of the nominal period was not drawn. *is_young: the weight is right on average only. */
uint64_t periods_weigh(struct periods *p, uint64_t clock, uint64_t period, bool *is_young);

#endif
