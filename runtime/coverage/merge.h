/* Counter files in memory, added to and subtracted from each other. Pure functions of bytes: what
 * the old file holds is hostile, what this process counted is not. */
#ifndef MONARC_COVER_MERGE_H
#define MONARC_COVER_MERGE_H

#include "buffer.h"
#include "dialect.h"

#include <wire/gcov_merge.h>

enum verdict {
    VERDICT_FINE,
    VERDICT_DAMAGED, /* the old file is not whole */
    VERDICT_OTHER,   /* the old file is whole but of another build */
    VERDICT_NO_ROOM, /* `out` is too small */
};

/* What is to be known about a file of counters to work on it. */
struct form {
    const struct gcov_dialect *dialect;
    const enum gcov_rule *rules; /* by slot */
};

/* out = now + old, as a file is written. `old` may be empty. *why is a sentence if it went wrong.
 */
enum verdict gcda_add(const struct form *f, struct cursor now, struct cursor old,
                      struct buffer *out, const char **why);
/* out = now - before, as an image: what was counted since `before`. */
enum verdict gcda_subtract(const struct form *f, struct cursor now, struct cursor before,
                           struct buffer *out);

#endif
