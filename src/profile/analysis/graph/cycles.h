/* Cycles of the call graph and its topological order. Internal to the graph. */
#ifndef MONARC_PROFILE_ANALYSIS_CYCLES_H
#define MONARC_PROFILE_ANALYSIS_CYCLES_H

#include "profile/analysis/graph/graph.h"

/* Sets `order`, `cycle`, `head` and `next_member` of all functions, and g->cycles with a node for
 * each, appended to g->nodes (which must have room for half as many nodes again as functions).
 * Functions are met in the order of addresses, `roots` in between. */
void cycles_find(struct graph *g, const struct graph_root *roots, size_t roots_len);

#endif
