/* Loops within one line, by the search of Johnson (1975) as Hawick and James gave it for
 * multigraphs (2008): from each block in turn, a walk through blocks not before it, in which a dead
 * end stays blocked until one of its successors is freed. Unlike theirs each circuit takes its
 * count away at once, and the walk does not go on beyond an arc that is used up.
 *
 * Only strongly connected parts can hold a loop, so the walk never leaves one. No recursion: both
 * the walk and the freeing keep stacks of their own. */
#include "coverage/analysis/line_coverage_private.h"

#include "base/sort.h"

#include <string.h>

/* A block of the line. Numbers of the search are per line; what the walk sets is undone after it.
 */
struct loop_node {
    uint32_t first_arc, arcs;
    uint32_t order, low;   /* of the search for strongly connected parts */
    uint32_t part;         /* NO_INDEX until found */
    uint32_t first_waiter; /* nodes to be freed with this one: index in waiters, or NO_INDEX */
    bool is_blocked, is_on_stack, was_visited;
};

struct loop_arc {
    uint32_t target; /* node, or NO_INDEX: not on this line */
    int64_t left;    /* what no circuit has taken away yet */
};

/* A list of those that wait for a node, through one vector. */
struct waiter {
    uint32_t node, next;
};

/* One step of a walk: at `node`, `arc` is the next to look at. */
struct step {
    uint32_t node, arc;
    bool has_loop;
};

/* All is scratch, and grows to the largest line. Nodes are the blocks of one line, by instance and
 * number. */
struct line_loops {
    VEC(struct keyed) keys;
    VEC(uint32_t) starts; /* nodes as the line lists them */
    VEC(struct loop_node) nodes;
    VEC(struct loop_arc) arcs;
    VEC(struct waiter) waiters;
    VEC(struct step) steps;
    VEC(uint32_t) path;  /* arcs taken from step to step */
    VEC(uint32_t) stack; /* of nodes */
    VEC(uint32_t) visited;
    size_t used_up; /* place on the path of the first arc with nothing left, or SIZE_MAX */
    uint64_t count;
};

struct line_loops *line_loops_new(void)
{
    struct line_loops *l = calloc(1, sizeof *l);
    if (!l)
        memory_exhausted(sizeof *l);
    return l;
}

void line_loops_free(struct line_loops *l)
{
    vec_free(&l->keys);
    vec_free(&l->starts);
    vec_free(&l->nodes);
    vec_free(&l->arcs);
    vec_free(&l->waiters);
    vec_free(&l->steps);
    vec_free(&l->path);
    vec_free(&l->stack);
    vec_free(&l->visited);
    free(l);
}

/* ---- the line's own graph */

static uint64_t loops_key_of(const struct instance_block *b)
{
    return (uint64_t)b->instance << 32 | b->block;
}

/* The node of a block among the sorted keys, or NO_INDEX. */
static uint32_t loops_node_of(const struct line_loops *l, uint64_t key)
{
    size_t first = PARTITION_POINT(l->keys.len, i, l->keys.at[i].key < key);
    bool is_there = first < l->keys.len && l->keys.at[first].key == key;
    return is_there ? (uint32_t)first : (uint32_t)NO_INDEX;
}

/* ---- strongly connected parts (Tarjan 1972) */

/* A node gets its order of discovery, from 1; 0 is unseen. */
static void loops_enter(struct line_loops *l, uint32_t node, uint32_t *order)
{
    struct loop_node *n = &l->nodes.at[node];
    n->order = n->low = ++*order;
    n->is_on_stack = true;
    vec_push(&l->stack, node);
    vec_push(&l->steps, (struct step){node, 0, false});
}

/* All nodes above the root on the stack are one part. */
static void loops_close_part(struct line_loops *l, uint32_t root)
{
    uint32_t node;
    do {
        node = l->stack.at[--l->stack.len];
        l->nodes.at[node].is_on_stack = false;
        l->nodes.at[node].part = root;
    } while (node != root);
}

