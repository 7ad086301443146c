/* The call graph as text, JSON (docs/schema/graph.schema.json) and CSV: entries, or trees of
 * callers or callees. */
#ifndef MONARC_REPORT_GRAPH_H
#define MONARC_REPORT_GRAPH_H

#include "profile/analysis/entries.h"
#include "profile/analysis/tree.h"
#include "output/text.h"

void graph_text(struct out *out, const struct entries *t, struct names *names,
                const struct text_style *style);
void graph_json(struct out *out, const struct entries *t, struct names *names);
void graph_csv(struct out *out, const struct entries *t, struct names *names);

/* Several trees of one profile make one report; `len` is at least 1. */
void trees_text(struct out *out, const struct tree *trees, size_t len, struct names *names,
                const struct text_style *style);
void trees_json(struct out *out, const struct tree *trees, size_t len, struct names *names);
void trees_csv(struct out *out, const struct tree *trees, size_t len, struct names *names);

#endif
