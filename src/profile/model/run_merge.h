/* Several runs as one, and the calls that recorders inside processes counted added to a run. */
#ifndef MONARC_PROFILE_MODEL_RUN_MERGE_H
#define MONARC_PROFILE_MODEL_RUN_MERGE_H

#include "base/err.h"
#include "profile/model/run.h"

/* Whether the two stand for the same code: kind, and of files path and build-id, as far as both
 * have one. */
bool run_object_same(const struct run_object *a, const struct run_object *b);

/* Adds `from` to `into`, which may be zeroed: objects by identity, stacks node by node, events by
 * name, processes and threads side by side. In time the runs stand one after the other. Fails where
 * machines or the units of an event differ. */
MUST_CHECK bool run_merge(struct run *into, const struct run *from, struct err *e);

/* Sums arcs with the same ends and blocks of the same address; counts saturate. */
void run_sum_calls(struct run *r);

/* Adds arcs and blocks alone, and the objects they need; then sums. */
void run_add_calls(struct run *into, const struct run *from);

#endif