/* Arcs with nothing left to take away are no arcs here. */
static void loops_search_parts(struct line_loops *l, uint32_t root, uint32_t *order)
{
    loops_enter(l, root, order);
    while (l->steps.len) {
        struct step *s = &l->steps.at[l->steps.len - 1];
        uint32_t node = s->node;
        struct loop_node *n = &l->nodes.at[node];
        if (s->arc == n->arcs) {
            if (n->low == n->order)
                loops_close_part(l, node);
            if (--l->steps.len) {
                struct loop_node *up = &l->nodes.at[l->steps.at[l->steps.len - 1].node];
                up->low = n->low < up->low ? n->low : up->low;
            }
            continue;
        }
        const struct loop_arc *arc = &l->arcs.at[n->first_arc + s->arc++];
        if (arc->target == (uint32_t)NO_INDEX || arc->left <= 0)
            continue;
        const struct loop_node *to = &l->nodes.at[arc->target];
        if (!to->order)
            loops_enter(l, arc->target, order);
        else if (to->is_on_stack && to->order < n->low)
            n->low = to->order;
    }
}

/* Arcs from part to part cannot be in a circuit: they lose their target. */
static void loops_find_parts(struct line_loops *l)
{
    uint32_t order = 0;
    l->steps.len = l->stack.len = 0;
    for (uint32_t i = 0; i < l->nodes.len; i++)
        if (!l->nodes.at[i].order)
            loops_search_parts(l, i, &order);
    for (uint32_t i = 0; i < l->nodes.len; i++)
        for (uint32_t k = 0; k < l->nodes.at[i].arcs; k++) {
            struct loop_arc *arc = &l->arcs.at[l->nodes.at[i].first_arc + k];
            if (arc->target != (uint32_t)NO_INDEX &&
                l->nodes.at[arc->target].part != l->nodes.at[i].part)
                arc->target = NO_INDEX;
        }
}

/* ---- circuits */

/* Frees a node and all that wait for it. With a stack of its own, since one freed node may free a
 * chain as long as the line has blocks. */
static void loops_unblock(struct line_loops *l, uint32_t node)
{
    l->stack.len = 0;
    vec_push(&l->stack, node);
    while (l->stack.len) {
        struct loop_node *n = &l->nodes.at[l->stack.at[--l->stack.len]];
        if (!n->is_blocked)
            continue;
        n->is_blocked = false;
        for (uint32_t i = n->first_waiter; i != (uint32_t)NO_INDEX; i = l->waiters.at[i].next)
            vec_push(&l->stack, l->waiters.at[i].node);
        n->first_waiter = NO_INDEX;
    }
}

/* Blocks the node, and notes it for being reset after the walk. */
static void loops_visit(struct line_loops *l, uint32_t node)
{
    struct loop_node *n = &l->nodes.at[node];
    n->is_blocked = true;
    if (!n->was_visited)
        vec_push(&l->visited, node);
    n->was_visited = true;
    vec_push(&l->steps, (struct step){node, 0, false});
}

/* Nodes before `start` have had their circuits. */
static bool loops_is_open(const struct loop_arc *arc, uint32_t start)
{
    return arc->target != (uint32_t)NO_INDEX && arc->target >= start && arc->left > 0;
}

/* A dead end waits for its successors: freeing one of them frees it. */
static void loops_leave(struct line_loops *l, uint32_t start)
{
    struct step s = l->steps.at[--l->steps.len];
    const struct loop_node *n = &l->nodes.at[s.node];
    if (s.has_loop)
        loops_unblock(l, s.node);
    for (uint32_t i = n->first_arc; !s.has_loop && i < n->first_arc + n->arcs; i++)
        if (loops_is_open(&l->arcs.at[i], start)) {
            struct loop_node *to = &l->nodes.at[l->arcs.at[i].target];
            vec_push(&l->waiters, (struct waiter){s.node, to->first_waiter});
            to->first_waiter = (uint32_t)l->waiters.len - 1;
        }
    if (!l->steps.len)
        return;
    l->steps.at[l->steps.len - 1].has_loop |= s.has_loop;
    l->path.len--;
    if (l->used_up >= l->path.len)
        l->used_up = SIZE_MAX;
}

