/* Summing counters of several runs, scaling them, and the laws of it.
 *
 * Each kind is merged as the recorder of its version merges it: arcs, intervals, powers and
 * averages add; masks (ior, conditions, paths) unite; of first visits the earliest counts; lists of
 * values are joined, the rarest dropped when they grow too long. */
#ifndef MONARC_COVERAGE_MODEL_COVERAGE_MERGE_H
#define MONARC_COVERAGE_MODEL_COVERAGE_MERGE_H

#include "coverage/model/coverage.h"
#include "monarc/gcov_merge.h"

/* --- records --------------------------------------------------------------------------------- */

/* Whether a record of this kind is lists of any length: {total, n, n * (value, count)}*. */
bool kind_is_list(enum counter_kind kind, const struct gcov_dialect *dialect);

/* Adds `len` values of a kind that has no lists, in place. */
void kind_add(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *into,
              const uint64_t *from, size_t len);

/* The caller frees it; joining appends. */
struct value_list {
    VEC(uint64_t) values;
};

/* Whether the values are whole lists; and joining two records of as many lists into *out. */
bool kind_lists_are_whole(const uint64_t *values, size_t len, size_t *lists);
void kind_join_lists(const uint64_t *into, size_t into_len, const uint64_t *from,
                     struct value_list *out);

/* A fraction, if there is a denominator: exact, or (gcov-tool's way) the value divided and rounded
 * before it is multiplied. Otherwise a factor in single precision, again gcov-tool's. */
struct count_scale {
    float factor;
    int64_t numerator, denominator;
    bool is_exact;
};

/* In place; values of a kind that count nothing stay. */
void kind_scale(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *values,
                size_t len, const struct count_scale *scale);

/* --- files ----------------------------------------------------------------------------------- */

/* Adds `from` to `into`, which takes functions it lacks and keeps its version, byte order and
 * stamp. Counts saturate at 2^63-1. Fails, leaving `into` as it was, if an identity has
 * functions in each whose checksums the other has not, if a function differs in number of counters,
 * if a function of either is in defect, or if the versions keep counters in different ways. An
 * empty `into` becomes a copy. Texts and unknown records of `from` are not copied: its bytes must
 * live as long as `into`. */
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
