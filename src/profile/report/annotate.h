/* Annotated source, in three forms of one table. */
#ifndef MONARC_REPORT_ANNOTATE_H
#define MONARC_REPORT_ANNOTATE_H

#include "profile/analysis/annotate.h"
#include "output/text.h"

void annotate_text(struct out *out, const struct annotated *t, struct names *names,
                   const struct text_style *style);
void annotate_json(struct out *out, const struct annotated *t, struct names *names);

/* A line of source as a terminal may have it: tabs as spaces, control bytes as `?`, cut where it
 * gets absurd. */
void text_source(struct out *out, struct bytes line);

#endif
