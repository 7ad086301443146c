/* Why is a profile empty or strange? Everything a program and its profile give away, as a table of
 * symptoms with the evidence and what to do about it. */
#ifndef MONARC_PROFILE_ANALYSIS_DIAGNOSIS_H
#define MONARC_PROFILE_ANALYSIS_DIAGNOSIS_H

#include "profile/analysis/symptoms.h"

/* Texts live in `a`; the list itself is freed with diagnosis_deinit(). Errors come first. */
void diagnose(struct diagnosis *d, const struct diagnosis_input *p, struct names *names,
              struct arena *a);

#endif
