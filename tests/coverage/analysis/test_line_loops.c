/* Loops among the blocks of a line: graphs whose loops can be counted by hand, and many small ones
 * against a search that goes every way there is. */
#include "cases.h"
#include "coverage/analysis/line_coverage_private.h"

#include "seeds.h"

#include <stdlib.h>

enum { FIRST = 2, MOST = 8, MOST_ARCS = 64 }; /* blocks 0 and 1 are the entry and the exit */

struct arc {
    uint32_t from, to;
    int64_t count;
};

/* The loops among blocks FIRST to FIRST + nodes of a function with these arcs, listed `times` times
 * in the line. */
static int64_t counted(const struct arc *arcs, size_t len, uint32_t nodes, unsigned times)
{
    struct notes n = {0};
    struct flow flow = {0};
    uint32_t blocks = FIRST + MOST;
    vec_push(&n.functions, ((struct notes_function){.name = "other", .blocks = 1}));
    vec_push(
        &n.functions,
        ((struct notes_function){
            .name = "f", .first_block = 1, .blocks = blocks, .exit = 1, .arcs = (uint32_t)len}));
    n.blocks = 1 + blocks;
    for (size_t i = 0; i < len; i++) {
        vec_push(&n.arcs, ((struct notes_arc){FIRST + arcs[i].from, FIRST + arcs[i].to, 0}));
        vec_push(&flow.arcs, arcs[i].count);
    }
    struct coverage_unit unit = {.notes = &n, .flow = &flow};
    struct function_instance instances[] = {{.function = 0}, {.function = 1}};
    VEC(struct instance_block) listed = {0};
    for (unsigned i = 0; i < times; i++)
        for (uint32_t block = 0; block < nodes; block++)
            vec_push(&listed, ((struct instance_block){.instance = 1, .block = FIRST + block}));
    block_graph_build(&n, &unit.graph);
    struct line_loops *loops = line_loops_new();
    int64_t count = line_loops_count(loops, &unit, instances, listed.at, (uint32_t)listed.len);
    assert_true(line_loops_count(loops, &unit, instances, listed.at, (uint32_t)listed.len) ==
                count);
    line_loops_free(loops);
    block_graph_deinit(&unit.graph);
    vec_free(&listed);
    notes_deinit(&n);
    flow_deinit(&flow);
    return count;
}

#define EXPECT(count, nodes, ...)                                                             \
    do {                                                                                      \
        static const struct arc arcs[] = {__VA_ARGS__};                                       \
        for (unsigned times = 1; times <= 2; times++)                                         \
            assert_int_equal(counted(arcs, sizeof arcs / sizeof *arcs, nodes, times), count); \
    } while (0)

CASE(test_no_loop)
{
    EXPECT(0, 3, {0, 1, 5}, {0, 2, 4}, {1, 2, 5});
    EXPECT(0, 2, {0, 1, 5}, {1, 0, 0});            /* never taken */
    EXPECT(0, 2, {0, 1, 5}, {1, 2, 5}, {2, 0, 5}); /* by a block of another line */
    EXPECT(0, 2, {0, 1, 5}, {1, 0, FLOW_NO_COUNT});
}

CASE(test_single_loops)
{
    EXPECT(5, 1, {0, 0, 5});
    EXPECT(7, 2, {0, 1, 10}, {1, 0, 7});
    EXPECT(7, 2, {0, 1, 7}, {1, 0, 10});
    EXPECT(3, 4, {0, 1, 9}, {1, 2, 3}, {2, 3, 4}, {3, 0, 5});
}

CASE(test_several_loops)
{
    EXPECT(7, 3, {0, 1, 4}, {0, 2, 3}, {1, 0, 4}, {2, 0, 3});            /* one block in common */
    EXPECT(9, 4, {0, 1, 4}, {1, 0, 4}, {1, 2, 1}, {2, 3, 5}, {3, 2, 5}); /* no way back */
    EXPECT(11, 2, {0, 0, 5}, {0, 1, 4}, {1, 0, 4}, {1, 1, 2});
    /* The short ones take 2 and, of what the long one has left, 5. */
    EXPECT(10, 3, {0, 1, 10}, {1, 0, 2}, {1, 2, 8}, {2, 0, 3}, {2, 1, 5});
    EXPECT(5, 2, {0, 1, 2}, {0, 1, 3}, {1, 0, 5}); /* two arcs between the same blocks */
}

/* The search from 1 meets 2 and 3 and finds no way back to 1: they are free again for their own. */
CASE(test_blocked_blocks_are_freed)
{
    EXPECT(5, 4, {0, 1, 1}, {1, 2, 2}, {2, 3, 5}, {3, 0, 1}, {3, 2, 4});
}

/* ---- every way there is */

struct search {
    struct arc arcs[MOST_ARCS];
    size_t len;
    uint32_t start, nodes;
    size_t path[MOST + 1], path_len;
    bool is_on_path[MOST];
    int64_t count;
};

static void take(struct search *s)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < s->path_len; i++)
        if (s->arcs[s->path[i]].count < least)
            least = s->arcs[s->path[i]].count;
    for (size_t i = 0; i < s->path_len; i++)
        s->arcs[s->path[i]].count -= least;
    s->count += least;
}

static bool is_used_up(const struct search *s)
{
    for (size_t i = 0; i < s->path_len; i++)
        if (s->arcs[s->path[i]].count <= 0)
            return true;
    return false;
}

static void go_on(struct search *s, uint32_t node)
{
    s->is_on_path[node] = true;
    for (size_t i = 0; i < s->len; i++) {
        const struct arc *arc = &s->arcs[i];
        if (arc->from != node || arc->to >= s->nodes || arc->to < s->start || arc->count <= 0)
            continue;
        s->path[s->path_len++] = i;
        if (arc->to == s->start)
            take(s);
        else if (!is_used_up(s) && !s->is_on_path[arc->to])
            go_on(s, arc->to);
        s->path_len--;
    }
    s->is_on_path[node] = false;
}

static int by_ends(const void *left, const void *right)
{
    const struct arc *l = left, *r = right;
    return l->from != r->from ? (l->from > r->from) - (l->from < r->from)
                              : (l->to > r->to) - (l->to < r->to);
}

CASE(test_every_way)
{
    draws_start_rand("line loops");
    for (int round = 0; round < 20000; round++) {
        struct search s = {.nodes = 1 + (uint32_t)rand() % (MOST - 1)};
        size_t len = (size_t)rand() % 14;
        for (; s.len < len; s.len++)
            s.arcs[s.len] = (struct arc){(uint32_t)rand() % (s.nodes + 1),
                                         (uint32_t)rand() % (s.nodes + 1), rand() % 6};
        qsort(s.arcs, s.len, sizeof *s.arcs, by_ends);
        int64_t count = counted(s.arcs, s.len, s.nodes, 1);
        for (s.start = 0; s.start < s.nodes; s.start++)
            go_on(&s, s.start);
        assert_int_equal(count, s.count);
    }
}
