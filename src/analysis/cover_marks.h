/* What the text of a source says about its lines: which are left out of coverage, and which hold no
 * code that a person wrote. */
#ifndef MONARC_ANALYSIS_COVER_MARKS_H
#define MONARC_ANALYSIS_COVER_MARKS_H

#include "analysis/cover_table.h"
#include "base/sort.h"
#include "source/markers.h"

enum { MARK_BARE = 128 }; /* besides enum marker_what: nothing but braces and the like */

struct marks_request {
    const struct cover_table *t;
    const char *file;          /* or NULL */
    const struct keyed *lines; /* of the source, ascending */
    uint32_t lines_len;
    const struct keyed *functions; /* of the source */
    uint32_t functions_len;
    bool ignores_markers, finds_bare_lines;
};

struct cover_marks {
    uint8_t *lines;           /* beside those of the request; the caller allocates it, zeroed */
    VEC(struct marker) code;  /* ranges in which functions are left out */
    uint32_t unclosed, stray; /* as in struct markers */
};

void cover_marks_make(const struct marks_request *q, struct cover_marks *m);
void cover_marks_deinit(struct cover_marks *m);

#endif
