/* Arithmetic on the counters of one kind. */
#ifndef MONARC_COVER_VALUES_H
#define MONARC_COVER_VALUES_H

#include "buffer.h"

#include <wire/gcov_merge.h>

/* Writes to `out` the values of `now`, changed by those of `other`, which has as many bytes, except
 * for GCOV_RULE_LISTS. Returns false if `other` is no such sequence. */
bool values_add(enum gcov_rule rule, struct cursor now, struct cursor other, struct buffer *out);
bool values_subtract(enum gcov_rule rule, bool is_arcs, struct cursor now, struct cursor other,
                     struct buffer *out);

#endif
