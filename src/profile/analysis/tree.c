/* Trees of callers and callees, walked with a stack of their own. */
#include "profile/analysis/tree.h"

#include "profile/analysis/recording/short_names.h"

#include <stdlib.h>
#include <string.h>

struct branch {
    uint32_t node;
    uint64_t calls;
    double samples;
    bool is_static;
};

struct branches {
    VEC(struct branch) all;
};

struct pending {
    struct branch branch;
    uint32_t depth;
};

struct walk {
    struct tree *t;
    const struct tree_rules *rules;
    VEC(struct pending) stack;
    struct branches next;
    VEC(struct tree_row) rows;
};

static double total_of(const struct graph_node *n)
{
    return n->self + n->children;
}

/* The callers of `member`, with what part of `from` flows to each. */
static void add_callers(const struct graph *g, uint32_t member, const struct branch *from,
                        struct branches *next)
{
    uint64_t calls = g->nodes[from->node].calls;
    double per_call = calls ? from->samples / (double)calls : 0;
    for (uint32_t i = g->callers.start[member]; i < g->callers.start[member + 1]; i++) {
        const struct graph_arc *arc = &g->arcs[g->callers.arc[i]];
        if (!graph_arc_is_internal(g, arc))
            vec_push(&next->all,
                     (struct branch){g->nodes[arc->caller].head, arc->count,
                                     per_call * (double)arc->count, graph_arc_is_static(g, arc)});
    }
    uint64_t unknown = graph_unknown_calls(g, member);
    if (unknown)
        vec_push(&next->all, (struct branch){NO_NODE, unknown, per_call * (double)unknown, false});
}

static void add_callees(const struct graph *g, uint32_t member, const struct branch *from,
                        struct branches *next)
{
    double total = total_of(&g->nodes[from->node]);
    double part = total > 0 ? from->samples / total : 0;
    for (uint32_t i = g->callees.start[member]; i < g->callees.start[member + 1]; i++) {
        const struct graph_arc *arc = &g->arcs[g->callees.arc[i]];
        if (!graph_arc_is_internal(g, arc))
            vec_push(&next->all, (struct branch){g->nodes[arc->callee].head, arc->count,
                                                 part * (arc->self + arc->children),
                                                 graph_arc_is_static(g, arc)});
    }
}

static int by_node(const void *left, const void *right)
{
    const struct branch *l = left, *r = right;
    return (l->node > r->node) - (l->node < r->node);
}

static int by_weight(const void *left, const void *right)
{
    const struct branch *l = left, *r = right;
    if (l->samples != r->samples)
        return l->samples < r->samples ? -1 : 1;
    if (l->calls != r->calls)
        return l->calls < r->calls ? -1 : 1;
    return -by_node(left, right);
}

static void sum_by_node(struct branches *b)
{
    size_t kept = 0;
    if (b->all.len)
        qsort(b->all.at, b->all.len, sizeof *b->all.at, by_node);
    for (size_t i = 0; i < b->all.len; i++) {
        const struct branch *branch = &b->all.at[i];
        struct branch *last = kept ? &b->all.at[kept - 1] : NULL;
        if (last && last->node == branch->node) {
            last->is_static &= branch->is_static;
            last->calls += branch->calls;
            last->samples += branch->samples;
        } else {
            b->all.at[kept++] = *branch;
        }
    }
    b->all.len = kept;
    if (kept)
        qsort(b->all.at, kept, sizeof *b->all.at, by_weight);
}

/* Fills w->next, from the least important. */
static void find_next(struct walk *w, const struct branch *from)
{
    const struct graph *g = w->t->graph;
    w->next.all.len = 0;
    if (from->node == NO_NODE)
        return;
    bool is_cycle = graph_is_cycle(g, from->node);
    uint32_t m = is_cycle ? g->nodes[from->node].next_member : from->node;
    while (m != NO_NODE) {
        if (w->t->is_upward)
            add_callers(g, m, from, &w->next);
        else
            add_callees(g, m, from, &w->next);
        m = is_cycle ? g->nodes[m].next_member : NO_NODE;
    }
    sum_by_node(&w->next);
}

static void visit(struct walk *w, const struct pending *here)
{
    struct tree_row row = {.node = here->branch.node,
                           .depth = here->depth,
                           .calls = here->branch.calls,
                           .samples = here->branch.samples,
                           .is_static = here->branch.is_static};
    find_next(w, &here->branch);
    for (size_t i = 0; i < w->next.all.len; i++) {
        const struct branch *b = &w->next.all.at[i];
        if (here->depth >= w->rules->depth ||
            100 * summary_share(w->t->summary, b->samples) < w->rules->min_percent)
            row.cut++;
        else
            vec_push(&w->stack, (struct pending){*b, here->depth + 1});
    }
    vec_push(&w->rows, row);
}

void tree_make(struct tree *t, const struct summary *s, const struct graph *g, uint32_t function,
               bool is_upward, const struct tree_rules *rules, struct arena *a)
{
    uint32_t root = g->nodes[function].head;
    *t = (struct tree){.summary = s,
                       .graph = g,
                       .function = function,
                       .is_upward = is_upward,
                       .has_paths = rules->depth > 1};
    struct walk w = {.t = t, .rules = rules};
    struct branch start = {root, g->nodes[root].calls + g->nodes[root].self_calls,
                           total_of(&g->nodes[root]), false};
    vec_push(&w.stack, (struct pending){start, 0});
    while (w.stack.len && w.rows.len < rules->limit) {
        struct pending here = w.stack.at[--w.stack.len];
        visit(&w, &here);
    }
    t->is_cut = w.stack.len != 0;
    t->len = w.rows.len;
    t->rows = ARENA_NEW(a, struct tree_row, t->len);
    memcpy(t->rows, w.rows.at, t->len * sizeof *t->rows);
    vec_free(&w.rows);
    vec_free(&w.stack);
    vec_free(&w.next.all);
}

/* `shown` up to its parameters; those of `(anonymous namespace)` are none. */
static bool is_plain_name(const char *shown, const char *name, size_t len)
{
    return !strncmp(shown, name, len) && (!shown[len] || shown[len] == '(');
}

/* The form in which text reports print it. */
static bool is_short_name(struct names *names, uint32_t function, const char *name,
                          struct arena *scratch)
{
    const char *shown = names_get(names, function);
    return shown != names->functions->at[function].name &&
           (!strcmp(names_short(shown, scratch), name) ||
            !strcmp(names_short_call(shown, scratch), name));
}

void functions_named(const char *name, struct names *names, struct function_list *found)
{
    struct arena scratch = {0};
    size_t len = strlen(name);
    for (uint32_t i = 0; i < names->functions->len; i++)
        if (!strcmp(names->functions->at[i].name, name) ||
            is_plain_name(names_get(names, i), name, len) ||
            is_short_name(names, i, name, &scratch))
            vec_push(&found->all, i);
    arena_deinit(&scratch);
}
