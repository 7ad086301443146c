/* The structures that gcc --coverage puts into each object, and an image of their counters.
 *
 * An image is a counter file in memory, with every counter written out. It is made in one pass over
 * memory that the program may be counting in; everything else works on images. */
#ifndef MONARC_COVER_INFO_H
#define MONARC_COVER_INFO_H

#include "buffer.h"
#include "dialect.h"

#include <wire/gcov_merge.h>

/* A gcov_info of whatever version. */
struct info {
    const void *at;
    const struct gcov_dialect *dialect;
    const char *filename;
    uint32_t version, stamp, checksum, n_functions;
    const struct function *const *functions;
    enum gcov_rule rules[GCOV_SLOTS];
};

/* Sums over all objects of the program, or of one library. Files carry the largest count, before
 * gcc 9 all of it. */
struct totals {
    uint32_t checksum, counters;
    uint64_t sum, max;
};

/* A function's identity and its counters of arcs. */
struct info_function {
    uint32_t ident, lineno_checksum, cfg_checksum, arcs;
    const int64_t *values; /* the program may be counting */
};

/* False if the version is not in the table; *to is then only good for its version. */
bool info_read(struct info *to, const void *at);
/* An upper bound of image_write's bytes. */
size_t image_bound(const struct info *o);
/* `runs` is 1, or 0 if the file has this process in its number of runs already. */
void image_write(const struct info *o, uint32_t runs, const struct totals *program,
                 struct buffer *to);
/* The function at a place of the object; false if another object has it. */
bool info_function(const struct info *o, uint32_t i, struct info_function *to);
void totals_add(struct totals *t, const struct info *o);
/* Sets all counters to zero. */
void info_reset(const struct info *o);

#endif
