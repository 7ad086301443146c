/* Coverage of the lines that a patch adds or changes. */
#ifndef MONARC_COVERAGE_ANALYSIS_PATCH_COVERAGE_H
#define MONARC_COVERAGE_ANALYSIS_PATCH_COVERAGE_H

#include "coverage/analysis/coverage_result.h"
#include "coverage/model/patch.h"

struct diff_file {
    const char *path; /* of the source, or of the patch */
    uint32_t source;  /* in the result, or NO_INDEX: nothing is known of this file */
    uint64_t added;   /* lines of the patch, with and without code */
    struct coverage_ratio lines, branches;
    uint32_t first_line, len; /* slice of `lines`: those with code */
};

struct patch_coverage {
    VEC(struct diff_file) files;
    VEC(uint32_t) lines; /* in the result */
    struct coverage_ratio sum, branches;
    uint64_t unknown_files;
};

/* Finds the sources of the patch's files: by the shown name, or by the longest end of a path. The
 * patch and the result must outlive *out. */
void patch_coverage_build(const struct coverage_result *r, const struct patch *p,
                          struct patch_coverage *out);

/* The source of a file of a patch, by its name without the side's folder and with it, or NO_INDEX.
 */
uint32_t patch_source(const struct coverage_result *r, const char *path, const char *whole_path);
void patch_coverage_deinit(struct patch_coverage *d);

#endif
