/* The solver and the repair on graphs made at random whose true counts are known: walks from entry
 * to exit give every arc its count, a random spanning tree says which arcs have counters. */
#include "cases.h"
#include "coverage/analysis/flow.h"

#include <stdlib.h>
#include <string.h>

struct graph {
    struct notes notes;
    struct counters counters;
    VEC(int64_t) truth; /* of arcs */
    uint64_t seed;
};

static uint32_t draw(struct graph *g, uint32_t below)
{
    g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((g->seed >> 33) % below);
}

static void add_arc(struct graph *g, uint32_t from, uint32_t to)
{
    struct notes_arc arc = {from, to, 0};
    vec_push(&g->notes.arcs, arc);
    vec_push(&g->truth, 0);
}

/* Every block lies on a way from entry to exit: block b > 1 comes from a lower one and leads to a
 * higher one or the exit (1). */
static void make_arcs(struct graph *g, uint32_t blocks, uint32_t more)
{
    for (uint32_t b = 2; b < blocks; b++)
        add_arc(g, b == 2 ? 0 : 2 + draw(g, b - 2), b);
    for (uint32_t b = 2; b < blocks; b++)
        add_arc(g, b, b + 1 < blocks && draw(g, 3) ? b + 1 : 1);
    for (uint32_t i = 0; i < more; i++)
        add_arc(g, draw(g, blocks - 2) + 2, draw(g, 8) ? draw(g, blocks - 2) + 2 : 1);
}

static uint32_t root_of(uint32_t *parent, uint32_t b)
{
    while (parent[b] != b)
        b = parent[b] = parent[parent[b]];
    return b;
}

/* Entry and exit are one node for the tree, as an arc closes the circle. */
static void make_tree(struct graph *g, uint32_t blocks)
{
    uint32_t *parent = malloc(blocks * sizeof *parent), arcs = (uint32_t)g->notes.arcs.len;
    for (uint32_t b = 0; b < blocks; b++)
        parent[b] = b == 1 ? 0 : b;
    for (uint32_t i = 0, at = draw(g, arcs); i < arcs; i++, at = (at + 1) % arcs) {
        struct notes_arc *arc = &g->notes.arcs.at[at];
        uint32_t a = root_of(parent, arc->source), b = root_of(parent, arc->target);
        if (a != b)
            arc->flags |= NOTES_ARC_ON_TREE;
        parent[a] = b;
    }
    free(parent);
}

/* The next arc out of a block: any, but after long enough the way to the exit. */
static uint32_t next_arc(struct graph *g, uint32_t block, uint32_t steps)
{
    uint32_t found = UINT32_MAX, seen = 0;
    for (uint32_t i = 0; i < g->notes.arcs.len; i++) {
        const struct notes_arc *arc = &g->notes.arcs.at[i];
        if (arc->source != block)
            continue;
        if (steps > 200 && (arc->target == 1 || arc->target > block))
            return i;
        if (!draw(g, ++seen))
            found = i;
    }
    return found;
}

static void walk(struct graph *g, uint32_t walks)
{
    for (uint32_t w = 0; w < walks; w++)
        for (uint32_t block = 0, steps = 0; block != 1; steps++) {
            uint32_t arc = next_arc(g, block, steps);
            assert_int_not_equal(arc, UINT32_MAX);
            g->truth.at[arc]++;
            block = g->notes.arcs.at[arc].target;
        }
}

static void describe(struct graph *g, uint32_t blocks)
{
    struct notes_function f = {
        .name = "f", .blocks = blocks, .exit = 1, .arcs = (uint32_t)g->notes.arcs.len};
    struct counted_function counted = {.first_record = 1, .records = 1};
    struct counted_record head = {.what = COUNTED_FUNCTION};
    struct counted_record values = {.what = COUNTED_VALUES, .kind = KIND_ARCS};
    for (uint32_t i = 0; i < f.arcs; i++)
        if (!(g->notes.arcs.at[i].flags & NOTES_ARC_ON_TREE)) {
            vec_push(&g->counters.values, (uint64_t)g->truth.at[i]);
            f.instrumented++;
        }
    values.len = f.instrumented;
    g->notes.blocks = blocks;
    vec_push(&g->notes.functions, f);
    vec_push(&g->counters.functions, counted);
    vec_push(&g->counters.records, head);
    vec_push(&g->counters.records, values);
}

static struct graph make(uint64_t seed, uint32_t blocks, uint32_t more, uint32_t walks)
{
    struct graph g = {.seed = seed};
    make_arcs(&g, blocks, more);
    make_tree(&g, blocks);
    walk(&g, walks);
    describe(&g, blocks);
    return g;
}

