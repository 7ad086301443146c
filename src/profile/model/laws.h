/* The laws of merging. */
#ifndef MONARC_PROFILE_MODEL_LAWS_H
#define MONARC_PROFILE_MODEL_LAWS_H

#include "profile/model/profile.h"

/* Merging commutes, associates, and keeps the sums of samples and calls. True if the three cannot
 * be merged. */
MUST_CHECK bool check_merge_laws(const struct profile *a, const struct profile *b,
                                 const struct profile *c, struct err *e);

#endif
