/* The call graph as entries, and as trees of callers or callees.
 *
 * An entry is a function or a cycle with a line for each caller above and each callee below, as
 * gprof lays it out. The lines of a cycle's callers are added up over its members. What of an
 * entry's time no arc carries away is the line of an unknown or spontaneous caller, so that the
 * callers account for all of it.
 *
 * A tree splits the time at each step again, as the model splits it: by calls towards callers, by
 * time towards callees. Cycles are one node, so each branch ends; a stack of branches that wait for
 * their turn replaces recursion. Rows cost what they have callers or callees. */
#include "profile/analysis/tables.h"

#include "base/sort.h"
#include "profile/analysis/names.h"

#include <stdlib.h>
#include <string.h>

/* Calls of a function whose callers are in no function of the program. */
static uint64_t graph_unknown_calls(const struct graph *g, uint32_t function)
{
    uint64_t known = 0;
    for (uint32_t i = g->callers.start[function]; i < g->callers.start[function + 1]; i++) {
        const struct graph_arc *arc = &g->arcs[g->callers.arc[i]];
        known += arc->caller == function ? 0 : arc->count;
    }
    return g->nodes[function].calls - known;
}

/* --- one entry ------------------------------------------------------------------------------- */

/* The line of an arc in the entry of one of its ends; `other` is the other one. */
static struct entry_line entries_arc_line(const struct graph *g, const struct graph_arc *arc,
                                          uint32_t other)
{
    bool is_internal = graph_arc_is_internal(g, arc);
    return (struct entry_line){.kind = is_internal ? LINE_INTERNAL : LINE_ARC,
                               .is_static = graph_arc_is_static(g, arc) && !g->is_measured,
                               .is_seen = graph_arc_is_static(g, arc) && g->is_measured,
                               .node = other,
                               .calls = arc->count,
                               .of = g->nodes[g->nodes[arc->callee].head].calls,
                               .self = is_internal ? 0 : arc->self,
                               .children = is_internal ? 0 : arc->children};
}

/* What of a function's time was measured below no caller. */
static void entries_add_rest(const struct graph *g, struct entry *e, uint64_t unknown)
{
    const struct graph_node *n = &g->nodes[e->node];
    double self = n->self, children = n->children;
    bool has_callers = false;
    for (uint32_t i = g->callers.start[e->node]; i < g->callers.start[e->node + 1]; i++) {
        const struct graph_arc *arc = &g->arcs[g->callers.arc[i]];
        if (arc->caller == arc->callee)
            continue;
        has_callers = true;
        self -= arc->self;
        children -= arc->children;
    }
    self = self > 0 ? self : 0;
    children = children > 0 ? children : 0;
    if (unknown || !has_callers || self + children >= 1)
        vec_push(&e->callers.all,
                 (struct entry_line){.kind = unknown ? LINE_UNKNOWN : LINE_SPONTANEOUS,
                                     .node = NO_NODE,
                                     .calls = unknown,
                                     .of = n->calls,
                                     .self = self,
                                     .children = children});
}

/* What of a node's time no arc carries away. */
static void entries_add_outside_caller(const struct graph *g, struct entry *e, uint64_t unknown)
{
    const struct graph_node *head = &g->nodes[g->nodes[e->node].head];
    if (g->is_measured) {
        entries_add_rest(g, e, unknown);
        return;
    }
    if (unknown) {
        double part = (double)unknown / (double)head->calls;
        vec_push(&e->callers.all, (struct entry_line){.kind = LINE_UNKNOWN,
                                                      .node = NO_NODE,
                                                      .calls = unknown,
                                                      .of = head->calls,
                                                      .self = head->self * part,
                                                      .children = head->children * part});
    }
    if (!head->calls && head == &g->nodes[e->node])
        vec_push(&e->callers.all, (struct entry_line){.kind = LINE_SPONTANEOUS,
                                                      .node = NO_NODE,
                                                      .self = head->self,
                                                      .children = head->children});
}

