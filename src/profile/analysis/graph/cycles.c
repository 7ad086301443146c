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
#include "profile/analysis/graph/graph.h"

#include <stdlib.h>

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

void cycles_find(struct graph *g, const struct graph_root *roots, size_t roots_len)
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
