/* Summing many profiles, one after the other, without forgetting in between where things are. */
#ifndef MONARC_PROFILE_MODEL_MERGE_H
#define MONARC_PROFILE_MODEL_MERGE_H

#include "profile/model/profile.h"

/* Positions of records by address, in an open-addressing table of 32-bit slots. */
struct merge_index {
    uint32_t *slots; /* position + 1; 0: free */
    size_t mask, len;
};

/* A zeroed one is ready. `sum` may be taken over when the merger is no longer used. */
struct merger {
    struct profile sum;
    struct merge_index arcs, blocks;
};

/* Adds `from` as profile_merge() does. */
MUST_CHECK bool merger_add(struct merger *m, const struct profile *from, struct err *e);

/* Frees everything, the sum too. */
void merger_deinit(struct merger *m);

/* Frees all but the sum, which becomes the caller's. */
struct profile merger_take(struct merger *m);

#endif
