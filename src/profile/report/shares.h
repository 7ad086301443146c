/* Shares of objects or threads as text, JSON (docs/schema/shares.schema.json) and CSV. */
#ifndef MONARC_REPORT_SHARES_H
#define MONARC_REPORT_SHARES_H

#include "profile/analysis/shares.h"
#include "output/text.h"

/* `limit`: functions of a thread. */
void shares_text(struct out *out, const struct shares *t, struct names *names, size_t limit,
                 const struct text_style *style);
void shares_json(struct out *out, const struct shares *t, struct names *names);
void shares_csv(struct out *out, const struct shares *t, struct names *names);

#endif
