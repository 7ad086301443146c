/* The addresses that a profile says something about. */
#ifndef MONARC_PROFILE_ANALYSIS_MEASURED_H
#define MONARC_PROFILE_ANALYSIS_MEASURED_H

#include "base/vec.h"
#include "profile/model/profile.h"
#include "objfile/object.h"

/* Ascending, disjoint, not touching. */
struct measured {
    VEC(struct object_range) ranges;
};

struct functions;

/* Bins with samples, call sites with the byte before the return address, where called functions
 * begin, and blocks. */
void measured_init(struct measured *m, const struct profile *p, const struct functions *f);

void measured_deinit(struct measured *m);

/* For other rules than these: adds ranges in any order; the blocks, last, and puts all in order. */
void measured_add(struct measured *m, uint64_t low, uint64_t high);
void measured_add_blocks(struct measured *m, const struct profile *p);

/* Whether [low, high) has any of them. Calls must ask for ascending ranges; *next, 0 at first, is
 * where the search goes on. */
static inline bool measured_within(const struct measured *m, size_t *next, uint64_t low,
                                   uint64_t high)
{
    while (*next < m->ranges.len && m->ranges.at[*next].high <= low)
        ++*next;
    return *next < m->ranges.len && m->ranges.at[*next].low < high;
}

#endif
