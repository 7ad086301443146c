/* Shares of objects or threads as text, JSON (docs/schema/shares.schema.json) and CSV. */
#ifndef MONARC_PROFILE_REPORT_SHARES_H
#define MONARC_PROFILE_REPORT_SHARES_H

#include "profile/analysis/tables.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

void shares_text(struct out *out, const struct report_input *in);
void shares_json(struct out *out, const struct report_input *in);
void shares_csv(struct out *out, const struct report_input *in);

#endif
