/* Which lines of which files a patch adds or changes. */
#ifndef MONARC_MODEL_PATCH_H
#define MONARC_MODEL_PATCH_H

#include "base/vec.h"

struct patch_range {
    uint32_t first, lines; /* of the new file */
};

struct patch_file {
    const char *path;       /* the new one, as written, without the folder of its side: `b/` */
    const char *whole_path; /* with it */
    uint32_t first_range, ranges;
    uint64_t added; /* lines */
};

struct patch {
    struct arena arena;
    VEC(struct patch_file) files;
    VEC(struct patch_range) ranges;
};

void patch_deinit(struct patch *p);

#endif
