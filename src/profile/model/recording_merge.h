/* Several runs as one, and the calls that recorders inside processes counted added to a run. */
#ifndef MONARC_PROFILE_MODEL_RECORDING_MERGE_H
#define MONARC_PROFILE_MODEL_RECORDING_MERGE_H

#include "base/err.h"
#include "profile/model/recording.h"

/* Whether the two stand for the same code: kind, and of files path and build-id, as far as both
 * have one. */
bool recording_object_same(const struct recording_object *a, const struct recording_object *b);

/* Adds `from` to `into`, which may be zeroed: objects by identity, stacks node by node, events by
 * name, processes and threads side by side. In time the runs stand one after the other. Fails where
 * machines or the units of an event differ. */
MUST_CHECK bool recording_merge(struct recording *into, const struct recording *from,
                                struct err *e);

/* Sums arcs with the same ends and blocks of the same address; counts saturate. */
void recording_sum_calls(struct recording *r);

/* Adds arcs and blocks alone, and the objects they need; then sums. */
void recording_add_calls(struct recording *into, const struct recording *from);

#endif
