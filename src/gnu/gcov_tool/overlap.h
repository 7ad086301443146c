/* How alike two profiles are: for each counter the smaller of its shares of the two sums.
 *
 * 1 means that time and again the same arcs took the same share, 0 that nothing was run in both. */
#ifndef MONARC_GNU_GCOV_TOOL_OVERLAP_H
#define MONARC_GNU_GCOV_TOOL_OVERLAP_H

#include "coverage/model/coverage.h"
#include "output/out.h"

/* Shares of all counts of the first profile, of the second, and what they have in common. From 0 to
 * 1. */
struct shared {
    double first, second, both;
};

enum heat { HEAT_ZERO, HEAT_COLD, HEAT_HOT };

struct overlap_function {
    uint32_t ident;
    struct shared share;
};

/* One name in either profile; its functions stand together in the list of struct overlap. */
struct overlap_file {
    const char *name;
    bool in_first, in_second;
    struct shared share;
    uint32_t first_function, functions; /* that both have */
};

/* Zeroed but for `sum` and `threshold`, which are set before the first file is added. */
struct overlap {
    VEC(struct overlap_file) files;
    VEC(struct overlap_function) functions;
    double sum[2]; /* of all counts of each profile; what shares are of */
    double threshold;
    struct shared total;
};

/* Adds a file that one or both profiles have (NULL: not); the sums must be set. Not both NULL;
 * `name` is borrowed. */
void overlap_add(struct overlap *o, const char *name, const struct counters *first,
                 const struct counters *second);
void overlap_deinit(struct overlap *o);

/* The text of `gcov-tool overlap`. */

struct overlap_print {
    bool has_functions, has_files, has_full_names, is_hot_only;
};

void overlap_text(struct out *out, const struct overlap *o, const struct overlap_print *how);

#endif
