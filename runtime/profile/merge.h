/* Adds up the cells of all segments of one kind, less what was set aside. */
#ifndef MONARC_PROFILE_MERGE_H
#define MONARC_PROFILE_MERGE_H

#include "process.h"

#include <stddef.h>

struct merged {
    struct cell *at; /* by rising a, then b; no two alike; none with count 0 but listed blocks */
    size_t count;
    void *memory;
    size_t bytes;
};

/* A consistent enough view of running threads: each cell is read once. False without memory. */
bool merge_kind(struct process *p, uint32_t kind, struct merged *out);
/* Turns block counts by return address into counts by block start, where starts are listed: the
 * result is, in b and count, {start, or an address within the hook's call; count}. */
void merged_blocks(struct merged *m);
void merged_free(struct merged *m);
/* Heap sort: in place, no recursion, no worst case. */
void cells_sort(struct cell *at, size_t n);

#endif