static void graph_free(struct graph *g)
{
    notes_deinit(&g->notes);
    counters_deinit(&g->counters);
    vec_free(&g->truth);
}

CASE(test_random_graphs)
{
    struct flow flow = {0};
    for (uint32_t i = 0; i < 600; i++) {
        struct graph g = make(i, 3 + i % 40, i % 60, i % 17);
        flow_solve(&g.notes, &g.counters, &flow);
        assert_int_equal(flow.functions.at[0].state, FLOW_SOLVED);
        assert_true(flow_is_conserved(&g.notes, &flow, 0));
        assert_memory_equal(flow.arcs.at, g.truth.at, g.truth.len * sizeof *g.truth.at);
        assert_int_equal(flow.blocks.at[0], i % 17);
        assert_int_equal(flow.blocks.at[1], i % 17);
        graph_free(&g);
    }
    flow_deinit(&flow);
}

/* One arc too many without a counter closes a cycle. */
CASE(test_cyclic_trees)
{
    struct flow flow = {0};
    for (uint32_t i = 0; i < 300; i++) {
        struct graph g = make(i + 1000, 4 + i % 30, 5 + i % 20, 3);
        uint32_t arc = draw(&g, (uint32_t)g.notes.arcs.len), counter = 0;
        while (g.notes.arcs.at[arc].flags & NOTES_ARC_ON_TREE)
            arc = (arc + 1) % (uint32_t)g.notes.arcs.len;
        for (uint32_t j = 0; j < arc; j++)
            counter += !(g.notes.arcs.at[j].flags & NOTES_ARC_ON_TREE);
        g.notes.arcs.at[arc].flags |= NOTES_ARC_ON_TREE;
        g.notes.functions.at[0].instrumented--;
        g.counters.records.at[1].len--;
        memmove(g.counters.values.at + counter, g.counters.values.at + counter + 1,
                (g.counters.values.len - counter - 1) * sizeof(uint64_t));
        flow_solve(&g.notes, &g.counters, &flow);
        assert_int_equal(flow.functions.at[0].state, FLOW_UNKNOWN);
        assert_int_equal(flow.functions.at[0].reason, FLOW_TREE_CYCLE);
        assert_int_equal(flow.arcs.at[arc], FLOW_NO_COUNT);
        graph_free(&g);
    }
    flow_deinit(&flow);
}

CASE(test_what_is_unknown)
{
    struct flow flow = {0};
    struct graph g = make(5, 12, 9, 4);
    struct notes_function *f = &g.notes.functions.at[0];
    struct flow_function *what;
    g.counters.records.at[1].len--;
    flow_solve(&g.notes, &g.counters, &flow);
    what = &flow.functions.at[0];
    assert_int_equal(what->reason, FLOW_COUNTER_COUNT);
    assert_int_equal(what->place, f->instrumented - 1);
    g.counters.records.at[1].len++;
    f->cfg_checksum++;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_OTHER_CODE);
    f->cfg_checksum--;
    f->ident++;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_OTHER_CODE); /* of another object */
    assert_int_equal(flow.pairing.unmatched, 1);
    g.counters.functions.len = 0;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].state, FLOW_ABSENT);
    g.counters.functions.len = 1;
    g.counters.failure.what = DEFECT_CUT;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_COUNTERS_CUT);
    f->ident--;
    g.counters.functions.at[0].defect = DEFECT_CUT;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_BAD_COUNTERS);
    f->defect = DEFECT_BAD_BLOCK;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_BAD_NOTES);
    f->defect = 0;
    f->exit = 99;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_NO_BLOCKS);
    assert_int_equal(flow.states[FLOW_UNKNOWN], 1);
    f->exit = 1;
    flow_solve(&g.notes, NULL, &flow); /* never ran */
    assert_int_equal(flow.functions.at[0].state, FLOW_SOLVED);
    assert_int_equal(flow.blocks.at[0], 0);
    graph_free(&g);
    flow_deinit(&flow);
}

/* The least change by trying all counters up to 6. */
static uint64_t least_change(struct graph *g, const uint64_t *seen, struct flow *flow)
{
    uint32_t n = g->notes.functions.at[0].instrumented;
    uint64_t best = UINT64_MAX, all = 1;
    for (uint32_t i = 0; i < n; i++)
        all *= 7;
    for (uint64_t trial = 0; trial < all; trial++) {
        uint64_t rest = trial, change = 0;
        for (uint32_t i = 0; i < n; i++, rest /= 7) {
            g->counters.values.at[i] = rest % 7;
            change += rest % 7 > seen[i] ? rest % 7 - seen[i] : seen[i] - rest % 7;
        }
        if (change >= best)
            continue;
        flow_solve(&g->notes, &g->counters, flow);
        if (flow->functions.at[0].state == FLOW_SOLVED)
            best = change;
    }
    return best;
}

