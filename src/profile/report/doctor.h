/* A diagnosis as text or JSON (docs/schema/doctor.schema.json). */
#ifndef MONARC_REPORT_DOCTOR_H
#define MONARC_REPORT_DOCTOR_H

#include "profile/analysis/symptoms.h"
#include "output/text.h"

void doctor_text(struct out *out, const struct diagnosis *d, const struct patient *p,
                 const struct text_style *style);
void doctor_json(struct out *out, const struct diagnosis *d, const struct patient *p);

#endif
