/* Building the call graph and passing time up it. The order of every sum is GNU gprof's, so that
 * the results agree to the last bit. */
#include "analysis/graph.h"

#include "analysis/cycles.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* --- arcs ---------------------------------------------------------------------------------- */

/* Open addressing over arc indices; the key is in the arc itself. */
struct arc_index {
    uint32_t *slots; /* arc + 1, 0: free */
    size_t mask;
};

static size_t pair_hash(uint32_t caller, uint32_t callee)
{
    uint64_t h = ((uint64_t)caller << 32 | callee) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint32_t *arc_slot(const struct graph *g, const struct arc_index *index, uint32_t caller,
                          uint32_t callee)
{
    size_t i = pair_hash(caller, callee) & index->mask;
    for (; index->slots[i]; i = (i + 1) & index->mask) {
        const struct graph_arc *arc = &g->arcs[index->slots[i] - 1];
        if (arc->caller == caller && arc->callee == callee)
            break;
    }
    return &index->slots[i];
}

/* Sums into the arc of the pair, which is new at the front of both lists if there was none. */
static void add_calls(struct graph *g, const struct arc_index *index, uint32_t caller,
                      uint32_t callee, uint64_t count)
{
    g->nodes[callee].calls += count;
    uint32_t *slot = arc_slot(g, index, caller, callee);
    if (*slot) {
        g->arcs[*slot - 1].count += count;
        return;
    }
    uint32_t id = g->arcs_len++;
    *slot = id + 1;
    g->arcs[id] = (struct graph_arc){.caller = caller,
                                     .callee = callee,
                                     .next_callee = g->nodes[caller].callees,
                                     .next_caller = g->nodes[callee].callers,
                                     .count = count};
    g->nodes[caller].callees = id;
    g->nodes[callee].callers = id;
}

static void read_arcs(struct graph *g, const struct profile *p, const struct selection *s,
                      struct graph_rules rules, struct arena *a)
{
    struct arena scratch = {0};
    struct arc_index index = {.mask = 63};
    while (index.mask / 2 < p->arcs.len)
        index.mask = index.mask * 2 + 1;
    index.slots = ARENA_NEW(&scratch, uint32_t, index.mask + 1);
    g->arcs = ARENA_NEW(a, struct graph_arc, p->arcs.len);

    const struct functions *f = g->functions;
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        uint32_t caller = functions_find(f, arc->from), callee = functions_find(f, arc->self);
        while (rules.is_gnu && callee != NO_FUNCTION && !f->at[callee].is_function)
            callee--; /* from 0 to NO_FUNCTION */
        if (callee == NO_FUNCTION) {
            g->unknown_callees += arc->count;
        } else if (caller == NO_FUNCTION) {
            g->unknown_callers += arc->count;
            g->nodes[callee].calls += rules.is_gnu ? 0 : arc->count;
        } else if (selection_admits_arc(s, f, caller, callee)) {
            add_calls(g, &index, caller, callee, arc->count);
        }
    }
    arena_deinit(&scratch);
}

/* Calls of a function to itself count apart. */
static void separate_recursion(struct graph *g)
{
    for (uint32_t i = 0; i < g->arcs_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        if (arc->caller != arc->callee)
            continue;
        g->nodes[arc->caller].calls -= arc->count;
        g->nodes[arc->caller].self_calls = arc->count;
    }
}

/* --- what is shown, and how much of it is passed on ----------------------------------------- */

static void inherit_from(struct graph *g, struct graph_node *to, uint32_t member, uint32_t except)
{
    for (uint32_t k = g->nodes[member].callers; k != NO_ARC; k = g->arcs[k].next_caller) {
        const struct graph_arc *arc = &g->arcs[k];
        const struct graph_node *caller = &g->nodes[arc->caller];
        if (arc->caller == member || caller->head == except)
            continue;
        to->is_shown |= caller->is_shown;
        if (to->calls)
            to->fraction += caller->fraction * ((double)arc->count / (double)to->calls);
    }
}

/* A node is as visible, and passes on as large a part of its time, as its callers do. */
static void inherit(struct graph *g, uint32_t node)
{
    uint32_t head = g->nodes[node].head;
    g->nodes[head].is_shown = false;
    g->nodes[head].fraction = 0;
    if (head == node) {
        inherit_from(g, &g->nodes[node], node, NO_NODE);
        return;
    }
    for (uint32_t m = g->nodes[head].next_member; m != NO_NODE; m = g->nodes[m].next_member)
        inherit_from(g, &g->nodes[head], m, head);
    for (uint32_t m = g->nodes[head].next_member; m != NO_NODE; m = g->nodes[m].next_member) {
        g->nodes[m].is_shown = g->nodes[head].is_shown;
        g->nodes[m].fraction = g->nodes[head].fraction;
    }
}

static void decide(struct graph_node *n, const struct selection *s, uint32_t function)
{
    if (!n->is_shown)
        n->is_shown = selection_admits(s, ASK_GRAPH, function);
    else if (!selection_includes(s, ASK_GRAPH, function) &&
             selection_excludes(s, ASK_GRAPH, function))
        n->is_shown = false;

    if (n->fraction == 0)
        n->fraction = selection_admits(s, ASK_TIME, function) ? 1 : 0;
    else if (!selection_includes(s, ASK_TIME, function) &&
             selection_excludes(s, ASK_TIME, function))
        n->fraction = 0;
}

