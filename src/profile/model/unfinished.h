/* The tables of a recorder that could not finish, and what it would have written.
 *
 * docs/formats/sidecar.md: monarc.live. Tables hold a key any number of times, and counts that are
 * to be taken off; unfinished_sum() leaves one entry a key. */
#ifndef MONARC_PROFILE_MODEL_UNFINISHED_H
#define MONARC_PROFILE_MODEL_UNFINISHED_H

#include "profile/model/sidecar.h"

struct unfinished {
    struct sidecar recording; /* its arcs: none until unfinished_finish() */
    VEC(struct arc) arcs;     /* of all objects; counts to be taken off are negated */
    VEC(struct block) taken;  /* samples to be taken off, by address */
    VEC(struct block) blocks; /* by return address of the hook; likewise negated */
    VEC(uint64_t) block_starts;
    bool has_tables;
};

void unfinished_deinit(struct unfinished *u);

/* Sums the tables and completes the recording: totals, rate, calls between objects. */
void unfinished_finish(struct unfinished *u);

/* The gmon.out of an object, with link addresses: fails if there is nothing in it. *out is zeroed.
 */
MUST_CHECK bool unfinished_profile(const struct unfinished *u, const struct sidecar_object *o,
                                   struct profile *out);

#endif
