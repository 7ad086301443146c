/* How values of one record are merged and scaled. */
#ifndef MONARC_MODEL_COVERAGE_KINDS_H
#define MONARC_MODEL_COVERAGE_KINDS_H

#include "coverage/model/coverage.h"
#include "coverage/model/coverage_merge.h"

enum { TOPN_MOST = 32 }; /* values that a list of gcc 11 and later tracks */

/* Whether a record of this kind is lists of any length: {total, n, n * (value, count)}*. */
bool kind_is_list(enum cover_kind kind, uint16_t version_number);

/* Adds `len` values of a kind that has no lists, in place. */
void kind_add(enum cover_kind kind, uint16_t version_number, uint64_t *into, const uint64_t *from,
              size_t len);

struct value_list {
    VEC(uint64_t) values;
};

/* Whether the values are whole lists; and joining two records of as many lists into *out. */
bool kind_lists_are_whole(const uint64_t *values, size_t len, size_t *lists);
void kind_join_lists(const uint64_t *into, size_t into_len, const uint64_t *from,
                     struct value_list *out);

void kind_scale(enum cover_kind kind, uint16_t version_number, uint64_t *values, size_t len,
                const struct cover_scale *scale);

#endif
