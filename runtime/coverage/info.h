/* The structures that gcc --coverage puts into each object, and an image of their counters.
 *
 * An image is a counter file in memory, with every counter written out. It is made in one pass over
 * memory that the program may be counting in; everything else works on images. */
#ifndef MONARC_COVER_INFO_H
#define MONARC_COVER_INFO_H

#include "buffer.h"
#include "layout.h"

/* A gcov_info of whatever version. */
struct info {
    const void *at;
    const struct layout *layout;
    const char *filename;
    uint32_t version, stamp, checksum, n_functions;
    const struct function *const *functions;
    enum merge_kind kinds[COUNTERS_MAX];
};

/* Sums over all objects of the program, or of one library. Files carry the largest count, before
 * gcc 9 all of it. */
struct totals {
    uint32_t checksum, counters;
    uint64_t sum, max;
};

/* One value of a topn counter: gcc's own code makes and links these. */
struct topn_node {
    int64_t value, count;
    struct topn_node *next;
};

#define TOPN_VALUES 32 /* as many as gcc tracks for a counter */

#define GCDA_MAGIC          0x67636461u
#define TAG_FUNCTION        0x01000000u
#define TAG_COUNTER(i)      (0x01a10000u + ((uint32_t)(i) << 17))
#define TAG_OBJECT_SUMMARY  0xa1000000u
#define TAG_PROGRAM_SUMMARY 0xa3000000u
#define HISTOGRAM_WORDS     8

/* False if the version is not in the table; *to is then only good for its version. */
bool info_read(struct info *to, const void *at);
/* An upper bound of image_write's bytes. */
size_t image_bound(const struct info *o);
/* `runs` is 1, or 0 if the file has this process in its number of runs already. */
void image_write(const struct info *o, uint32_t runs, const struct totals *program,
                 struct buffer *to);
void totals_add(struct totals *t, const struct info *o);
/* Sets all counters to zero. */
void info_reset(const struct info *o);

#endif
