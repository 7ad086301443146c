/* The orders in which a graph is shown: lists of arcs, members of cycles, names. */
#include "analysis/graph.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Negative: left matters less. */
static int by_importance(uint32_t left, uint32_t right, const void *context)
{
    const struct graph *g = context;
    const struct graph_arc *l = &g->arcs[left], *r = &g->arcs[right];
    if (l->caller == l->callee || r->caller == r->callee)
        return l->caller == l->callee ? -1 : 1;
    bool l_internal = graph_arc_is_internal(g, l), r_internal = graph_arc_is_internal(g, r);
    if (l_internal != r_internal)
        return l_internal ? -1 : 1;
    double l_time = l->self + l->children, r_time = r->self + r->children;
    if (!l_internal && l_time != r_time)
        return l_time < r_time ? -1 : 1;
    return compare_u64(l->count, r->count);
}

static int by_unimportance(uint32_t left, uint32_t right, const void *context)
{
    return by_importance(right, left, context);
}

/* Collects a list, last arc first: GNU's insertion puts an equal arc before its equals, which is a
 * stable sort of the reversed list. */
static size_t reversed_list(const struct graph *g, uint32_t first, bool by_callee, uint32_t **list)
{
    size_t len = 0;
    for (uint32_t k = first; k != NO_ARC;
         k = by_callee ? g->arcs[k].next_callee : g->arcs[k].next_caller)
        len++;
    *list = malloc((len ? len : 1) * sizeof **list);
    if (!*list)
        memory_exhausted(len * sizeof **list);
    size_t i = len;
    for (uint32_t k = first; k != NO_ARC;
         k = by_callee ? g->arcs[k].next_callee : g->arcs[k].next_caller)
        (*list)[--i] = k;
    return len;
}

void graph_sort_callers(struct graph *g, uint32_t node)
{
    uint32_t *list;
    size_t len = reversed_list(g, g->nodes[node].callers, false, &list);
    sort_u32(list, len, by_importance, g);
    for (size_t i = 0; i < len; i++)
        g->arcs[list[i]].next_caller = i + 1 < len ? list[i + 1] : NO_ARC;
    g->nodes[node].callers = len ? list[0] : NO_ARC;
    free(list);
}

void graph_sort_callees(struct graph *g, uint32_t node)
{
    uint32_t *list;
    size_t len = reversed_list(g, g->nodes[node].callees, true, &list);
    sort_u32(list, len, by_unimportance, g);
    for (size_t i = 0; i < len; i++)
        g->arcs[list[i]].next_callee = i + 1 < len ? list[i + 1] : NO_ARC;
    g->nodes[node].callees = len ? list[0] : NO_ARC;
    free(list);
}

static int by_member_time(uint32_t left, uint32_t right, const void *context)
{
    const struct graph *g = context;
    const struct graph_node *l = &g->nodes[left], *r = &g->nodes[right];
    double l_time = l->shown_self + l->shown_children, r_time = r->shown_self + r->shown_children;
    if (l_time != r_time)
        return l_time > r_time ? -1 : 1;
    return compare_u64(r->calls, l->calls);
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

/* The first eight bytes of a name as a number that sorts like the name. */
static uint64_t name_prefix(const char *name)
{
    uint64_t prefix = 0;
    size_t i = 0;
    for (; i < 8 && name[i]; i++)
        prefix = prefix << 8 | (unsigned char)name[i];
    return i ? prefix << 8 * (8 - i) : 0;
}

struct names {
    const struct functions *f;
    const uint64_t *prefix;
};

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct names *n = context;
    if (n->prefix[left] != n->prefix[right])
        return n->prefix[left] < n->prefix[right] ? -1 : 1;
    if (!(n->prefix[left] & 0xff))
        return 0; /* both end within the prefix */
    return strcmp(n->f->at[left].name + 8, n->f->at[right].name + 8);
}

uint32_t *functions_name_order(const struct functions *f, struct arena *a)
{
    struct arena scratch = {0};
    uint64_t *prefix = ARENA_NEW(&scratch, uint64_t, f->len);
    uint32_t *sorted = ARENA_NEW(&scratch, uint32_t, f->len);
    for (uint32_t i = 0; i < f->len; i++) {
        prefix[i] = name_prefix(f->at[i].name);
        sorted[i] = i;
    }
    struct names names = {f, prefix};
    sort_u32(sorted, f->len, by_name, &names);
    uint32_t *order = ARENA_NEW(a, uint32_t, f->len), number = 0;
    for (uint32_t i = 0; i < f->len; i++) {
        number += i && by_name(sorted[i - 1], sorted[i], &names) != 0;
        order[sorted[i]] = number;
    }
    arena_deinit(&scratch);
    return order;
}
