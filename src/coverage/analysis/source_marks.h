/* What the text of a source says about its lines: which are left out of coverage, and which hold no
 * code that a person wrote. */
#ifndef MONARC_COVERAGE_ANALYSIS_SOURCE_MARKS_H
#define MONARC_COVERAGE_ANALYSIS_SOURCE_MARKS_H

#include "base/vec.h"
#include "source/markers.h"

enum { MARK_BARE = 128 }; /* besides enum marker_what: nothing but braces and the like */

struct marked_line {
    uint32_t number;
    bool has_branches;
};

struct marked_function {
    uint32_t start_line, end_line;
};

struct marks_request {
    const char *file;
    const struct marked_line *lines; /* of the source, ascending */
    uint32_t lines_len;
    const struct marked_function *functions; /* of the source, ascending */
    uint32_t functions_len;
    bool ignores_markers, finds_bare_lines;
};

struct source_marks {
    VEC(uint8_t) lines;       /* beside those of the request; none if the file cannot be read */
    VEC(struct marker) code;  /* ranges in which functions are left out */
    uint32_t unclosed, stray; /* as in struct markers */
    char *trouble;            /* why the file could not be read, if it may well be there; or NULL */
};

/* Fills a zeroed *m. */
void source_marks_make(const struct marks_request *q, struct source_marks *m);
void source_marks_deinit(struct source_marks *m);

#endif
