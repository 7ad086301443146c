/* Whether a profile was recorded by this program: files do not say, so it is judged by what cannot
 * be true otherwise.
 *
 *   - pointer size and byte order are the program's;
 *   - the histogram lies over the program's code, and ends where glibc's startup code would have
 *     ended it (only asked of programs with that startup code);
 *   - most samples are in executable sections;
 *   - a counted function calls the recorder once, in its prologue: callees of arcs lie close behind
 *     the start of a function, no two in the same one.
 *
 * Profiles of too few arcs and samples can pass by accident; a profile of the right program fails
 * only if it was recorded with a load bias, which is told apart. */
#ifndef MONARC_PROFILE_ANALYSIS_FIT_H
#define MONARC_PROFILE_ANALYSIS_FIT_H

#include "profile/analysis/functions.h"
#include "profile/model/profile.h"

enum fit_kind {
    FIT_WELL,
    FIT_OTHER_WORD,
    FIT_OTHER_ORDER,
    FIT_BIASED,  /* addresses are those of one run of a position-independent program */
    FIT_OUTSIDE, /* no histogram touches the program's code */
    FIT_OTHER_END,
    FIT_SAMPLES_ASTRAY,
    FIT_CALLEES_ASTRAY,
};

struct fit {
    enum fit_kind kind;
    uint64_t bias;                     /* of FIT_BIASED */
    uint64_t code_low, code_high;      /* of executable sections and segments */
    uint64_t range_low, range_high;    /* of all histograms */
    uint64_t samples, samples_outside; /* of executable sections and segments */
    uint64_t callees, callees_astray;  /* distinct addresses */
};

enum { PROLOGUE_BYTES = 64 }; /* from a function's start to the return of its call to mcount */

void fit_judge(struct fit *fit, const struct profile *p, struct object *o,
               const struct functions *f);

/* How a misfit was noticed, as the rest of a sentence; in the arena. */
const char *fit_evidence(const struct fit *fit, const struct profile *p, const struct object *o,
                         struct arena *a);

#endif