/* From roots to leaves. */
static void propagate_fractions(struct graph *g, const uint32_t *by_order,
                                const struct selection *s)
{
    uint32_t done = NO_NODE;
    for (uint32_t i = g->functions->len; i-- > 0;) {
        uint32_t node = by_order[i];
        struct graph_node *n = &g->nodes[node];
        if (n->head != done) {
            done = n->head;
            inherit(g, node);
        }
        decide(n, s, node);
        n->shown_self = n->self * n->fraction;
        g->shown_total += n->shown_self;
    }
}

/* --- time ----------------------------------------------------------------------------------- */

static void sum_cycles(struct graph *g)
{
    for (uint32_t c = g->functions->len; c < g->len; c++) {
        struct graph_node *cycle = &g->nodes[c];
        for (uint32_t m = cycle->next_member; m != NO_NODE; m = g->nodes[m].next_member)
            if (g->nodes[m].fraction != 0)
                cycle->self += g->nodes[m].self;
        cycle->shown_self = cycle->fraction * cycle->self;
    }
}

static void gather_from_callees(struct graph *g, uint32_t node)
{
    struct graph_node *caller = &g->nodes[node];
    if (caller->fraction == 0)
        return;
    for (uint32_t k = caller->callees; k != NO_ARC; k = g->arcs[k].next_callee) {
        struct graph_arc *arc = &g->arcs[k];
        if (!arc->count || g->nodes[arc->callee].fraction == 0 || graph_arc_is_internal(g, arc))
            continue;
        const struct graph_node *callee = &g->nodes[g->nodes[arc->callee].head];
        if (!callee->calls)
            continue;
        double part = (double)arc->count / (double)callee->calls;
        arc->self = callee->self * part;
        arc->children = callee->children * part;
        double share = arc->self + arc->children, shown = caller->fraction * share;
        caller->children += share;
        caller->shown_children += shown;
        arc->self *= caller->fraction;
        arc->children *= caller->fraction;
        if (caller->head != node) {
            g->nodes[caller->head].children += share;
            g->nodes[caller->head].shown_children += shown;
        }
    }
}

/* Functions by topological number, those of one cycle in address order. */
static uint32_t *topological_order(const struct graph *g, struct arena *a)
{
    uint32_t n = g->functions->len;
    uint32_t *by_order = ARENA_NEW(a, uint32_t, n), *place = ARENA_NEW(a, uint32_t, n + 2);
    for (uint32_t i = 0; i < n; i++)
        place[g->nodes[i].order + 1]++;
    for (uint32_t i = 1; i <= n; i++)
        place[i] += place[i - 1];
    for (uint32_t i = 0; i < n; i++)
        by_order[place[g->nodes[i].order]++] = i;
    return by_order;
}

/* --- ranks ---------------------------------------------------------------------------------- */

struct ranking {
    const struct graph *g;
    const uint32_t *name_order;
};

static int by_total(uint32_t left, uint32_t right, const void *context)
{
    const struct ranking *r = context;
    const struct graph_node *l = &r->g->nodes[left], *k = &r->g->nodes[right];
    double l_time = l->shown_self + l->shown_children, k_time = k->shown_self + k->shown_children;
    if (l_time != k_time)
        return l_time < k_time ? 1 : -1;
    if (graph_is_cycle(r->g, left))
        return -1;
    if (graph_is_cycle(r->g, right))
        return 1;
    const char *l_name = r->g->functions->at[left].name, *k_name = r->g->functions->at[right].name;
    if ((l_name[0] == '_') != (k_name[0] == '_'))
        return l_name[0] == '_' ? 1 : -1;
    if (l->calls != k->calls)
        return l->calls < k->calls ? 1 : -1;
    return (r->name_order[left] > r->name_order[right]) -
           (r->name_order[left] < r->name_order[right]);
}

static void rank(struct graph *g, struct arena *a)
{
    struct ranking r = {g, functions_name_order(g->functions, a)};
    g->ranked = ARENA_NEW(a, uint32_t, g->len);
    for (uint32_t i = 0; i < g->len; i++)
        g->ranked[i] = i;
    sort_u32(g->ranked, g->len, by_total, &r);
    for (uint32_t i = 0; i < g->len; i++)
        g->nodes[g->ranked[i]].rank = i + 1;
}

/* --- the whole ------------------------------------------------------------------------------ */

void graph_build(struct graph *g, const struct functions *f, const struct profile *p,
                 const struct attribution *t, const struct selection *s, struct graph_rules rules,
                 struct arena *a)
{
    *g = (struct graph){.functions = f, .len = f->len};
    g->nodes = ARENA_NEW(a, struct graph_node, f->len + f->len / 2 + 1);
    for (uint32_t i = 0; i < f->len; i++)
        g->nodes[i] = (struct graph_node){.self = t->self[i],
                                          .callees = NO_ARC,
                                          .callers = NO_ARC,
                                          .head = i,
                                          .next_member = NO_NODE};
    read_arcs(g, p, s, rules, a);
    separate_recursion(g);
    cycles_find(g);

    struct arena scratch = {0};
    const uint32_t *by_order = topological_order(g, &scratch);
    propagate_fractions(g, by_order, s);
    sum_cycles(g);
    for (uint32_t i = 0; i < f->len; i++)
        gather_from_callees(g, by_order[i]);
    arena_deinit(&scratch);
    rank(g, a);
}
