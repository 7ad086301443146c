/* A run's samples of its program as a profile, for those who read gmon.out. */
#ifndef MONARC_PROFILE_MODEL_RECORDING_PROFILE_H
#define MONARC_PROFILE_MODEL_RECORDING_PROFILE_H

#include "profile/model/profile.h"
#include "profile/model/recording.h"

/* Fills a zeroed *out with histograms of where the program itself was sampled: link addresses, in
 * bins of two bytes, samples of the first event by its nominal period. A text of more than 1 MB has
 * one for each kilobyte that was sampled. Code of libraries and of other programs, time in the
 * kernel, and stacks have no place in the format. false: no sample was in the program. */
bool recording_profile(const struct recording *r, struct profile *out);

#endif
