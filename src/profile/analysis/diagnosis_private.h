/* The parts of a diagnosis. Internal to it. */
#ifndef MONARC_ANALYSIS_DIAGNOSIS_PRIVATE_H
#define MONARC_ANALYSIS_DIAGNOSIS_PRIVATE_H

#include "profile/analysis/symptoms.h"

struct examination {
    struct diagnosis *d;
    const struct patient *p;
    struct names *names;
    struct arena *arena;
    bool fits; /* functions mean something for the profile */
};

/* Records a symptom; `evidence` lives in the arena. */
void report_symptom(struct examination *x, enum severity severity, const char *name,
                    const char *finding, const char *evidence, const char *remedy);

void examine_program(struct examination *x);
void examine_measurements(struct examination *x); /* needs p->measured */

#endif