static int entries_by_node(const void *left, const void *right)
{
    const struct entry_line *l = left, *r = right;
    return (l->node > r->node) - (l->node < r->node);
}

/* Ascending importance, as callers are listed. */
static int entries_by_weight(const void *left, const void *right)
{
    const struct entry_line *l = left, *r = right;
    double l_time = l->self + l->children, r_time = r->self + r->children;
    if ((l->kind == LINE_ARC) != (r->kind == LINE_ARC))
        return l->kind == LINE_ARC ? 1 : -1;
    if (l_time != r_time)
        return l_time < r_time ? -1 : 1;
    if (l->calls != r->calls)
        return l->calls < r->calls ? -1 : 1;
    return entries_by_node(left, right);
}

void entry_make(const struct entries *t, uint32_t node, struct entry *e)
{
    const struct graph *g = t->graph;
    const struct graph_node *n = &g->nodes[node];
    e->node = node;
    e->number = t->number[node];
    e->is_cycle = graph_is_cycle(g, node);
    e->self = n->self;
    e->children = n->children;
    e->calls = n->calls;
    e->recursive_calls = n->self_calls;
    e->callers.all.len = e->below.all.len = 0;
    if (e->is_cycle) {
        uint64_t unknown = 0;
        for (uint32_t m = g->nodes[e->node].next_member; m != NO_NODE;
             m = g->nodes[m].next_member) {
            const struct graph_node *member = &g->nodes[m];
            vec_push(&e->below.all, (struct entry_line){.kind = LINE_MEMBER,
                                                        .node = m,
                                                        .calls = member->calls,
                                                        .recursive_calls = member->self_calls,
                                                        .self = member->self,
                                                        .children = member->children});
            for (uint32_t i = g->callers.start[m]; i < g->callers.start[m + 1]; i++) {
                const struct graph_arc *arc = &g->arcs[g->callers.arc[i]];
                if (!graph_arc_is_internal(g, arc))
                    vec_push(&e->callers.all, entries_arc_line(g, arc, arc->caller));
            }
            unknown += graph_unknown_calls(g, m);
        }
        entries_add_outside_caller(g, e, unknown);
        /* Sums the lines of one caller, whichever members it calls. */
        struct entry_lines *lines = &e->callers;
        size_t kept = 0;
        if (lines->all.len)
            qsort(lines->all.at, lines->all.len, sizeof *lines->all.at, entries_by_node);
        for (size_t i = 0; i < lines->all.len; i++) {
            const struct entry_line *line = &lines->all.at[i];
            struct entry_line *last = kept ? &lines->all.at[kept - 1] : NULL;
            if (last && last->node == line->node) {
                last->is_static &= line->is_static;
                last->calls += line->calls;
                last->self += line->self;
                last->children += line->children;
            } else {
                lines->all.at[kept++] = *line;
            }
        }
        lines->all.len = kept;
        if (kept)
            qsort(lines->all.at, kept, sizeof *lines->all.at, entries_by_weight);
    } else {
        entries_add_outside_caller(g, e, graph_unknown_calls(g, e->node));
        graph_sort_callers(g, e->node, &e->scratch);
        for (size_t i = 0; i < e->scratch.all.len; i++) {
            const struct graph_arc *arc = &g->arcs[e->scratch.all.at[i].arc];
            vec_push(&e->callers.all, entries_arc_line(g, arc, arc->caller));
        }
        graph_sort_callees(g, e->node, &e->scratch);
        for (size_t i = 0; i < e->scratch.all.len; i++) {
            const struct graph_arc *arc = &g->arcs[e->scratch.all.at[i].arc];
            if (arc->caller != arc->callee) /* recursion stands above already */
                vec_push(&e->below.all, entries_arc_line(g, arc, arc->callee));
        }
    }
}

void entry_deinit(struct entry *e)
{
    vec_free(&e->callers.all);
    vec_free(&e->below.all);
    vec_free(&e->scratch.all);
}

