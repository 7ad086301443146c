/* The orders in which a graph is visited and shown: what will be read soon, lists of arcs, members
 * of cycles, and ranks, which are the numbers in brackets.
 *
 * All orders are GNU gprof's, down to ties, so every sort here is stable: ranks by four passes of a
 * radix sort, the last key first; lists of arcs by insertion, since nearly all are short.
 *
 * Visits by rank or topological number jump about in memory. graph_look_ahead() asks for what the
 * next visits will read: nodes and starts of lists 16 visits ahead, lists 12, arcs 8, the arcs'
 * other ends 4. Nothing but time depends on it. */
#include "profile/analysis/graph/graph.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* How many visits ahead. Each stage relies on what the one before it brought. */
enum { AHEAD_STARTS = 16, AHEAD_LISTS = 12, AHEAD_ARCS = 8, AHEAD_ENDS = 4 };
enum { MOST_ARCS = 8 }; /* of a list: long ones are rare, and are contiguous */

/* The end of what is fetched of a node's list. */
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

void graph_look_ahead(const struct graph *g, const struct graph_visit *visit)
{
    if (visit->len <= AHEAD_STARTS)
        return;
    uint32_t starts = visit->next[AHEAD_STARTS * visit->step];
    uint32_t lists = visit->next[AHEAD_LISTS * visit->step];
    uint32_t arcs = visit->next[AHEAD_ARCS * visit->step];
    uint32_t ends = visit->next[AHEAD_ENDS * visit->step];
    if (!graph_is_cycle(g, starts)) {
        __builtin_prefetch(&g->nodes[starts]);
        __builtin_prefetch(&g->callers.start[starts]);
        __builtin_prefetch(&g->callees.start[starts]);
    }
    if (!graph_is_cycle(g, lists)) {
        __builtin_prefetch(&g->callers.arc[g->callers.start[lists]]);
        __builtin_prefetch(&g->callees.arc[g->callees.start[lists]]);
    }
    if (!graph_is_cycle(g, arcs)) {
        fetch_arcs(g, &g->callers, arcs);
        fetch_arcs(g, &g->callees, arcs);
    }
    if (!graph_is_cycle(g, ends)) {
        const char *at = visit->ends;
        uint32_t end = last_of(&g->callers, ends);
        for (uint32_t i = g->callers.start[ends]; i < end; i++)
            __builtin_prefetch(at + g->arcs[g->callers.arc[i]].caller * visit->end_bytes);
        end = last_of(&g->callees, ends);
        for (uint32_t i = g->callees.start[ends]; i < end; i++)
            __builtin_prefetch(at + g->arcs[g->callees.arc[i]].callee * visit->end_bytes);
    }
}

/* --- lists of arcs --- */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* What an arc is sorted by, copied out of the graph: comparisons then read no nodes. */
static struct sortable_arc sortable(const struct graph *g, uint32_t number)
{
    const struct graph_arc *arc = &g->arcs[number];
    bool is_internal = graph_arc_is_internal(g, arc);
    return (struct sortable_arc){.arc = number,
                                 .class = arc->caller == arc->callee ? CALLS_ITSELF
                                          : is_internal              ? CALLS_WITHIN_CYCLE
                                                                     : CALLS,
                                 .time = is_internal ? 0 : arc->self + arc->children,
                                 .count = arc->count};
}

/* Negative: left matters less. */
static int compare_importance(const struct sortable_arc *l, const struct sortable_arc *r)
{
    if (l->class != r->class)
        return l->class < r->class ? -1 : 1;
    if (l->time != r->time)
        return l->time < r->time ? -1 : 1;
    return compare_u64(l->count, r->count);
}

static int by_importance(uint32_t left, uint32_t right, const void *context)
{
    const struct sortable_arc *at = context;
    return compare_importance(&at[left], &at[right]);
}

/* Stable, ascending; short lists by insertion, long ones by way of a permutation. */
static void sort_arcs(struct arc_list *list)
{
    enum { SHORT = 24 };
    struct sortable_arc *at = list->all.at;
    size_t len = list->all.len;
    for (size_t i = 1; len <= SHORT && i < len; i++) {
        struct sortable_arc moving = at[i];
        size_t k = i;
        for (; k && compare_importance(&at[k - 1], &moving) > 0; k--)
            at[k] = at[k - 1];
        at[k] = moving;
    }
    if (len <= SHORT)
        return;
    vec_reserve(&list->copy, len);
    vec_reserve(&list->order, len);
    memcpy(list->copy.at, at, len * sizeof *at);
    for (uint32_t i = 0; i < len; i++)
        list->order.at[i] = i;
    sort_u32(list->order.at, len, by_importance, list->copy.at);
    for (size_t i = 0; i < len; i++)
        at[i] = list->copy.at[list->order.at[i]];
}

void arc_list_deinit(struct arc_list *list)
{
    vec_free(&list->all);
    vec_free(&list->copy);
    vec_free(&list->order);
}

/* GNU inserts arcs, newest first, before their equals, once ascending and once descending. That is
 * a stable sort of the list oldest first; descending, of the list newest first, then reversed. */
void graph_sort_callers(const struct graph *g, uint32_t function, struct arc_list *list)
{
    uint32_t start = g->callers.start[function], end = g->callers.start[function + 1];
    list->all.len = 0;
    vec_reserve(&list->all, end - start);
    while (end-- > start)
        list->all.at[list->all.len++] = sortable(g, g->callers.arc[end]);
    sort_arcs(list);
}

