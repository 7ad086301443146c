/* Visits of a graph whose order has nothing to do with memory: what they read is asked for early.
 * The one place with prefetches; nothing but time depends on it. */
#include "profile/analysis/graph/graph.h"

/* How many visits ahead. Each stage relies on what the one before it brought. */
enum { AHEAD_STARTS = 16, AHEAD_LISTS = 12, AHEAD_ARCS = 8, AHEAD_ENDS = 4 };
enum { MOST_ARCS = 8 }; /* of a list: long ones are rare, and lie one behind the other */

static void fetch_starts(const struct graph *g, uint32_t node)
{
    __builtin_prefetch(&g->nodes[node]);
    __builtin_prefetch(&g->callers.start[node]);
    __builtin_prefetch(&g->callees.start[node]);
}

static void fetch_lists(const struct graph *g, uint32_t node)
{
    __builtin_prefetch(&g->callers.arc[g->callers.start[node]]);
    __builtin_prefetch(&g->callees.arc[g->callees.start[node]]);
}

static uint32_t last_of(const struct graph_lists *lists, uint32_t node)
{
    uint32_t start = lists->start[node], end = lists->start[node + 1];
    return end - start > MOST_ARCS ? start + MOST_ARCS : end;
}

static void fetch_arcs(const struct graph *g, const struct graph_lists *lists, uint32_t node)
{
    uint32_t end = last_of(lists, node);
    for (uint32_t i = lists->start[node]; i < end; i++)
        __builtin_prefetch(&g->arcs[lists->arc[i]]);
}

static void fetch_ends(const struct graph *g, const struct graph_visit *visit, uint32_t node)
{
    const char *ends = visit->ends;
    uint32_t end = last_of(&g->callers, node);
    for (uint32_t i = g->callers.start[node]; i < end; i++)
        __builtin_prefetch(ends + g->arcs[g->callers.arc[i]].caller * visit->end_bytes);
    end = last_of(&g->callees, node);
    for (uint32_t i = g->callees.start[node]; i < end; i++)
        __builtin_prefetch(ends + g->arcs[g->callees.arc[i]].callee * visit->end_bytes);
}

void graph_look_ahead(const struct graph *g, const struct graph_visit *visit)
{
    if (visit->len <= AHEAD_STARTS)
        return;
    uint32_t starts = visit->next[AHEAD_STARTS * visit->step];
    uint32_t lists = visit->next[AHEAD_LISTS * visit->step];
    uint32_t arcs = visit->next[AHEAD_ARCS * visit->step];
    uint32_t ends = visit->next[AHEAD_ENDS * visit->step];
    if (!graph_is_cycle(g, starts))
        fetch_starts(g, starts);
    if (!graph_is_cycle(g, lists))
        fetch_lists(g, lists);
    if (!graph_is_cycle(g, arcs)) {
        fetch_arcs(g, &g->callers, arcs);
        fetch_arcs(g, &g->callees, arcs);
    }
    if (!graph_is_cycle(g, ends))
        fetch_ends(g, visit, ends);
}