/* --- which, and in which order ---------------------------------------------------------------- */

static bool entries_has_recorded_callees(const struct graph *g, uint32_t function)
{
    for (uint32_t i = g->callees.start[function]; i < g->callees.start[function + 1]; i++)
        if (!graph_arc_is_static(g, &g->arcs[g->callees.arc[i]]))
            return true;
    return false;
}

static bool entries_is_in_others(const struct summary *s, uint32_t node)
{
    for (size_t i = 0; i < s->others.len; i++)
        if (s->others.at[i].totals && s->others.at[i].totals[node] > 0)
            return true;
    return false;
}

/* Whether nothing was measured of a node: not even calls that it made. */
static bool entries_is_idle(const struct entries *t, uint32_t node)
{
    const struct graph *g = t->graph;
    const struct graph_node *n = &g->nodes[node];
    if (n->self != 0 || n->children != 0 || n->calls || n->self_calls ||
        entries_is_in_others(t->summary, node))
        return false;
    return graph_is_cycle(g, node) || !entries_has_recorded_callees(g, node);
}

struct entry_sort {
    const struct graph *g;
    struct names *names;
    enum view_sort sort;
};

static const char *entries_name_of(const struct entry_sort *o, uint32_t node)
{
    return graph_is_cycle(o->g, node) ? "<cycle" : names_get(o->names, node);
}

/* By the requested order, then by total time; equals stay in the order of ranks. */
static int entries_compare(uint32_t left, uint32_t right, const void *context)
{
    const struct entry_sort *o = context;
    const struct graph_node *l = &o->g->nodes[left], *r = &o->g->nodes[right];
    double l_total = l->self + l->children, r_total = r->self + r->children;
    if (o->sort == BY_SELF && l->self != r->self)
        return l->self < r->self ? 1 : -1;
    if (o->sort == BY_CALLS && l->calls != r->calls)
        return l->calls < r->calls ? 1 : -1;
    if (o->sort != BY_NAME && l_total != r_total)
        return l_total < r_total ? 1 : -1;
    return o->sort == BY_NAME ? strcmp(entries_name_of(o, left), entries_name_of(o, right)) : 0;
}

/* A cycle passes if a member does. */
static bool entries_passes(const struct entries *t, struct names *names,
                           const struct view_rules *rules, uint32_t node)
{
    const struct graph *g = t->graph;
    const struct graph_node *n = &g->nodes[node];
    if (100 * summary_share(t->summary, n->self + n->children) < rules->min_percent)
        return false;
    if (!graph_is_cycle(g, node))
        return filter_admits(rules->filter, names, node);
    for (uint32_t m = n->next_member; m != NO_NODE; m = g->nodes[m].next_member)
        if (filter_admits(rules->filter, names, m))
            return true;
    return false;
}

void entries_make(struct entries *t, const struct summary *s, struct graph *g, struct names *names,
                  const struct view_rules *rules, struct arena *a)
{
    *t = (struct entries){.summary = s, .graph = g};
    if (!g->ranked)
        graph_rank(g, (struct graph_rules){0}, a);
    t->shown = ARENA_NEW(a, uint32_t, g->len);
    t->number = ARENA_NEW(a, uint32_t, g->len);
    for (uint32_t c = g->functions->len; c < g->len; c++)
        graph_sort_members(g, c);
    uint32_t all = 0;
    for (uint32_t i = 0; i < g->len; i++)
        if (rules->shows_all || !entries_is_idle(t, g->ranked[i]))
            t->shown[all++] = g->ranked[i];
    if (rules->has_sort)
        sort_u32(t->shown, all, entries_compare, &(struct entry_sort){g, names, rules->sort});
    for (uint32_t i = 0; i < all; i++) {
        uint32_t node = t->shown[i];
        t->number[node] = i + 1;
        bool has_room = !rules->limit || t->len < rules->limit;
        if (has_room && entries_passes(t, names, rules, node))
            t->shown[t->len++] = node;
        else
            t->omitted++;
    }
}

