/* What is mapped where in a process, as far as code goes.
 *
 * A forked child starts with its parent's mappings; they share one list until either changes it. */
#ifndef MONARC_RECORD_MAPPINGS_H
#define MONARC_RECORD_MAPPINGS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end; /* [start, end) */
    uint64_t offset;     /* of `start` in the image */
    uint32_t image;
};

struct mappings {
    uint32_t users;
    VEC(struct mapping) all; /* by address, disjoint */
};

struct mappings *mappings_new(void);
struct mappings *mappings_share(struct mappings *m);
void mappings_release(struct mappings *m); /* NULL is none */

/* Puts one in, in place of whatever was in its range. *m may be replaced by a copy. */
void mappings_put(struct mappings **m, const struct mapping *one);

/* The mapping that holds the address, or NULL. */
const struct mapping *mappings_find(const struct mappings *m, uint64_t address);

#endif
