/* Walking a tree of calls with a stack of its own.
 *
 * A row stands for a set of nodes of the tree: the frames of one function that are reached on the
 * same way. The next level is found by stepping from all of them, inwards to the children or
 * outwards to the parents, and sorting where one arrives by function. Sets that wait for their turn
 * lie on a stack, the next one on top, and no step makes them larger: an outward walk takes room
 * for as many places as there are calls of the function, however many paths lead out of them. */
#include "profile/analysis/recording/call_rows.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A node that a row stands for, and which of its samples belong there. */
struct spot {
    uint32_t node, function;
    double samples;
};

/* Spots of one function: the last ones of the stack of spots while the branch is on top of its
 * own. */
struct branch {
    uint32_t function, folded, depth;
    bool is_only;
    uint32_t spots, from; /* `from`: in `next`, until they are pushed */
    double total;
};

struct walk {
    const struct call_tree *t;
    const struct call_query *q;
    double least; /* samples of a row that is shown */
    VEC(struct spot) spots, next;
    VEC(struct branch) stack, found;
    VEC(struct call_row) rows;
};

static void call_add_spot(struct walk *w, uint32_t node, double samples)
{
    if (samples > 0)
        vec_push(&w->next, (struct spot){node, w->t->nodes[node].function, samples});
}

static void call_add_children(struct walk *w, uint32_t node)
{
    for (uint32_t i = w->t->nodes[node].first_child; i; i = w->t->nodes[i].next)
        call_add_spot(w, i, w->t->nodes[i].total);
}

/* Puts into `next` where one arrives from a spot; returns what ends there. */
static double call_step(struct walk *w, const struct spot *s)
{
    const struct call_node *node = &w->t->nodes[s->node];
    if (w->q->direction != CALLS_OUTWARDS) {
        call_add_children(w, s->node);
        return node->self;
    }
    if (!node->parent)
        return s->samples;
    call_add_spot(w, node->parent, s->samples);
    return 0;
}

static int call_by_function(const void *left, const void *right)
{
    const struct spot *l = left, *r = right;
    if (l->function != r->function)
        return l->function < r->function ? -1 : 1;
    return (l->node > r->node) - (l->node < r->node);
}

/* The least first: it is printed last. */
static int call_by_total(const void *left, const void *right)
{
    const struct branch *l = left, *r = right;
    if (l->total != r->total)
        return l->total < r->total ? -1 : 1;
    return (l->function < r->function) - (l->function > r->function);
}

/* Ways that meet in one node are one from there on. */
static void call_join_spots(struct walk *w)
{
    size_t kept = 0;
    if (w->next.len)
        qsort(w->next.at, w->next.len, sizeof *w->next.at, call_by_function);
    for (size_t i = 0; i < w->next.len; i++)
        if (kept && w->next.at[kept - 1].node == w->next.at[i].node)
            w->next.at[kept - 1].samples += w->next.at[i].samples;
        else
            w->next.at[kept++] = w->next.at[i];
    w->next.len = kept;
}

/* One branch for each function in `next`. */
static void call_find_branches(struct walk *w, uint32_t depth)
{
    call_join_spots(w);
    w->found.len = 0;
    for (size_t i = 0; i < w->next.len; i++) {
        const struct spot *s = &w->next.at[i];
        if (!i || w->next.at[i - 1].function != s->function)
            vec_push(&w->found,
                     (struct branch){.function = s->function, .depth = depth, .from = (uint32_t)i});
        w->found.at[w->found.len - 1].spots++;
        w->found.at[w->found.len - 1].total += s->samples;
    }
    if (w->found.len)
        qsort(w->found.at, w->found.len, sizeof *w->found.at, call_by_total);
}

static bool call_is_small(const struct walk *w, const struct branch *b)
{
    return b->depth > w->q->depth || b->total < w->least;
}

