/* Time passed up the call graph: gprof's model, or what stacks measured.
 *
 * The model knows how often each caller called, and no more. It passes a callee's time (its own and
 * its callees') to the callers in the ratio of their calls:
 *
 *     main --- 3 calls ---.
 *                          parse: self 2 s, callees 6 s        main gets 3/4 of 8 s, load 1/4
 *     load --- 1 call ----'
 *
 * A cycle is one node here. Functions are taken by topological number, so each callee is complete
 * before a caller asks, and the whole takes one pass over the arcs. A filter works the other way
 * round, from roots to leaves: a node is as visible, and passes on as large a part of its time, as
 * its callers do.
 *
 * The order of every sum is GNU gprof's, so that results agree to the last bit; `gnu/gprof` prints
 * them.
 *
 * With stacks nothing is split: they say how much of a function's time each caller caused. */
#include "profile/analysis/graph/graph.h"

#include "base/parallel.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Cycles: strongly connected components of the call graph by depth-first search, in GNU gprof's
 * order.
 *
 * The result must equal GNU's member by member, because the order of a cycle's members decides how
 * sums are rounded and ties are printed: functions are entered in address order, callees newest arc
 * first, and when a call closes a circle, the functions above it on the stack that are in no cycle
 * yet join at its end, in stack order, each with the members it has gathered itself.
 *
 * GNU walks its stack and its member lists for every such call, and recurses. Here the stack is an
 * array, heads are found by union-find, and a second stack holds the functions that are in no cycle
 * yet (Gabow, "Path-based depth-first search for strong and biconnected components", 2000), so the
 * work is linear in arcs and the depth is bounded by memory alone.
 *
 *     main -> a -> b -> c -> a      c's call of a closes a circle: b and c join a's cycle, in this
 * order c -> d      d is left first, and has number 1; the cycle has 2, main 3
 *
 * What holds: a function is UNSEEN, then BUSY while it or its cycle is on the stack, then numbered.
 * A number is higher than those of all callees outside of the cycle, so that passing times on in
 * the order of numbers meets each callee before its callers. */

enum { UNSEEN = 0, BUSY = UINT32_MAX };

struct frame {
    uint32_t node, next; /* place in the list of callees */
};

struct search {
    struct graph *g;
    struct frame *stack;
    uint32_t depth;
    uint32_t *loose; /* stack positions of functions that are their own head, ascending */
    uint32_t loose_len;
    uint32_t *position; /* of each function on the stack */
    bool *is_on_stack;
    uint32_t *head; /* union-find */
    uint32_t *tail; /* last member, for heads */
    uint32_t numbered;
};

/* The head of the cycle that a node is in so far, with path halving; itself, if it is in none. */
static uint32_t head_of(struct search *s, uint32_t node)
{
    while (s->head[node] != node) {
        s->head[node] = s->head[s->head[node]];
        node = s->head[node];
    }
    return node;
}

/* Enters a function: it is its own head until a call closes a circle above it. */
static void push(struct search *s, uint32_t node)
{
    s->g->nodes[node].order = BUSY;
    s->position[node] = s->depth;
    s->is_on_stack[node] = true;
    s->loose[s->loose_len++] = s->depth;
    s->stack[s->depth++] = (struct frame){node, s->g->callees.start[node]};
}

/* A call leads to a function that is not finished: everything above it, or above the head of its
 * cycle, joins that cycle. */
static void close_circle(struct search *s, uint32_t node)
{
    uint32_t head = head_of(s, node);
    uint32_t position = s->position[s->is_on_stack[node] ? node : head];
    uint32_t first = s->loose_len;
    while (first && s->loose[first - 1] > position)
        first--;
    for (uint32_t i = first; i < s->loose_len; i++) {
        uint32_t joining = s->stack[s->loose[i]].node;
        s->g->nodes[s->tail[head]].next_member = joining;
        s->tail[head] = s->tail[joining];
        s->head[joining] = head;
    }
    s->loose_len = first;
}

/* Leaves a function. Where it is its own head, its cycle is complete, and all members get its
 * number. */
