/* Annotated source, in three forms of one table. */
#ifndef MONARC_PROFILE_REPORT_ANNOTATE_H
#define MONARC_PROFILE_REPORT_ANNOTATE_H

#include "profile/analysis/source_lines.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

void annotate_text(struct out *out, const struct report_input *in);
void annotate_json(struct out *out, const struct report_input *in);

/* A line of source as a terminal may have it: tabs as spaces, control bytes as `?`, cut where it
 * gets absurd. */
void text_source(struct out *out, struct bytes line);

#endif
