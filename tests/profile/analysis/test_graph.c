/* The call graph: what flows in flows out, whatever the calls; cycles and depths of any size. */
#include "cases.h"
#include "profile/analysis/toy.h"

#include <stdlib.h>

/* One sample for each function of the toy, in bins of 16 bytes. */
static void sample_all(struct toy *b, uint64_t hits)
{
    uint32_t n = b->functions.len;
    struct histogram *h = toy_histogram(b, FIRST, address_of(n), n);
    for (uint32_t i = 0; i < n; i++)
        histogram_add(h, i, hits);
}

struct flow {
    double time;
    uint64_t calls;
};

/* What the callers of an entry account for. */
static struct flow inward(const struct entry *e)
{
    struct flow f = {0};
    for (size_t i = 0; i < e->callers.all.len; i++) {
        const struct entry_line *line = &e->callers.all.at[i];
        if (line->kind == LINE_INTERNAL)
            continue;
        f.time += line->self + line->children;
        f.calls += line->calls;
    }
    return f;
}

static double from_callees(const struct entry *e)
{
    double time = 0;
    for (size_t i = 0; i < e->below.all.len; i++)
        if (e->below.all.at[i].kind == LINE_ARC)
            time += e->below.all.at[i].self + e->below.all.at[i].children;
    return time;
}

static double from_nowhere(const struct entry *e)
{
    double time = 0;
    for (size_t i = 0; i < e->callers.all.len; i++)
        if (e->callers.all.at[i].node == NO_NODE)
            time += e->callers.all.at[i].self + e->callers.all.at[i].children;
    return time;
}

/* The laws, entry by entry, and for the whole: roots account for all attributed samples. */
static void check_laws(struct toy *b)
{
    struct entries t;
    struct entry e = {0};
    struct filter filter = {0};
    struct view_rules rules = {.shows_all = true, .filter = &filter};
    double roots = 0;
    uint64_t calls = 0;
    entries_make(&t, &b->summary, &b->graph, &b->names, &rules, &b->arena);
    for (uint32_t i = 0; i < t.len; i++) {
        const struct graph_node *n = &b->graph.nodes[t.shown[i]];
        entry_make(&t, t.shown[i], &e);
        bool is_member = n->cycle && !e.is_cycle;
        struct flow flow = inward(&e);
        if (!is_member) {
            assert_close(flow.time, n->self + n->children);
            assert_true(flow.calls == n->calls);
            roots += from_nowhere(&e);
        }
        if (!e.is_cycle) {
            assert_close(from_callees(&e), n->children);
            calls += n->calls + n->self_calls;
        }
    }
    assert_close(roots + b->summary.unattributed, b->summary.samples);
    assert_true(calls + b->summary.unknown_callees == b->summary.calls);
    entry_deinit(&e);
}

static void check_flat(struct toy *b)
{
    struct flat t;
    struct filter filter = {0};
    double self = 0;
    uint64_t calls = 0;
    flat_make(&t, &b->summary, &b->graph, &b->names,
              &(struct view_rules){.limit = b->functions.len / 2 + 1, .filter = &filter},
              &b->arena);
    for (uint32_t i = 0; i < t.len; i++) {
        self += t.rows[i].self;
        calls += t.rows[i].calls;
        assert_true(!i || t.rows[i].self <= t.rows[i - 1].self);
    }
    assert_close(self + t.omitted.self + b->summary.unattributed, b->summary.samples);
    assert_true(calls + t.omitted.calls + b->summary.unknown_callees == b->summary.calls);
}

CASE(test_random_graphs)
{
    uint64_t seed = 7;
    for (int round = 0; round < 300; round++) {
        struct toy b = {0};
        uint32_t n = 1 + next_random(&seed) % 40;
        toy_functions(&b, n, 16);
        sample_all(&b, 1 + next_random(&seed) % 1000);
        for (uint32_t i = next_random(&seed) % (3 * n); i > 0; i--) {
            uint32_t caller = next_random(&seed) % (n + 1), callee = next_random(&seed) % (n + 1);
            toy_call(&b, caller < n ? caller : NO_FUNCTION, callee < n ? callee : NO_FUNCTION,
                     1 + next_random(&seed) % 1000);
        }
        toy_analyse(&b);
        check_laws(&b);
        check_flat(&b);
        toy_deinit(&b);
    }
}

/* Each pair has one arc, those of the code behind those that were measured. */
static void check_static_arcs(const struct toy *b, const struct static_calls *calls)
{
    const struct graph *g = &b->graph;
    uint32_t n = b->functions.len;
    uint8_t *seen = calloc((size_t)n * n, 1);
    assert_non_null(seen);
    for (uint32_t i = 0; i < g->arcs_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        assert_int_equal(graph_arc_is_static(g, arc), i >= g->measured_len);
        assert_int_equal(arc->count == 0, i >= g->measured_len);
        assert_int_equal(seen[arc->caller * n + arc->callee]++, 0);
    }
    for (size_t i = 0; i < calls->len; i++)
        assert_int_equal(seen[calls->at[i].caller * n + calls->at[i].callee], 1);
    free(seen);
}

CASE(test_static_arcs)
{
    uint64_t seed = 8;
    for (int round = 0; round < 300; round++) {
        struct toy b = {0};
        struct static_call pairs[200];
        struct static_calls calls = {pairs, 0};
        uint32_t n = 1 + next_random(&seed) % 20;
        toy_functions(&b, n, 16);
        sample_all(&b, 1 + next_random(&seed) % 1000);
        for (uint32_t i = next_random(&seed) % (2 * n); i > 0; i--)
            toy_call(&b, next_random(&seed) % n, next_random(&seed) % n, 1 + i);
        for (uint32_t caller = 0; caller < n; caller++)
            for (uint32_t i = next_random(&seed) % 5; i > 0; i--)
                pairs[calls.len++] = (struct static_call){caller, next_random(&seed) % n};
        b.rules.calls = &calls;
        toy_analyse(&b);
        check_static_arcs(&b, &calls);
        check_laws(&b);
        check_flat(&b);
        toy_deinit(&b);
    }
}

