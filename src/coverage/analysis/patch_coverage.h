/* Coverage of the lines that a patch adds or changes. */
#ifndef MONARC_ANALYSIS_COVER_DIFF_H
#define MONARC_ANALYSIS_COVER_DIFF_H

#include "coverage/analysis/coverage_result.h"
#include "coverage/model/patch.h"

struct diff_file {
    const char *path; /* of the source, or of the patch */
    uint32_t source;  /* in the result, or COVER_NONE: nothing is known of this file */
    uint64_t added;   /* lines of the patch, with and without code */
    struct cover_ratio lines, branches;
    uint32_t first_line, len; /* slice of `lines`: those with code */
};

struct cover_diff {
    VEC(struct diff_file) files;
    VEC(uint32_t) lines; /* in the result */
    struct cover_ratio sum, branches;
    uint64_t unknown_files;
};

/* Finds the sources of the patch's files: by the shown name, or by the longest end of a path. The
 * patch and the result must outlive *out. */
void cover_diff_build(const struct cover_result *r, const struct patch *p, struct cover_diff *out);
void cover_diff_deinit(struct cover_diff *d);

#endif