static void pop(struct search *s)
{
    uint32_t node = s->stack[--s->depth].node;
    s->is_on_stack[node] = false;
    if (s->head[node] != node)
        return;
    s->loose_len--;
    s->numbered++;
    for (uint32_t m = node; m != NO_NODE; m = s->g->nodes[m].next_member)
        s->g->nodes[m].order = s->numbered;
}

/* Searches from one root: whatever it reaches is numbered when it ends. */
static void visit(struct search *s, uint32_t root)
{
    push(s, root);
    while (s->depth) {
        struct frame *top = &s->stack[s->depth - 1];
        if (top->next == s->g->callees.start[top->node + 1]) {
            pop(s);
            continue;
        }
        uint32_t callee = s->g->arcs[s->g->callees.arc[top->next++]].callee;
        uint32_t order = s->g->nodes[callee].order;
        if (order == UNSEEN)
            push(s, callee);
        else if (order == BUSY)
            close_circle(s, callee);
    }
}

static void visit_new(struct search *s, uint32_t node)
{
    if (s->g->nodes[node].order == UNSEEN)
        visit(s, node);
}

/* Sets `order`, `cycle`, `head` and `next_member` of all functions, and g->cycles with a node for
 * each, appended to g->nodes (which must have room for half as many nodes again as functions).
 * Functions are met in the order of addresses, `roots` in between. */
static void cycles_find(struct graph *g, const struct graph_root *roots, size_t roots_len)
{
    uint32_t n = g->functions->len;
    struct arena scratch = {0};
    struct search s = {.g = g,
                       .stack = ARENA_NEW(&scratch, struct frame, n),
                       .loose = ARENA_NEW(&scratch, uint32_t, n),
                       .position = ARENA_NEW(&scratch, uint32_t, n),
                       .is_on_stack = ARENA_NEW(&scratch, bool, n),
                       .head = ARENA_NEW(&scratch, uint32_t, n),
                       .tail = ARENA_NEW(&scratch, uint32_t, n)};
    for (uint32_t i = 0; i < n; i++)
        s.head[i] = s.tail[i] = i;
    size_t root = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (; root < roots_len && roots[root].before <= i; root++)
            visit_new(&s, roots[root].callee);
        visit_new(&s, i);
    }
    for (uint32_t i = 0; i < n; i++)
        g->nodes[i].head = head_of(&s, i);
    arena_deinit(&scratch);
    /* Gives each head with members a node of its own and counts the calls into and within it. */
    for (uint32_t i = 0; i < n; i++) {
        if (g->nodes[i].head != i || g->nodes[i].next_member == NO_NODE)
            continue;
        uint32_t number = ++g->cycles, id = g->len++;
        struct graph_node *cycle = &g->nodes[id];
        *cycle =
            (struct graph_node){.cycle = number, .head = id, .next_member = i, .is_shown = true};
        for (uint32_t m = i; m != NO_NODE; m = g->nodes[m].next_member) {
            g->nodes[m].cycle = g->cycle_of[m] = number;
            g->nodes[m].head = id;
        }
        for (uint32_t m = i; m != NO_NODE; m = g->nodes[m].next_member) {
            /* Calls whose caller lies in no function are in a member's `calls`, but in no arc. */
            const struct graph_lists *callers = &g->callers;
            uint64_t known = 0;
            for (uint32_t k = callers->start[m]; k < callers->start[m + 1]; k++) {
                const struct graph_arc *arc = &g->arcs[callers->arc[k]];
                if (arc->caller == m)
                    continue;
                known += arc->count;
                if (g->cycle_of[arc->caller] == cycle->cycle)
                    cycle->self_calls += arc->count;
                else
                    cycle->calls += arc->count;
            }
            cycle->calls += g->nodes[m].calls - known;
        }
    }
}

/* --- what is shown, and how much of it is passed on ----------------------------------------- */

