/* Which lines of which files a patch adds or changes. */
#ifndef MONARC_COVERAGE_MODEL_PATCH_H
#define MONARC_COVERAGE_MODEL_PATCH_H

#include "base/vec.h"

/* Ascending within a file, without two that touch. */
struct patch_range {
    uint32_t first, lines; /* of the new file */
};

struct patch_file {
    const char *path;       /* the new one, as written, without the folder of its side: `b/` */
    const char *whole_path; /* with it */
    uint32_t first_range, ranges;
    uint64_t added; /* lines */
};

/* Where the old file was changed. */
struct patch_old_range {
    uint32_t first, lines; /* that were removed or replaced; 0 lines: some were put in before it */
};

/* What a patch does to an old file; of new ones there is none. */
struct patch_old_file {
    const char *path, *whole_path;
    uint32_t first_range, ranges;
};

/* A file that is removed is among the old ones alone, a new one among `files` alone. Texts live in
 * `arena`. */
struct patch {
    struct arena arena;
    VEC(struct patch_file) files;
    VEC(struct patch_range) ranges;
    VEC(struct patch_old_file) old_files;
    VEC(struct patch_old_range) old_ranges;
};

void patch_deinit(struct patch *p);

#endif
