/* The orders in which a graph is shown: lists of arcs, members of cycles. */
#include "profile/analysis/graph/graph.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

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
