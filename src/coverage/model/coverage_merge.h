/* Summing counters of several runs, scaling them, and the laws of it.
 *
 * Each kind is merged as the recorder of its version merges it: arcs, intervals, powers and
 * averages add; masks (ior, conditions, paths) unite; of first visits the earliest counts; lists of
 * values are joined, the rarest dropped when they grow too long. */
#ifndef MONARC_MODEL_COVERAGE_MERGE_H
#define MONARC_MODEL_COVERAGE_MERGE_H

#include "coverage/model/coverage.h"

/* Adds `from` to `into`, which takes functions it lacks and keeps its version, byte order and
 * stamp. Counts saturate at 2^63-1. Fails, leaving `into` as it was, if a function of the same
 * identity differs in checksums or number of counters, if a function of either is in doubt, or if
 * the versions keep counters in different ways. An empty `into` becomes a copy. Texts and unknown
 * records of `from` are not copied: its bytes must live as long as `into`. */
MUST_CHECK bool counters_merge(struct counters *into, const struct counters *from, struct err *e);

/* A fraction, if there is a denominator: exact, or (gcov-tool's way) the value divided and rounded
 * before it is multiplied. Otherwise a factor in single precision, again gcov-tool's. */
struct cover_scale {
    float factor;
    int64_t numerator, denominator;
    bool is_exact;
};

/* Multiplies what can be added. Masks, first visits and summaries stay. */
void counters_scale(struct counters *c, const struct cover_scale *scale);

/* The largest and the sum of the counts of arcs; saturating. */
uint64_t counters_max(const struct counters *c);
uint64_t counters_sum(const struct counters *c);

/* Marks records in which all values are 0, as gcc 11 and later write them without values. */
void counters_settle(struct counters *c);

/* Whether both hold the same functions with the same values; order, summaries and zero marks aside.
 */
bool counters_same(const struct counters *a, const struct counters *b);

/* Sums of counts, at most 2^63-1. */
static inline uint64_t add_saturating_u63(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

#endif
