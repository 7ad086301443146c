/* Records in the order of time. They stand in a file as the buffers of each CPU were emptied, round
 * by round: a record of the next round may be older than one of this, not than one of the last. */
#ifndef MONARC_PROFILE_IMPORT_PERF_ROUNDS_H
#define MONARC_PROFILE_IMPORT_PERF_ROUNDS_H

#include "base/bytes.h"
#include "base/sort.h"
#include "base/vec.h"

#include <stdbool.h>

/* Memory that records lie in, freed with the last of them. NULL: somebody else's. */
struct perf_block {
    uint32_t users;
    uint8_t *at;
};

struct perf_queued {
    struct bytes record;
    struct perf_block *block;
};

struct perf_rounds {
    VEC(struct keyed) order; /* time, place in `all` */
    VEC(struct perf_queued) all;
    uint64_t latest, settled; /* times: of all so far, of all in the last round */
    size_t kept;              /* what was left the last time that some were handed over */
    bool (*take)(void *context, struct bytes record);
    void *context;
};

void perf_rounds_deinit(struct perf_rounds *q);

/* Adds one; the record must stay where it is, the block gets one more user. */
void perf_rounds_put(struct perf_rounds *q, uint64_t time, struct bytes record,
                     struct perf_block *block);

/* A round ends: hands over what nothing older can come for. false: take() said so. */
bool perf_rounds_round(struct perf_rounds *q);

/* Hands over the rest. */
bool perf_rounds_end(struct perf_rounds *q);

void perf_block_release(struct perf_block *b);

#endif
