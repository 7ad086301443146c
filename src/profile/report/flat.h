/* The flat profile as text, JSON (docs/schema/flat.schema.json) and CSV. */
#ifndef MONARC_PROFILE_REPORT_FLAT_H
#define MONARC_PROFILE_REPORT_FLAT_H

#include "profile/analysis/tables.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

void flat_text(struct out *out, const struct report_input *in);
void flat_json(struct out *out, const struct report_input *in);
void flat_csv(struct out *out, const struct report_input *in);

#endif
