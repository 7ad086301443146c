/* Summing counters of several runs, scaling them, and the laws of it.
 *
 * Each kind is merged as the recorder of its version merges it: arcs, intervals, powers and
 * averages add; masks (ior, conditions, paths) unite; of first visits the earliest counts; lists of
 * values are joined, the rarest dropped when they grow too long. */
#ifndef MONARC_COVERAGE_MODEL_COVERAGE_MERGE_H
#define MONARC_COVERAGE_MODEL_COVERAGE_MERGE_H

#include "coverage/model/coverage_kinds.h"

#include "monarc/gcov_merge.h"

/* Adds `from` to `into`, which takes functions it lacks and keeps its version, byte order and
 * stamp. Counts saturate at 2^63-1. Fails, leaving `into` as it was, if a function of the same
 * identity differs in checksums or number of counters, if a function of either is in defect, or if
 * the versions keep counters in different ways. An empty `into` becomes a copy. Texts and unknown
 * records of `from` are not copied: its bytes must live as long as `into`. */
MUST_CHECK bool counters_merge(struct counters *into, const struct counters *from, struct err *e);

/* Multiplies what can be added. Masks, first visits and summaries stay. */
void counters_scale(struct counters *c, const struct count_scale *scale);

/* The largest and the sum of the counts of arcs; saturating. */
uint64_t counters_max(const struct counters *c);
uint64_t counters_sum(const struct counters *c);

/* Marks records in which all values are 0, as gcc 11 and later write them without values. */
void counters_mark_zeros(struct counters *c);

/* Whether both hold the same functions with the same values; order, summaries and zero marks aside.
 */
bool counters_same(const struct counters *a, const struct counters *b);

#endif
