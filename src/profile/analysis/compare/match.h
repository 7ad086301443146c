/* Which function of an old build is which of a new one.
 *
 * Functions are the same if their linkage names, objects and source files are; of several that
 * share a name those in files whose paths end alike. One whose name is left alone in another file
 * or object has moved. What remains may have been renamed: see profile/analysis/compare/similar.h.
 */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_MATCH_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_MATCH_H

#include "profile/analysis/compare/identity.h"

enum match_kind { MATCH_NONE, MATCH_SAME, MATCH_MOVED, MATCH_RENAMED };

struct match {
    uint32_t *old_of; /* per new function, or NO_FUNCTION */
    uint32_t *new_of; /* per old function, likewise */
    uint8_t *kind;    /* per new function: enum match_kind */
};

void match_identities(struct match *m, const struct identities *old, const struct identities *new,
                      struct arena *a);

/* Books a pair; both must be free. */
void match_pair(struct match *m, uint32_t old, uint32_t new, enum match_kind kind);

#endif
