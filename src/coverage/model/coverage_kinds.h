/* How values of one record are merged, by the rules of monarc/gcov_merge.h, and scaled. */
#ifndef MONARC_COVERAGE_MODEL_COVERAGE_KINDS_H
#define MONARC_COVERAGE_MODEL_COVERAGE_KINDS_H

#include "coverage/model/coverage.h"

/* Whether a record of this kind is lists of any length: {total, n, n * (value, count)}*. */
bool kind_is_list(enum counter_kind kind, const struct gcov_dialect *dialect);

/* Adds `len` values of a kind that has no lists, in place. */
void kind_add(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *into,
              const uint64_t *from, size_t len);

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

void kind_scale(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *values,
                size_t len, const struct count_scale *scale);

#endif
