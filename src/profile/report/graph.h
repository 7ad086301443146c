/* The call graph as text, JSON (docs/schema/graph.schema.json) and CSV: entries, or trees of
 * callers or callees. */
#ifndef MONARC_PROFILE_REPORT_GRAPH_H
#define MONARC_PROFILE_REPORT_GRAPH_H

#include "profile/analysis/tables.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

void graph_text(struct out *out, const struct report_input *in);
void graph_json(struct out *out, const struct report_input *in);
void graph_dot(struct out *out, const struct report_input *in);
void graph_csv(struct out *out, const struct report_input *in);

void trees_text(struct out *out, const struct report_input *in);
void trees_json(struct out *out, const struct report_input *in);
void trees_csv(struct out *out, const struct report_input *in);

#endif
