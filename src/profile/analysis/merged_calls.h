/* Calls that glibc's recorder of shared objects (LD_PROFILE) books on a neighbour.
 *
 * It finds an arc by its caller and the 32 bytes of code in which the callee begins. Callers
 * outside of the object are all 0, so that two functions that begin in the same 32 bytes have one
 * arc for their calls from outside: that of the one which was called first. The file does not show
 * it. */
#ifndef MONARC_PROFILE_ANALYSIS_MERGED_CALLS_H
#define MONARC_PROFILE_ANALYSIS_MERGED_CALLS_H

#include "base/sort.h"
#include "profile/analysis/functions.h"
#include "profile/model/profile.h"

/* Functions of which that may be so: they begin beside one that was called from outside, and have
 * no such calls themselves. */
struct merged_calls {
    uint32_t functions;
    uint32_t first, into; /* the first of them, and its neighbour */
};

enum { MERGED_CALLS_BYTES = 32 };

/* `entries`: where functions begin that can be called from outside, by address, with the caller's
 * numbers for them. There is nothing in profiles of other formats. */
void merged_calls_find(struct merged_calls *m, const struct profile *p, const struct keyed *entries,
                       uint32_t len);

/* The same of a table of functions. */
void merged_calls_of(struct merged_calls *m, const struct profile *p, const struct functions *f);

#endif