/* Small branches are the first ones, and become one row. */
static size_t call_fold(struct walk *w)
{
    struct branch all = {0};
    size_t i = 0;
    for (; i < w->found.len && call_is_small(w, &w->found.at[i]); i++) {
        all.function = w->found.at[i].function;
        all.depth = w->found.at[i].depth;
        all.folded++;
        all.total += w->found.at[i].total;
    }
    if (i)
        w->found.at[--i] = all;
    return i;
}

static void call_push_branches(struct walk *w)
{
    size_t first = call_fold(w), len = w->found.len - first;
    bool has_folded = len && w->found.at[first].folded;
    for (size_t i = first; i < w->found.len; i++) {
        struct branch *b = &w->found.at[i];
        for (uint32_t k = 0; k < b->spots; k++)
            vec_push(&w->spots, w->next.at[b->from + k]);
        b->is_only = len == 1 || (len == 2 && has_folded && !b->folded);
        vec_push(&w->stack, *b);
    }
}

/* Prints the branch on top, and puts those below it in its place. */
static void call_visit(struct walk *w)
{
    struct branch b = w->stack.at[--w->stack.len];
    struct call_row row = {.function = b.function,
                           .folded = b.folded,
                           .depth = b.depth,
                           .is_only = b.is_only,
                           .total = b.total,
                           .self = b.folded ? b.total : 0};
    w->next.len = 0;
    w->spots.len -= b.spots;
    for (uint32_t i = 0; i < b.spots; i++)
        row.self += call_step(w, &w->spots.at[w->spots.len + i]);
    call_find_branches(w, b.depth + 1);
    call_push_branches(w);
    vec_push(&w->rows, row);
}

/* The outermost calls of the wanted function. */
static void call_add_wanted(struct walk *w)
{
    const struct call_node *nodes = w->t->nodes;
    bool *is_below = calloc(w->t->len, sizeof *is_below);
    if (!is_below)
        memory_exhausted(w->t->len);
    for (uint32_t i = 1; i < w->t->len; i++) {
        is_below[i] = is_below[nodes[i].parent] || w->q->is_wanted[nodes[i].function];
        if (is_below[i] && !is_below[nodes[i].parent])
            call_add_spot(w, i, nodes[i].total);
    }
    free(is_below);
}

/* The first row of a tree below or outside of a function: all its calls, however they are numbered.
 * It is shown even if it is small. */
static void call_start(struct walk *w)
{
    if (w->q->direction == CALLS_FROM_ROOT) {
        call_add_children(w, 0);
        call_find_branches(w, 0);
        call_push_branches(w);
        return;
    }
    struct branch all = {.is_only = true};
    call_add_wanted(w);
    for (size_t i = 0; i < w->next.len; i++) {
        all.function =
            i && all.function < w->next.at[i].function ? all.function : w->next.at[i].function;
        all.total += w->next.at[i].samples;
        all.spots++;
        vec_push(&w->spots, w->next.at[i]);
    }
    if (all.spots)
        vec_push(&w->stack, all);
}

void call_rows_make(struct call_rows *out, const struct call_tree *t, const struct call_query *q,
                    struct arena *a)
{
    double whole = t->nodes[0].total;
    struct walk w = {.t = t, .q = q, .least = q->min_percent / 100 * whole};
    *out = (struct call_rows){.direction = q->direction, .whole = whole};
    call_start(&w);
    for (size_t i = 0; i < w.stack.len; i++)
        out->covered += w.stack.at[i].total;
    if (q->is_percent_of_rows)
        w.least = q->min_percent / 100 * out->covered;
    while (w.stack.len && w.rows.len < q->limit)
        call_visit(&w);
    out->is_cut = w.stack.len != 0;
    out->len = w.rows.len;
    out->rows = ARENA_NEW(a, struct call_row, w.rows.len);
    if (w.rows.len)
        memcpy(out->rows, w.rows.at, w.rows.len * sizeof *w.rows.at);
    vec_free(&w.spots);
    vec_free(&w.next);
    vec_free(&w.stack);
    vec_free(&w.found);
    vec_free(&w.rows);
}