CASE(test_least_change)
{
    struct flow flow = {0}, trial = {0};
    unsigned repaired = 0;
    for (uint32_t i = 0; i < 900 && repaired < 60; i++) {
        struct graph g = make(i + 5000, 4 + i % 4, 1 + i % 3, 2);
        uint64_t seen[16];
        uint32_t n = g.notes.functions.at[0].instrumented;
        for (uint32_t c = 0; c < n && n <= 6; c++)
            seen[c] = g.counters.values.at[c] = draw(&g, 5);
        flow_solve(&g.notes, &g.counters, &flow);
        if (n <= 6 && flow.functions.at[0].state == FLOW_DAMAGED) {
            assert_int_equal(flow.functions.at[0].reason, FLOW_NEGATIVE);
            assert_int_equal(flow_repair(&g.notes, &flow), 1);
            assert_int_equal(flow.functions.at[0].reason, FLOW_REPAIRED);
            assert_true(flow_is_conserved(&g.notes, &flow, 0));
            assert_int_equal(flow.functions.at[0].change, least_change(&g, seen, &trial));
            repaired++;
        }
        graph_free(&g);
    }
    assert_int_equal(repaired, 60);
    flow_deinit(&flow);
    flow_deinit(&trial);
}

/* Lost updates, in graphs where all arcs have counters or only those off the tree. */
CASE(test_lost_updates)
{
    struct flow flow = {0};
    unsigned damaged[2] = {0};
    for (uint32_t i = 0; i < 400; i++) {
        struct graph g = make(i + 9000, 4 + i % 50, i % 70, 40);
        bool all = i & 1;
        g.counters.values.len = 0;
        g.notes.functions.at[0].instrumented = 0;
        for (uint32_t a = 0; a < g.notes.arcs.len; a++) {
            g.notes.arcs.at[a].flags &= all ? 0 : NOTES_ARC_ON_TREE;
            if (g.notes.arcs.at[a].flags)
                continue;
            vec_push(&g.counters.values,
                     (uint64_t)(g.truth.at[a] * (50 + (int64_t)draw(&g, 51)) / 100));
            g.notes.functions.at[0].instrumented++;
        }
        g.counters.records.at[1].len = (uint32_t)g.counters.values.len;
        flow_solve(&g.notes, &g.counters, &flow);
        if (flow.functions.at[0].state == FLOW_DAMAGED) {
            damaged[all]++;
            assert_int_equal(flow_repair(&g.notes, &flow), 1);
        }
        assert_int_equal(flow.functions.at[0].state, FLOW_SOLVED);
        assert_true(flow_is_conserved(&g.notes, &flow, 0));
        flow_store(&g.notes, &flow, &g.counters);
        flow_solve(&g.notes, &g.counters, &flow);
        assert_int_equal(flow.functions.at[0].reason, FLOW_FINE);
        graph_free(&g);
    }
    assert_true(damaged[0] > 50 && damaged[1] > 150);
    flow_deinit(&flow);
}

/* A chain of a million blocks with a loop at each, counted by the loops and one arc. */
CASE(test_million_blocks)
{
    enum { BLOCKS = 1000000 };
    struct graph g = {0};
    struct flow flow = {0};
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t next = b == 0 ? 2 : b + 1 < BLOCKS ? b + 1 : 1;
        if (b == 1)
            continue;
        add_arc(&g, b, next);
        g.notes.arcs.at[g.notes.arcs.len - 1].flags = b == BLOCKS / 2 ? 0 : NOTES_ARC_ON_TREE;
        g.truth.at[g.truth.len - 1] = 7;
        if (b < 2)
            continue;
        add_arc(&g, b, b);
        g.truth.at[g.truth.len - 1] = b;
    }
    describe(&g, BLOCKS);
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].state, FLOW_SOLVED);
    assert_memory_equal(flow.arcs.at, g.truth.at, g.truth.len * sizeof *g.truth.at);
    g.counters.values.at[17] = (uint64_t)-5;
    flow_solve(&g.notes, &g.counters, &flow);
    assert_int_equal(flow.functions.at[0].reason, FLOW_NEGATIVE);
    assert_int_equal(flow_repair(&g.notes, &flow), 1);
    assert_int_equal(flow.functions.at[0].change, 5);
    graph_free(&g);
    flow_deinit(&flow);
}
