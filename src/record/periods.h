/* Periods drawn by chance, and weights that make sums right all the same.
 *
 * The kernel starts a clock for each thread on each CPU when the thread is born, and its first
 * sample comes a full period later: a thread that lives shorter is never seen. So each new thread
 * gets a period of its own, drawn from [P / 8, 2 P] with a density that rises with the period (few
 * short ones, 1 / P samples per second on average). Its samples within the first 2 P of its time
 * then weigh what makes each moment count once on average over all draws; from there on each weighs
 * its period, as ever. The first P / 8 of a thread, which nobody can see, are stood in for by the P
 * / 8 after them. */
#ifndef MONARC_RECORD_PERIODS_H
#define MONARC_RECORD_PERIODS_H

#include "base/map.h"
#include "base/vec.h"

struct period_clock {
    uint64_t period;
    uint32_t samples;
};

struct periods {
    uint64_t nominal; /* P */
    uint64_t state;   /* of the generator */
    struct map born;  /* thread -> how many of that number have begun; older ones are not in it */
    struct map clock_of; /* thread and that number, clock -> index */
    VEC(struct period_clock) clocks;
};

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed);
void periods_deinit(struct periods *p);

/* The period of the next thread. */
uint64_t periods_draw(struct periods *p);

/* A thread of that number begins, with a period that was drawn. */
void periods_begin(struct periods *p, uint32_t tid);

/* The weight of the next sample of a clock (an event on a CPU) in the thread. */
uint64_t periods_weigh(struct periods *p, uint32_t tid, uint64_t clock, uint64_t period);

#endif
