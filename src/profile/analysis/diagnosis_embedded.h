/* The examination of what the embedded recorder says of itself. Internal to the diagnosis. */
#ifndef MONARC_PROFILE_ANALYSIS_DIAGNOSIS_EMBEDDED_H
#define MONARC_PROFILE_ANALYSIS_DIAGNOSIS_EMBEDDED_H

#include "profile/analysis/symptoms.h"

void examine_embedded(struct examination *x); /* needs p->measured and p->embedded */

#endif