/* Calls from outside the program to the members of a cycle keep their part of its time. */
CASE(test_unknown_callers_of_a_cycle)
{
    struct toy b = {0};
    toy_functions(&b, 3, 16);
    sample_all(&b, 10);
    toy_call(&b, 0, 1, 1);
    toy_call(&b, NO_FUNCTION, 2, 3);
    toy_call(&b, 1, 2, 5);
    toy_call(&b, 2, 1, 5);
    toy_analyse(&b);
    assert_int_equal(b.graph.cycles, 1);
    assert_int_equal(b.graph.nodes[3].calls, 4);
    assert_close(b.graph.nodes[0].children, 5);
    check_laws(&b);
    toy_deinit(&b);
}

CASE(test_counts_beyond_32_bits)
{
    struct toy b = {0};
    toy_functions(&b, 2, 16);
    toy_call(&b, 0, 1, UINT64_C(1) << 40);
    toy_call(&b, 0, 1, UINT64_C(1) << 40);
    toy_analyse(&b);
    assert_true(b.graph.nodes[1].calls == UINT64_C(1) << 41);
    assert_int_equal(b.graph.arcs_len, 1);
    toy_deinit(&b);
}

/* A chain as deep as this ends GNU gprof by its recursion. */
CASE(test_deep_chain)
{
    enum { DEPTH = 200000 };
    struct toy b = {0};
    toy_functions(&b, DEPTH, 16);
    sample_all(&b, 1);
    for (uint32_t i = 0; i + 1 < DEPTH; i++)
        toy_call(&b, i, i + 1, 2);
    toy_analyse(&b);
    assert_int_equal(b.graph.cycles, 0);
    assert_close(b.graph.nodes[0].self + b.graph.nodes[0].children, DEPTH);
    check_laws(&b);

    struct tree tree;
    tree_make(&tree, &b.summary, &b.graph, 0, false,
              &(struct tree_rules){.depth = UINT32_MAX, .limit = DEPTH}, &b.arena);
    assert_int_equal(tree.len, DEPTH);
    assert_int_equal(tree.rows[DEPTH - 1].depth, DEPTH - 1);
    assert_close(tree.rows[DEPTH - 1].samples, 1);
    toy_deinit(&b);
}

CASE(test_large_cycle)
{
    enum { SIZE = 50000 };
    struct toy b = {0};
    toy_functions(&b, SIZE + 1, 16);
    sample_all(&b, 1);
    toy_call(&b, SIZE, 7, 3);
    for (uint32_t i = 0; i < SIZE; i++)
        toy_call(&b, i, (i + 1) % SIZE, 10);
    toy_analyse(&b);
    assert_int_equal(b.graph.cycles, 1);
    assert_int_equal(b.graph.nodes[SIZE + 1].calls, 3);
    assert_true(b.graph.nodes[SIZE + 1].self_calls == 10 * SIZE);
    assert_close(b.graph.nodes[SIZE].children, SIZE);
    check_laws(&b);
    toy_deinit(&b);
}

/* Ten levels of ten calls each are ten thousand million paths. */
CASE(test_tree_is_bounded)
{
    enum { LEVELS = 11, WIDTH = 10, LIMIT = 5000 };
    struct toy b = {0};
    toy_functions(&b, LEVELS * WIDTH, 16);
    sample_all(&b, 1);
    for (uint32_t level = 0; level + 1 < LEVELS; level++)
        for (uint32_t i = 0; i < WIDTH; i++)
            for (uint32_t k = 0; k < WIDTH; k++)
                toy_call(&b, level * WIDTH + i, (level + 1) * WIDTH + k, 1);
    toy_analyse(&b);
    check_laws(&b);
    struct tree tree;
    struct tree_rules rules = {.depth = 100, .limit = LIMIT};
    tree_make(&tree, &b.summary, &b.graph, LEVELS * WIDTH - 1, true, &rules, &b.arena);
    assert_true(tree.is_cut && tree.len == LIMIT);
    rules.min_percent = 0.001;
    tree_make(&tree, &b.summary, &b.graph, 0, false, &rules, &b.arena);
    assert_false(tree.is_cut);
    toy_deinit(&b);
}

/* Every level of a tree of callers shares out all of the root's time. */
CASE(test_tree_conserves)
{
    struct toy b = {0};
    toy_functions(&b, 5, 16);
    sample_all(&b, 60);
    toy_call(&b, 0, 1, 1), toy_call(&b, 0, 2, 1), toy_call(&b, NO_FUNCTION, 2, 1);
    toy_call(&b, 1, 3, 2), toy_call(&b, 2, 3, 4), toy_call(&b, 3, 3, 9);
    toy_call(&b, 4, 3, 6);
    toy_analyse(&b);
    struct tree tree;
    tree_make(&tree, &b.summary, &b.graph, 3, true, &(struct tree_rules){.depth = 10, .limit = 100},
              &b.arena);
    double level[3] = {0};
    for (size_t i = 0; i < tree.len; i++)
        level[tree.rows[i].depth] += tree.rows[i].samples;
    assert_close(level[0], 60);
    assert_close(level[1], 60);
    assert_close(level[2], 30); /* function 4 has no callers */
    assert_true(tree.rows[0].calls == 21);
    toy_deinit(&b);
}
