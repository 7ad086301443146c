/* The call graph with times that were measured: whole call stacks say how much of a function's time
 * belongs to which of its callers, so that nothing is split by call counts and functions that call
 * each other around keep times of their own.
 *
 * Calls that only the stacks know, of functions compiled without -pg, have arcs of count 0, as
 * static ones have. A caller that is on a stack further out as well counts once; so the times of a
 * function's callers add up to more than its own where there is recursion among them. */
#ifndef MONARC_PROFILE_ANALYSIS_GRAPH_MEASURED_H
#define MONARC_PROFILE_ANALYSIS_GRAPH_MEASURED_H

#include "profile/analysis/graph/graph.h"
#include "profile/analysis/stacks.h"

/* In place of graph_build(), without ranks. No nodes are cycles. */
void graph_build_measured(struct graph *g, struct functions *f, const struct profile *p,
                          const struct attribution *t, const struct stacks *stacks,
                          struct arena *a);

#endif
