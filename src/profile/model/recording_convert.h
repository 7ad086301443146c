/* A recording of one process, made by a recorder inside it, as a run. */
#ifndef MONARC_PROFILE_MODEL_RECORDING_CONVERT_H
#define MONARC_PROFILE_MODEL_RECORDING_CONVERT_H

#include "profile/model/sidecar.h"
#include "profile/model/recording.h"

/* Fills a zeroed *out. `profiles` are those that the objects of the recording name (one each,
 * empty where there is none), with link addresses; arcs and blocks come from them, and samples
 * where the recording has no stacks. Run-time addresses become objects and link addresses; a sample
 * weighs what the measured rate says. Time within the run is not known: there is one slice. */
MUST_CHECK bool recording_from_recording(struct recording *out, const struct sidecar *r,
                                         const struct profile *profiles, struct err *e);

#endif
