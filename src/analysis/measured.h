/* The addresses that a profile says something about. */
#ifndef MONARC_ANALYSIS_MEASURED_H
#define MONARC_ANALYSIS_MEASURED_H

#include "base/vec.h"
#include "model/profile.h"
#include "objfile/object.h"

/* Ascending, disjoint, not touching. */
struct measured {
    VEC(struct object_range) ranges;
};

/* Bins with samples, the ends of arcs and blocks. Bins are taken as GNU gprof takes them, in units
 * of two bytes and with the first histogram's scale for all, and a little wider. */
void measured_init(struct measured *m, const struct profile *p);
void measured_deinit(struct measured *m);

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
