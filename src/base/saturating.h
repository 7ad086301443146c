/* Sums of counts that stop at the largest number. */
#ifndef MONARC_BASE_SATURATING_H
#define MONARC_BASE_SATURATING_H

#include <stdint.h>

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
