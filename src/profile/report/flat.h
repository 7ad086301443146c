/* The flat profile as text, JSON (docs/schema/flat.schema.json) and CSV. */
#ifndef MONARC_REPORT_FLAT_H
#define MONARC_REPORT_FLAT_H

#include "profile/analysis/flat.h"
#include "output/text.h"

void flat_text(struct out *out, const struct flat *t, struct names *names,
               const struct text_style *style);
void flat_json(struct out *out, const struct flat *t, struct names *names);
void flat_csv(struct out *out, const struct flat *t, struct names *names);

#endif
