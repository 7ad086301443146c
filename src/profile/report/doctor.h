/* A diagnosis as text or JSON (docs/schema/doctor.schema.json). */
#ifndef MONARC_PROFILE_REPORT_DOCTOR_H
#define MONARC_PROFILE_REPORT_DOCTOR_H

#include "profile/analysis/diagnosis.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

void doctor_text(struct out *out, const struct report_input *in);
void doctor_json(struct out *out, const struct report_input *in);

#endif
