/* Building the call graph and passing time up it. The order of every sum is GNU gprof's, so that
 * the results agree to the last bit. */
#include "profile/analysis/graph/graph.h"

#include "profile/analysis/graph/cycles.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* --- arcs ---------------------------------------------------------------------------------- */

/* The functions at both ends of each arc of the profile. */
struct ends {
    const struct graph *g;
    const struct profile *profile;
    bool labels_are_inside;
    struct end_pair {
        uint32_t caller, callee;
        bool is_inside;
    } * pair;
};

enum { ENDS_A_PIECE = 16384 };

static void build_find_ends(size_t piece, void *context)
{
    struct ends *ends = context;
    const struct functions *f = ends->g->functions;
    size_t end = (piece + 1) * ENDS_A_PIECE;
    end = end < ends->profile->arcs.len ? end : ends->profile->arcs.len;
    for (size_t i = piece * ENDS_A_PIECE; i < end; i++) {
        const struct arc *arc = &ends->profile->arcs.at[i];
        uint32_t caller = functions_find(f, arc->from), callee = functions_find(f, arc->self);
        while (ends->labels_are_inside && callee != NO_FUNCTION && !f->at[callee].is_function)
            callee--; /* from 0 to NO_FUNCTION */
        /* A function enters its own piece: no call of a function. */
        bool is_inside = callee != NO_FUNCTION && f->at[callee].piece_of &&
                         functions_whole(f, caller) == functions_whole(f, callee);
        ends->pair[i] =
            (struct end_pair){functions_whole(f, caller), functions_whole(f, callee), is_inside};
    }
}

/* Finds the arc of a pair. Recorders write the arcs of one caller next to each other; while that
 * holds, the newest arc of the callee is the only candidate. Once a caller returns after others, a
 * hash table of arc numbers takes over. */
struct arc_finder {
    struct graph *g;
    struct arena scratch;
    uint32_t *newest; /* by callee: arc + 1 */
    bool *is_seen;    /* by caller */
    uint32_t caller;  /* of the arc before */
    uint32_t *slots;  /* arc + 1; NULL until needed */
    size_t mask;
};

static uint32_t *build_hash_slot(const struct arc_finder *f, uint32_t caller, uint32_t callee)
{
    uint64_t h = ((uint64_t)caller << 32 | callee) * 0x9e3779b97f4a7c15u;
    size_t i = (h ^ h >> 29) & f->mask;
    for (; f->slots[i]; i = (i + 1) & f->mask) {
        const struct graph_arc *arc = &f->g->arcs[f->slots[i] - 1];
        if (arc->caller == caller && arc->callee == callee)
            break;
    }
    return &f->slots[i];
}

static void build_start_hashing(struct arc_finder *f, size_t most)
{
    for (f->mask = 63; f->mask / 2 < most;)
        f->mask = f->mask * 2 + 1;
    f->slots = ARENA_NEW(&f->scratch, uint32_t, f->mask + 1);
    for (uint32_t i = 0; i < f->g->arcs_len; i++)
        *build_hash_slot(f, f->g->arcs[i].caller, f->g->arcs[i].callee) = i + 1;
}

/* Where the number of the pair's arc is kept: 0 there if it has none yet, or, without hashing, if
 * another caller's arc stands there. */
static uint32_t *build_arc_place(struct arc_finder *f, uint32_t caller, uint32_t callee,
                                 size_t most)
{
    if (!f->slots && caller != f->caller && f->is_seen[caller])
        build_start_hashing(f, most);
    f->caller = caller;
    f->is_seen[caller] = true;
    if (f->slots)
        return build_hash_slot(f, caller, callee);
    uint32_t *newest = &f->newest[callee];
    if (*newest && f->g->arcs[*newest - 1].caller != caller)
        *newest = 0;
    return newest;
}

static void build_add_calls(struct arc_finder *f, struct end_pair pair, uint64_t count, size_t most)
{
    struct graph *g = f->g;
    g->nodes[pair.callee].calls += count;
    uint32_t *place = build_arc_place(f, pair.caller, pair.callee, most);
    if (*place) {
        g->arcs[*place - 1].count += count;
        return;
    }
    g->arcs[g->arcs_len++] =
        (struct graph_arc){.caller = pair.caller, .callee = pair.callee, .count = count};
    *place = g->arcs_len;
}

/* Sorts arc numbers by one of their ends, newest first. */
static void build_make_lists(struct graph *g, struct graph_lists *lists, bool by_callee,
                             struct arena *a)
{
    uint32_t n = g->functions->len;
    lists->start = ARENA_NEW(a, uint32_t, n + 1);
    lists->arc = ARENA_NEW(a, uint32_t, g->arcs_len);
    for (uint32_t i = 0; i < g->arcs_len; i++)
        lists->start[by_callee ? g->arcs[i].callee : g->arcs[i].caller]++;
    for (uint32_t i = 1; i <= n; i++)
        lists->start[i] += lists->start[i - 1];
    for (uint32_t i = 0; i < g->arcs_len; i++)
        lists->arc[--lists->start[by_callee ? g->arcs[i].callee : g->arcs[i].caller]] = i;
}

