/* Comments in sources by which people leave code out of coverage: LCOV_EXCL_LINE, LCOV_EXCL_START
 * and _STOP, LCOV_EXCL_BR_..., LCOV_EXCL_EXCEPTION_BR_..., LCOV_UNREACHABLE_..., the same with
 * GCOVR_ and GCOV_, and GCOVR_EXCL_FUNCTION.
 *
 * As lcov and gcovr do, the words are searched for anywhere in a line, whatever the language. */
#ifndef MONARC_SOURCE_MARKERS_H
#define MONARC_SOURCE_MARKERS_H

#include "base/bytes.h"
#include "base/vec.h"

enum marker_what {
    MARKER_CODE = 1,       /* lines, with all that is on them */
    MARKER_BRANCHES = 2,   /* their branches */
    MARKER_EXCEPTIONS = 4, /* their branches that exceptions take */
    MARKER_FUNCTION = 8,   /* the function that begins on the line */
};

struct marker {
    uint32_t first, last; /* lines */
    uint32_t what;
};

struct markers {
    VEC(struct marker) ranges; /* by first line */
    uint32_t unclosed;         /* line of a START that has no STOP, or 0: it goes to the end */
    uint32_t stray;            /* line of a STOP that has no START, or 0 */
};

/* Fills a zeroed *out. */
void markers_find(struct bytes source, struct markers *out);
void markers_deinit(struct markers *m);

#endif
