/* Which of many ranges of addresses holds an address.
 *
 * Ranges are sorted by start and starts are unique. They may overlap: what is at an address is then
 * the last one that starts there or before. What a range stands for (a function, a piece of code of
 * one line) is the caller's, by the same number. */
#ifndef MONARC_PROFILE_ANALYSIS_ADDRESS_INDEX_H
#define MONARC_PROFILE_ANALYSIS_ADDRESS_INDEX_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define NO_RANGE_THERE UINT32_MAX

struct indexed_range {
    uint64_t start, last; /* first and last address */
};

struct address_index {
    struct indexed_range *at;
    uint32_t len;

    /* Buckets of 2^shift bytes from the first start; each holds the index of the last range that
     * starts at or before the bucket's first byte. */
    uint32_t *bucket;
    size_t buckets;
    uint8_t shift;
};

/* Makes the buckets for `at` and `len`, which are filled; all lives in `a`. */
void address_index_build(struct address_index *x, struct arena *a);

/* The range that holds `address`, or NO_RANGE_THERE. */
uint32_t address_index_find(const struct address_index *x, uint64_t address);

#endif