/* Adds what the callers of `member` pass to `to`, which is it or its cycle; members of the cycle
 * `except` do not count as callers. */
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
        n->is_shown = filter->shows(filter->context, node, n->is_shown);
        if (!filter->passes_time(filter->context, node, n->fraction != 0))
            n->fraction = 0;
        else if (n->fraction == 0)
            n->fraction = 1;
        n->shown_self = n->self * n->fraction;
        g->shown_total += n->shown_self;
    }
}

/* Takes each callee's share of its time by calls. GNU's order of additions and products. */
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
        /* The callee's whole cycle, if it is in one: callers attach to that. */
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

/* --- the whole ------------------------------------------------------------------------------ */

void graph_propagate(struct graph *g, struct graph_rules rules, struct arena *a)
{
    cycles_find(g, rules.roots, rules.roots_len);
    struct arena scratch = {0};
    /* Functions by topological number, those of one cycle in address order. */
    uint32_t n = g->functions->len;
    uint32_t *by_order = ARENA_NEW(&scratch, uint32_t, n),
             *place = ARENA_NEW(&scratch, uint32_t, n + 2);
    for (uint32_t i = 0; i < n; i++)
        place[g->nodes[i].order + 1]++;
    for (uint32_t i = 1; i <= n; i++)
        place[i] += place[i - 1];
    for (uint32_t i = 0; i < n; i++)
        by_order[place[g->nodes[i].order]++] = i;
    if (rules.filter)
        build_propagate_fractions(g, by_order, rules.filter);
    /* Without a filter everything is shown, and every node passes on all of its time. */
    for (uint32_t i = 0; i < g->len && !rules.filter; i++) {
        struct graph_node *node = &g->nodes[i];
        node->is_shown = true;
        node->fraction = 1;
        node->shown_self = node->self;
        if (!graph_is_cycle(g, i))
            g->shown_total += node->self;
    }
    /* What a cycle takes itself: its members that pass time on. */
    for (uint32_t c = g->functions->len; c < g->len; c++) {
        struct graph_node *cycle = &g->nodes[c];
        for (uint32_t m = cycle->next_member; m != NO_NODE; m = g->nodes[m].next_member)
            if (g->nodes[m].fraction != 0)
                cycle->self += g->nodes[m].self;
        cycle->shown_self = cycle->fraction * cycle->self;
    }
    /* From leaves to roots: callees have passed on all they have before their callers ask. */
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

void graph_build_measured(struct graph *g, struct functions *f, const struct profile *p,
                          const struct attribution *t, const struct stacks *stacks, struct arena *a)
{
    struct static_calls seen = {ARENA_NEW(a, struct static_call, stacks->calls_len),
                                stacks->calls_len};
    for (size_t i = 0; i < seen.len; i++)
        seen.at[i] = (struct static_call){stacks->calls[i].caller, stacks->calls[i].callee};
    functions_order_names(f, a);
    graph_connect(g, f, p, t, (struct graph_rules){.calls = &seen}, a);
    g->is_measured = true;
    for (uint32_t i = 0; i < g->len; i++) {
        struct graph_node *n = &g->nodes[i];
        double below = stacks->inclusive[i] - n->self;
        n->children = below > 0 ? below : 0;
        n->is_shown = true;
        n->fraction = 1;
        n->shown_self = n->self;
        n->shown_children = n->children;
        g->shown_total += n->self;
    }
    /* Both lists go by caller: with all arcs of a caller entered under their callees, its measured
     * calls find theirs. */
    struct arena scratch = {0};
    uint32_t *arc_to = ARENA_NEW(&scratch, uint32_t, g->functions->len);
    uint32_t caller = NO_FUNCTION;
    for (size_t i = 0; i < stacks->calls_len; i++) {
        const struct stack_call *call = &stacks->calls[i];
        if (call->caller != caller) {
            caller = call->caller;
            for (uint32_t k = g->callees.start[caller]; k < g->callees.start[caller + 1]; k++)
                arc_to[g->arcs[g->callees.arc[k]].callee] = g->callees.arc[k];
        }
        struct graph_arc *arc = &g->arcs[arc_to[call->callee]];
        arc->self = call->self;
        arc->children = call->inclusive - call->self;
    }
    arena_deinit(&scratch);
}
