/* Buckets narrow the search to few ranges; the rest is bisection. */
#include "profile/analysis/address_index.h"

#include "base/search.h"

enum { MAX_BUCKETS = 1 << 22 };

void address_index_build(struct address_index *x, struct arena *a)
{
    if (!x->len)
        return;
    uint64_t first = x->at[0].start, span = x->at[x->len - 1].start - first + 1;
    x->shift = 0;
    while (span >> x->shift > (uint64_t)x->len * 2 || span >> x->shift > MAX_BUCKETS)
        x->shift++;
    x->buckets = (size_t)(span >> x->shift) + 1;
    x->bucket = ARENA_NEW(a, uint32_t, x->buckets);
    uint32_t owner = 0;
    for (size_t b = 0; b < x->buckets; b++) {
        uint64_t begin = first + ((uint64_t)b << x->shift);
        while (owner + 1 < x->len && x->at[owner + 1].start <= begin)
            owner++;
        x->bucket[b] = owner;
    }
}

uint32_t address_index_find(const struct address_index *x, uint64_t address)
{
    if (!x->len || address < x->at[0].start)
        return NO_RANGE_THERE;
    uint64_t b = (address - x->at[0].start) >> x->shift;
    uint32_t low = b < x->buckets ? x->bucket[b] : x->len - 1;
    uint32_t high = b + 1 < x->buckets ? x->bucket[b + 1] : x->len - 1;
    /* the last start at or below the address */
    low += PARTITION_POINT(high - low, i, x->at[low + 1 + i].start <= address);
    return address <= x->at[low].last ? low : NO_RANGE_THERE;
}