/* Appends an arc for each pair that has none. Callers come in order, so that it is enough to know
 * who was the last caller of each function. */
static void build_add_static_arcs(struct graph *g, const struct static_calls *calls)
{
    struct arena scratch = {0};
    struct graph_lists measured;
    uint32_t *last_caller = ARENA_NEW(&scratch, uint32_t, g->functions->len); /* plus 1 */
    build_make_lists(g, &measured, false, &scratch);
    uint32_t caller = NO_FUNCTION;
    for (size_t i = 0; i < calls->len; i++) {
        struct static_call call = calls->at[i];
        if (call.caller != caller) {
            caller = call.caller;
            for (uint32_t k = measured.start[caller]; k < measured.start[caller + 1]; k++)
                last_caller[g->arcs[measured.arc[k]].callee] = caller + 1;
        }
        if (last_caller[call.callee] == caller + 1)
            continue;
        last_caller[call.callee] = caller + 1;
        g->arcs[g->arcs_len++] = (struct graph_arc){.caller = caller, .callee = call.callee};
    }
    arena_deinit(&scratch);
}

static bool build_is_admitted(const struct graph_filter *filter, struct end_pair pair)
{
    return !filter || filter->admits_arc(filter->context, pair.caller, pair.callee);
}

static void build_read_arcs(struct graph *g, const struct profile *p, struct graph_rules rules,
                            struct arena *a)
{
    size_t len = p->arcs.len;
    struct arc_finder f = {.g = g, .caller = NO_FUNCTION};
    f.newest = ARENA_NEW(&f.scratch, uint32_t, g->functions->len);
    f.is_seen = ARENA_NEW(&f.scratch, bool, g->functions->len);
    struct ends ends = {g, p, rules.labels_are_inside, ARENA_NEW(&f.scratch, struct end_pair, len)};
    parallel_for((len + ENDS_A_PIECE - 1) / ENDS_A_PIECE, 0, build_find_ends, &ends);

    g->arcs = ARENA_NEW(a, struct graph_arc, len + (rules.calls ? rules.calls->len : 0));
    for (size_t i = 0; i < len; i++) {
        struct end_pair pair = ends.pair[i];
        uint64_t count = p->arcs.at[i].count;
        if (pair.is_inside) {
            g->inner_calls += count;
        } else if (pair.callee == NO_FUNCTION) {
            g->unknown_callees += count;
        } else if (pair.caller == NO_FUNCTION) {
            g->unknown_callers += count;
            g->nodes[pair.callee].calls += rules.ignores_unknown_callers ? 0 : count;
        } else if (build_is_admitted(rules.filter, pair)) {
            build_add_calls(&f, pair, count, len);
        }
    }
    arena_deinit(&f.scratch);
    g->measured_len = g->arcs_len;
    if (rules.calls)
        build_add_static_arcs(g, rules.calls);
    build_make_lists(g, &g->callers, true, a);
    build_make_lists(g, &g->callees, false, a);
}

/* Calls of a function to itself count apart. */
static void build_separate_recursion(struct graph *g)
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

static void build_inherit_from(struct graph *g, struct graph_node *to, uint32_t member,
                               uint32_t except)
{
    for (uint32_t i = g->callers.start[member]; i < g->callers.start[member + 1]; i++) {
        const struct graph_arc *arc = &g->arcs[g->callers.arc[i]];
        const struct graph_node *caller = &g->nodes[arc->caller];
        if (arc->caller == member || caller->head == except)
            continue;
        to->is_shown |= caller->is_shown;
        if (to->calls)
            to->fraction += caller->fraction * ((double)arc->count / (double)to->calls);
    }
}

/* A node is as visible, and passes on as large a part of its time, as its callers do. */
static void build_inherit(struct graph *g, uint32_t node)
{
    uint32_t head = g->nodes[node].head;
    g->nodes[head].is_shown = false;
    g->nodes[head].fraction = 0;
    if (head == node) {
        build_inherit_from(g, &g->nodes[node], node, NO_NODE);
        return;
    }
    for (uint32_t m = g->nodes[head].next_member; m != NO_NODE; m = g->nodes[m].next_member)
        build_inherit_from(g, &g->nodes[head], m, head);
    for (uint32_t m = g->nodes[head].next_member; m != NO_NODE; m = g->nodes[m].next_member) {
        g->nodes[m].is_shown = g->nodes[head].is_shown;
        g->nodes[m].fraction = g->nodes[head].fraction;
    }
}