/* Each circuit through `start` takes its least count away at once. Beyond an arc that is used up
 * the walk only goes back. */
static void loops_walk_from(struct line_loops *l, uint32_t start)
{
    loops_visit(l, start);
    while (l->steps.len) {
        struct step *s = &l->steps.at[l->steps.len - 1];
        const struct loop_node *n = &l->nodes.at[s->node];
        if (s->arc == n->arcs) {
            loops_leave(l, start);
            continue;
        }
        uint32_t index = n->first_arc + s->arc++;
        const struct loop_arc *arc = &l->arcs.at[index];
        if (!loops_is_open(arc, start))
            continue;
        if (arc->target == start) {
            s->has_loop = true;
            vec_push(&l->path, index);
            int64_t least = INT64_MAX;
            for (size_t i = 0; i < l->path.len; i++)
                if (l->arcs.at[l->path.at[i]].left < least)
                    least = l->arcs.at[l->path.at[i]].left;
            l->count += (uint64_t)least;
            for (size_t i = l->path.len; i-- > 0;) {
                int64_t *left = &l->arcs.at[l->path.at[i]].left;
                *left -= least;
                if (*left <= 0)
                    l->used_up = i;
            }

            l->path.len--;
            if (l->used_up >= l->path.len)
                l->used_up = SIZE_MAX;
        } else if (l->used_up == SIZE_MAX && !l->nodes.at[arc->target].is_blocked) {
            vec_push(&l->path, index);
            loops_visit(l, arc->target);
        }
    }
}

/* The line's own graph, its strongly connected parts, then a walk from each block in the line's
 * order, on which the count depends, as gcov's does. */
int64_t line_loops_count(struct line_loops *l, const struct coverage_unit *units,
                         const struct function_instance *instances,
                         const struct instance_block *blocks, uint32_t len)
{
    l->count = 0;
    size_t unique = 0;
    l->keys.len = l->starts.len = 0;
    for (uint32_t i = 0; i < len; i++)
        vec_push(&l->keys, (struct keyed){loops_key_of(&blocks[i]), 0});
    sort_keyed(l->keys.at, l->keys.len);
    for (size_t i = 0; i < l->keys.len; i++)
        if (!i || l->keys.at[i].key != l->keys.at[unique - 1].key)
            l->keys.at[unique++] = l->keys.at[i];
    l->keys.len = unique;
    for (uint32_t i = 0; i < len; i++)
        vec_push(&l->starts, loops_node_of(l, loops_key_of(&blocks[i])));
    l->nodes.len = l->arcs.len = 0;
    for (size_t i = 0; i < l->keys.len; i++) {
        uint64_t key = l->keys.at[i].key;
        const struct function_instance *at = &instances[key >> 32];
        const struct coverage_unit *u = &units[at->unit];
        const uint32_t *first = block_graph_out(&u->graph, u->notes, at->function) + (uint32_t)key;
        vec_push(&l->nodes, (struct loop_node){.first_arc = (uint32_t)l->arcs.len,
                                               .arcs = first[1] - first[0],
                                               .part = NO_INDEX,
                                               .first_waiter = NO_INDEX});
        for (uint32_t k = first[0]; k < first[1]; k++) {
            uint32_t arc = u->graph.out.at[k];
            uint64_t target = (key & ~(uint64_t)UINT32_MAX) | u->notes->arcs.at[arc].target;
            vec_push(&l->arcs, (struct loop_arc){loops_node_of(l, target),
                                                 flow_known_count(u->flow->arcs.at[arc])});
        }
    }

    loops_find_parts(l);
    for (size_t i = 0; i < l->starts.len; i++) {
        l->steps.len = l->path.len = l->waiters.len = 0;
        l->used_up = SIZE_MAX;
        loops_walk_from(l, l->starts.at[i]);
        for (size_t k = 0; k < l->visited.len; k++) {
            struct loop_node *n = &l->nodes.at[l->visited.at[k]];
            n->is_blocked = n->was_visited = false;
            n->first_waiter = NO_INDEX;
        }
        l->visited.len = 0;
    }

    return (int64_t)l->count;
}
