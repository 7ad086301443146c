/* What there is to doubt in a recording. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_DIAGNOSIS_RECORDING_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_DIAGNOSIS_RECORDING_H

#include "profile/analysis/diagnosis.h"

struct recording_diagnosis_input {
    const struct space *space;
    const struct functions *functions;
    const struct recording_weights *weights;
    const struct stacks *stacks;
    const struct recording_summary *run;
};

/* As diagnose(). Files of the objects must be open, as far as they are to be had. */
void diagnose_run(struct diagnosis *d, const struct recording_diagnosis_input *p, struct arena *a);

/* A recording that cannot be used. */
void diagnose_unreadable(struct diagnosis *d, const char *why);

#endif
