/* Numbers that look random: xorshift64* (Vigna 2016), short, and the same on every machine, so that
 * a seed draws the same series anywhere. Good enough to fall in step with nothing.
 *
 * The state is one number and never 0. */
#ifndef MONARC_BASE_RANDOM_H
#define MONARC_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Above 0, up to 1. */
static inline double random_part(uint64_t *state)
{
    return ((double)(random_next(state) >> 11) + 1) * 0x1p-53;
}

#endif
