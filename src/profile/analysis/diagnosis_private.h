/* The examination of what was measured. Internal to the diagnosis. */
#ifndef MONARC_PROFILE_ANALYSIS_DIAGNOSIS_PRIVATE_H
#define MONARC_PROFILE_ANALYSIS_DIAGNOSIS_PRIVATE_H

#include "profile/analysis/diagnosis.h"

/* An examination while it goes on. */
struct examination {
    struct diagnosis *d;
    const struct diagnosis_input *p;
    struct names *names;
    struct arena *arena;
    bool fits; /* functions mean something for the profile */
};

/* Records a symptom; `evidence` lives in the arena. */
void report_symptom(struct examination *x, enum severity severity, const char *name,
                    const char *finding, const char *evidence, const char *remedy);

void examine_measurements(struct examination *x); /* needs p->measured */

/* Examines the embedded recorder's report on itself. Internal to the diagnosis. */

void examine_embedded(struct examination *x); /* needs p->measured and p->embedded */

#endif
