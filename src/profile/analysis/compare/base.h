/* A comparison looked up from its new side, for reports that show the old one beside their rows. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_BASE_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_BASE_H

#include "profile/analysis/compare/comparison.h"

struct base {
    struct side old, new;
    struct comparison comparison;
    const struct change **change_of; /* per function of the new side; NULL: nothing was measured */
    struct arena arena;
};

/* When both sides are filled in: the new one has a single run, so that its functions' numbers are
 * those of the run. */
void base_make(struct base *b);
void base_deinit(struct base *b);

/* What the base has of a function; NULL: nothing. */
const struct change *base_of(const struct base *b, uint32_t function);

/* Calls from one function to another in an average run of the base. */
double base_arc_calls(const struct base *b, uint32_t caller, uint32_t callee);

#endif