static void build_decide(struct graph_node *n, const struct graph_filter *filter, uint32_t function)
{
    n->is_shown = filter->shows(filter->context, function, n->is_shown);
    if (!filter->passes_time(filter->context, function, n->fraction != 0))
        n->fraction = 0;
    else if (n->fraction == 0)
        n->fraction = 1;
}

/* Without a filter everything is shown, and every node passes on all of its time. */
static void build_show_all(struct graph *g)
{
    for (uint32_t i = 0; i < g->len; i++) {
        struct graph_node *n = &g->nodes[i];
        n->is_shown = true;
        n->fraction = 1;
        n->shown_self = n->self;
        if (!graph_is_cycle(g, i))
            g->shown_total += n->self;
    }
}

/* From roots to leaves. */
static void build_propagate_fractions(struct graph *g, const uint32_t *by_order,
                                      const struct graph_filter *filter)
{
    uint32_t done = NO_NODE;
    for (uint32_t i = g->functions->len; i-- > 0;) {
        uint32_t node = by_order[i];
        struct graph_node *n = &g->nodes[node];
        struct graph_visit visit = {&by_order[i], i + 1, -1, g->nodes, sizeof *g->nodes};
        graph_look_ahead(g, &visit);
        if (n->head != done) {
            done = n->head;
            build_inherit(g, node);
        }
        build_decide(n, filter, node);
        n->shown_self = n->self * n->fraction;
        g->shown_total += n->shown_self;
    }
}

/* --- time ----------------------------------------------------------------------------------- */

static void build_sum_cycles(struct graph *g)
{
    for (uint32_t c = g->functions->len; c < g->len; c++) {
        struct graph_node *cycle = &g->nodes[c];
        for (uint32_t m = cycle->next_member; m != NO_NODE; m = g->nodes[m].next_member)
            if (g->nodes[m].fraction != 0)
                cycle->self += g->nodes[m].self;
        cycle->shown_self = cycle->fraction * cycle->self;
    }
}

static void build_gather_from_callees(struct graph *g, uint32_t node)
{
    struct graph_node *caller = &g->nodes[node];
    if (caller->fraction == 0)
        return;
    for (uint32_t i = g->callees.start[node]; i < g->callees.start[node + 1]; i++) {
        struct graph_arc *arc = &g->arcs[g->callees.arc[i]];
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
static uint32_t *build_topological_order(const struct graph *g, struct arena *a)
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

static void build_add_node(struct ranking *r, const struct graph *g, uint32_t node)
{
    const struct graph_node *n = &g->nodes[node];
    bool is_cycle = graph_is_cycle(g, node);
    r->items[r->len++] = (struct keyed){is_cycle ? 0 : g->functions->name_order[node], node};
    r->calls[node] = is_cycle ? 0 : ~n->calls;
    r->kind[node] = build_kind_key(g, node);
    r->total[node] = sort_descending(n->shown_self + n->shown_children);
}

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
    sort_keyed(r.items, all);
    sort_by(r.items, all, r.calls);
    sort_by(r.items, all, r.kind);
    sort_by(r.items, all, r.total);
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

/* --- the whole ------------------------------------------------------------------------------ */

void graph_connect(struct graph *g, const struct functions *f, const struct profile *p,
                   const struct attribution *t, struct graph_rules rules, struct arena *a)
{
    *g = (struct graph){.functions = f, .len = f->len};
    g->nodes = ARENA_NEW(a, struct graph_node, f->len + f->len / 2 + 1);
    g->cycle_of = ARENA_NEW(a, uint32_t, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        g->nodes[i] = (struct graph_node){.self = t->self[i], .head = i, .next_member = NO_NODE};
    build_read_arcs(g, p, rules, a);
    build_separate_recursion(g);
}

void graph_propagate(struct graph *g, struct graph_rules rules, struct arena *a)
{
    cycles_find(g, rules.roots, rules.roots_len);
    struct arena scratch = {0};
    const uint32_t *by_order = build_topological_order(g, &scratch);
    if (rules.filter)
        build_propagate_fractions(g, by_order, rules.filter);
    else
        build_show_all(g);
    build_sum_cycles(g);
    for (uint32_t i = 0; i < g->functions->len; i++) {
        uint32_t left = g->functions->len - i;
        struct graph_visit visit = {&by_order[i], left, 1, g->nodes, sizeof *g->nodes};
        graph_look_ahead(g, &visit);
        build_gather_from_callees(g, by_order[i]);
    }
    arena_deinit(&scratch);
    if (!rules.is_unranked)
        graph_rank(g, rules, a);
}

void graph_build(struct graph *g, struct functions *f, const struct profile *p,
                 const struct attribution *t, struct graph_rules rules, struct arena *a)
{
    functions_order_names(f, a);
    graph_connect(g, f, p, t, rules, a);
    graph_propagate(g, rules, a);
}
