/* What makes profiles fit together, and the laws that reading, merging and writing obey. */
#ifndef MONARC_MODEL_CHECK_H
#define MONARC_MODEL_CHECK_H

#include "model/profile.h"

/* Whether all histograms of the two (`b` may be NULL) can stand in one profile: none overlaps
 * another without being the same, and all have one dimension and rate. */
MUST_CHECK bool check_mergeable(const struct profile *a, const struct profile *b, struct err *e);

#endif
