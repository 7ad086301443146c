/* Arithmetic on the counters of one kind. */
#ifndef MONARC_COVER_VALUES_H
#define MONARC_COVER_VALUES_H

#include "merge.h"

/* Writes to `out` the values of `now`, changed by those of `other`, which has as many bytes, except
 * for MERGE_TOPN. Returns false if `other` is no such sequence. */
bool values_add(enum merge_kind kind, bool is_arcs, struct cursor now, struct cursor other,
                struct buffer *out);
bool values_subtract(enum merge_kind kind, bool is_arcs, struct cursor now, struct cursor other,
                     struct buffer *out);

#endif
