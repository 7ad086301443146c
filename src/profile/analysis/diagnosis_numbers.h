/* The examination of what was measured. Internal to the diagnosis. */
#ifndef MONARC_PROFILE_ANALYSIS_DIAGNOSIS_NUMBERS_H
#define MONARC_PROFILE_ANALYSIS_DIAGNOSIS_NUMBERS_H

#include "profile/analysis/symptoms.h"

void examine_measurements(struct examination *x); /* needs p->measured */

#endif