void graph_sort_callees(const struct graph *g, uint32_t function, struct arc_list *list)
{
    uint32_t start = g->callees.start[function], end = g->callees.start[function + 1];
    list->all.len = 0;
    vec_reserve(&list->all, end - start);
    for (; start < end; start++)
        list->all.at[list->all.len++] = sortable(g, g->callees.arc[start]);
    sort_arcs(list);
    struct sortable_arc *at = list->all.at;
    size_t len = list->all.len;
    for (size_t i = 0; i < len / 2; i++) {
        struct sortable_arc other = at[i];
        at[i] = at[len - 1 - i];
        at[len - 1 - i] = other;
    }
}

/* Most time first, then most calls. */
static int by_member_time(uint32_t left, uint32_t right, const void *context)
{
    const struct graph *g = context;
    const struct graph_node *l = &g->nodes[left], *r = &g->nodes[right];
    double l_time = l->shown_self + l->shown_children, r_time = r->shown_self + r->shown_children;
    if (l_time != r_time)
        return l_time > r_time ? -1 : 1;
    return compare_u64(r->calls + r->self_calls, l->calls + l->self_calls);
}

void graph_sort_members(struct graph *g, uint32_t cycle_node)
{
    VEC(uint32_t) members = {0};
    for (uint32_t m = g->nodes[cycle_node].next_member; m != NO_NODE; m = g->nodes[m].next_member)
        vec_push(&members, m);
    sort_u32(members.at, members.len, by_member_time, g);
    g->nodes[cycle_node].next_member = members.at[0];
    for (size_t i = 0; i < members.len; i++)
        g->nodes[members.at[i]].next_member = i + 1 < members.len ? members.at[i + 1] : NO_NODE;
    vec_free(&members);
}

/* --- ranks ---------------------------------------------------------------------------------- */

/* Cycles before names without a leading underscore before those with one. */
static uint64_t build_kind_key(const struct graph *g, uint32_t node)
{
    return graph_is_cycle(g, node) ? 0 : g->functions->at[node].name[0] == '_' ? 2 : 1;
}

/* What is ranked: nodes, and what is unlisted. */
struct ranking {
    struct keyed *items; /* nodes, then unlisted entries from g->len on */
    uint64_t *calls, *kind, *total;
    uint32_t len;
};

/* The keys of a node. Cycles are not sorted by calls and names: they stand in the order of their
 * numbers. */
static void build_add_node(struct ranking *r, const struct graph *g, uint32_t node)
{
    const struct graph_node *n = &g->nodes[node];
    bool is_cycle = graph_is_cycle(g, node);
    r->items[r->len++] = (struct keyed){is_cycle ? 0 : g->functions->name_order[node], node};
    r->calls[node] = is_cycle ? 0 : ~n->calls;
    r->kind[node] = build_kind_key(g, node);
    r->total[node] = sort_descending(n->shown_self + n->shown_children);
}

/* The keys of a run of unlisted entries: its owner's name, and nothing measured. */
static void build_add_unlisted(struct ranking *r, const struct graph *g, uint32_t run,
                               uint32_t owner)
{
    uint32_t item = g->len + run;
    r->items[r->len++] = (struct keyed){g->functions->name_order[owner], item};
    r->calls[item] = ~UINT64_C(0);
    r->kind[item] = build_kind_key(g, owner);
    r->total[item] = sort_descending(0);
}

/* All in the order of addresses, then cycles. */
static void build_add_all(struct ranking *r, const struct graph *g, const struct graph_rules *rules)
{
    const struct functions *f = g->functions;
    uint32_t run = 0, owner = 0;
    for (uint32_t i = 0; i < f->len; i++) {
        for (; run < rules->unlisted_len && rules->unlisted[run].start < f->at[i].start; run++)
            build_add_unlisted(r, g, run, owner);
        owner = f->at[i].is_function ? i : owner;
        build_add_node(r, g, i);
    }
    for (; run < rules->unlisted_len; run++)
        build_add_unlisted(r, g, run, owner);
    for (uint32_t i = f->len; i < g->len; i++)
        build_add_node(r, g, i);
}

/* By time, descending; then kind; then calls, descending; then name. */
void graph_rank(struct graph *g, struct graph_rules rules, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t all = g->len + rules.unlisted_len;
    struct ranking r = {.items = ARENA_NEW(&scratch, struct keyed, all),
                        .calls = ARENA_NEW(&scratch, uint64_t, all),
                        .kind = ARENA_NEW(&scratch, uint64_t, all),
                        .total = ARENA_NEW(&scratch, uint64_t, all)};
    build_add_all(&r, g, &rules);
    const uint64_t *keys[] = {r.calls, r.kind, r.total};
    sort_by_keys(r.items, all, keys, sizeof keys / sizeof *keys);
    g->ranked = ARENA_NEW(a, uint32_t, g->len);
    uint32_t next = 1, nodes = 0;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t item = r.items[i].item;
        if (item >= g->len) {
            next += rules.unlisted[item - g->len].count;
            continue;
        }
        g->ranked[nodes++] = item;
        g->nodes[item].rank = next++;
    }
    arena_deinit(&scratch);
}
