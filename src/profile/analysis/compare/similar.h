/* Functions that have another name now: of those that are gone and those that are new, the pairs
 * that resemble each other in name, size, file, calls and in whom they call and are called by. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_SIMILAR_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_SIMILAR_H

#include "profile/analysis/compare/match.h"
#include "profile/analysis/compare/side.h"

/* Books pairs into `m`. False: there are too many to compare each with each, and none was booked
 * but clones that differ in the compiler's suffix. */
bool match_similar(struct match *m, const struct side *old, const struct side *new);

#endif