/* --- trees
 * --------------------------------------------------------------------------------------------- */

/* A caller or callee of the node at hand, and what flows there. */
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

/* A tree while it is walked: branches that wait for their turn, the next one on top. */
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

static int by_node(const void *left, const void *right)
{
    const struct branch *l = left, *r = right;
    return (l->node > r->node) - (l->node < r->node);
}

/* The least important first: it is pushed first, so it is printed last. */
static int by_weight(const void *left, const void *right)
{
    const struct branch *l = left, *r = right;
    if (l->samples != r->samples)
        return l->samples < r->samples ? -1 : 1;
    if (l->calls != r->calls)
        return l->calls < r->calls ? -1 : 1;
    return -by_node(left, right);
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
        if (w->t->is_upward) {
            /* The callers of `member`, with what part of `from` flows to each. */
            uint64_t calls = g->nodes[from->node].calls;
            double per_call = calls ? from->samples / (double)calls : 0;
            for (uint32_t i = g->callers.start[m]; i < g->callers.start[m + 1]; i++) {
                const struct graph_arc *arc = &g->arcs[g->callers.arc[i]];
                if (!graph_arc_is_internal(g, arc))
                    vec_push(&w->next.all, (struct branch){g->nodes[arc->caller].head, arc->count,
                                                           per_call * (double)arc->count,
                                                           graph_arc_is_static(g, arc)});
            }
            uint64_t unknown = graph_unknown_calls(g, m);
            if (unknown)
                vec_push(&w->next.all,
                         (struct branch){NO_NODE, unknown, per_call * (double)unknown, false});
        } else {
            double total = total_of(&g->nodes[from->node]);
            double part = total > 0 ? from->samples / total : 0;
            for (uint32_t i = g->callees.start[m]; i < g->callees.start[m + 1]; i++) {
                const struct graph_arc *arc = &g->arcs[g->callees.arc[i]];
                if (!graph_arc_is_internal(g, arc))
                    vec_push(&w->next.all, (struct branch){g->nodes[arc->callee].head, arc->count,
                                                           part * (arc->self + arc->children),
                                                           graph_arc_is_static(g, arc)});
            }
        }
        m = is_cycle ? g->nodes[m].next_member : NO_NODE;
    }
    size_t kept = 0;
    if (w->next.all.len)
        qsort(w->next.all.at, w->next.all.len, sizeof *w->next.all.at, by_node);
    for (size_t i = 0; i < w->next.all.len; i++) {
        const struct branch *branch = &w->next.all.at[i];
        struct branch *last = kept ? &w->next.all.at[kept - 1] : NULL;
        if (last && last->node == branch->node) {
            last->is_static &= branch->is_static;
            last->calls += branch->calls;
            last->samples += branch->samples;
        } else {
            w->next.all.at[kept++] = *branch;
        }
    }
    w->next.all.len = kept;
    if (kept)
        qsort(w->next.all.at, kept, sizeof *w->next.all.at, by_weight);
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
        struct tree_row row = {.node = here.branch.node,
                               .depth = here.depth,
                               .calls = here.branch.calls,
                               .samples = here.branch.samples,
                               .is_static = here.branch.is_static};
        find_next(&w, &here.branch);
        for (size_t i = 0; i < w.next.all.len; i++) {
            const struct branch *b = &w.next.all.at[i];
            if (here.depth >= w.rules->depth ||
                100 * summary_share(w.t->summary, b->samples) < w.rules->min_percent)
                row.cut++;
            else
                vec_push(&w.stack, (struct pending){*b, here.depth + 1});
        }
        vec_push(&w.rows, row);
    }
    t->is_cut = w.stack.len != 0;
    t->len = w.rows.len;
    t->rows = ARENA_NEW(a, struct tree_row, t->len);
    memcpy(t->rows, w.rows.at, t->len * sizeof *t->rows);
    vec_free(&w.rows);
    vec_free(&w.stack);
    vec_free(&w.next.all);
}
