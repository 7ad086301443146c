/* Counts of lines taken apart into entries, on graphs small enough to count by hand. */
#include "bridge/bridge.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

/* Block 0 is the entry, 1 the exit, 2 sets a loop up, 3 is its body, 4 its condition, 5 returns. */
enum { BLOCKS = 6, ROUNDS = 10, START = 4, END = 8 };

struct toy {
    struct notes notes;
    struct flow flow;
    struct line_counts counts;
};

static void add_arc(struct toy *t, uint32_t from, uint32_t to, int64_t count)
{
    vec_push(&t->notes.arcs, ((struct notes_arc){from, to, 0}));
    vec_push(&t->flow.arcs, count);
}

static void add_run(struct toy *t, uint32_t block, uint32_t line, uint32_t more)
{
    struct notes_run run = {.block = block, .first = (uint32_t)t->notes.lines.len, .lines = 1};
    vec_push(&t->notes.lines, line);
    if (more) {
        vec_push(&t->notes.lines, more);
        run.lines = 2;
    }
    vec_push(&t->notes.runs, run);
}

/* A function of `blocks` blocks, whose arcs and runs have been added and whose counts are `counts`.
 */
static void finish(struct toy *t, uint32_t blocks, const int64_t *counts)
{
    vec_push(&t->notes.files, "a.c");
    vec_push(&t->notes.functions, ((struct notes_function){.name = "f",
                                                           .start_line = START,
                                                           .end_line = END,
                                                           .blocks = blocks,
                                                           .exit = 1,
                                                           .arcs = (uint32_t)t->notes.arcs.len,
                                                           .runs = (uint32_t)t->notes.runs.len}));
    t->notes.blocks = blocks;
    for (uint32_t i = 0; i < blocks; i++)
        vec_push(&t->flow.blocks, counts[i]);
    vec_push(&t->flow.functions, ((struct flow_function){.state = FLOW_SOLVED}));
}

/* for (init; condition;) body; with the body on its own line or that of the loop. */
static void make(struct toy *t, int64_t rounds, uint32_t body_line)
{
    int64_t counts[BLOCKS] = {1, 1, 1, rounds, rounds + 1, 1};
    t->notes.origin.number = 1202;
    add_arc(t, 0, 2, 1);
    add_arc(t, 2, 4, 1);
    add_arc(t, 3, 4, rounds);
    add_arc(t, 4, 3, rounds);
    add_arc(t, 4, 5, 1);
    add_arc(t, 5, 1, 1);
    add_run(t, 2, START, 5);
    add_run(t, 3, body_line, 0);
    add_run(t, 4, 5, 0);
    add_run(t, 5, 7, 0);
    finish(t, BLOCKS, counts);
}

static void add(struct toy *t)
{
    uint32_t file = intern(&t->counts.files, "/b/a.c", 6);
    line_counts_add(&t->counts, &t->notes, &t->flow, &file);
}

static void release(struct toy *t)
{
    line_counts_deinit(&t->counts);
    notes_deinit(&t->notes);
    flow_deinit(&t->flow);
}

static void expect(const struct toy *t, const uint64_t (*lines)[2], size_t len)
{
    assert_int_equal(t->counts.at.len, len);
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(t->counts.at.at[i].line, lines[i][0]);
        assert_int_equal(t->counts.at.at[i].count, lines[i][1]);
        assert_int_equal(t->counts.at.at[i].is_start, lines[i][0] == START);
        assert_int_equal(t->counts.at.at[i].is_end, lines[i][0] == END);
    }
}

#define EXPECT(toy, ...)                                    \
    do {                                                    \
        const uint64_t lines[][2] = {__VA_ARGS__};          \
        expect(toy, lines, sizeof lines / sizeof lines[0]); \
    } while (0)

CASE(test_entries_from_elsewhere)
{
    struct toy t = {0};
    make(&t, ROUNDS, 6);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 1}, {5, 1}, {5, ROUNDS}, {6, ROUNDS}, {7, 1}, {END, 1});
    assert_int_equal(t.counts.functions.len, 1);
    assert_int_equal(t.counts.functions.at[0].count, 1);
    release(&t);
}

CASE(test_loop_within_a_line)
{
    struct toy t = {0};
    make(&t, ROUNDS, 5);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 1}, {5, 1}, {5, ROUNDS}, {7, 1}, {END, 1});
    release(&t);
}

/* Block 2 goes on to 3, and both to 4, all on one line, which is entered at 2 alone. */
CASE(test_arcs_within_a_line)
{
    static const int64_t counts[] = {10, 10, 10, 4, 10, 10};
    struct toy t = {.notes.origin.number = 1202};
    add_arc(&t, 0, 2, 10);
    add_arc(&t, 2, 3, 4);
    add_arc(&t, 2, 4, 6);
    add_arc(&t, 3, 4, 4);
    add_arc(&t, 4, 5, 10);
    add_arc(&t, 5, 1, 10);
    add_run(&t, 2, START, 5);
    add_run(&t, 3, 5, 0);
    add_run(&t, 4, 5, 0);
    add_run(&t, 5, 7, 0);
    finish(&t, BLOCKS, counts);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 10}, {5, 10}, {7, 10}, {END, 10});
    release(&t);
}

/* Lines 5 and 6 take turns, and the function may return between them. */
CASE(test_entries_keep_their_order)
{
    static const int64_t counts[] = {8, 8, 8, 8, 5, 5, 2, 2};
    struct toy t = {.notes.origin.number = 1202};
    add_arc(&t, 0, 2, 8);
    for (uint32_t block = 2; block < 7; block++)
        add_arc(&t, block, block + 1, counts[block + 1]);
    add_arc(&t, 3, 1, 3);
    add_arc(&t, 5, 1, 3);
    add_arc(&t, 7, 1, 2);
    add_run(&t, 2, START, 5);
    for (uint32_t block = 3; block < 7; block++)
        add_run(&t, block, block % 2 ? 6 : 5, 0);
    add_run(&t, 7, 7, 0);
    finish(&t, 8, counts);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 8}, {5, 8}, {5, 5}, {5, 2}, {6, 8}, {6, 5}, {7, 2}, {END, 8});
    release(&t);
}

/* gcc may list a line twice in one block, which ran no more often for that. */
CASE(test_a_line_listed_twice)
{
    static const int64_t counts[] = {3, 3, 3, 3};
    struct toy t = {.notes.origin.number = 1202};
    add_arc(&t, 0, 2, 3);
    add_arc(&t, 2, 3, 3);
    add_arc(&t, 3, 1, 3);
    add_run(&t, 2, 5, 5);
    add_run(&t, 3, 7, 0);
    finish(&t, 4, counts);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {5, 3}, {7, 3}, {END, 3});
    release(&t);
}

/* A function of nothing but an entry and an exit was called, too; an arc behind the function's own
 * is none of it. */
CASE(test_two_blocks)
{
    static const int64_t counts[] = {4, 4};
    struct toy t = {.notes.origin.number = 1202};
    add_arc(&t, 0, 1, 4);
    finish(&t, 2, counts);
    vec_push(&t.notes.arcs, ((struct notes_arc){0, 1, NOTES_ARC_FAKE}));
    vec_push(&t.flow.arcs, 3);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {END, 4});
    assert_int_equal(t.counts.functions.at[0].count, 4);
    release(&t);
}

/* gcc 3.4's gcov adds up all blocks of a line: each is an entry. */
CASE(test_old_versions_sum_blocks)
{
    struct toy t = {0};
    make(&t, ROUNDS, 5);
    t.notes.origin.number = 304;
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 1}, {5, 1 + 2 * ROUNDS + 1}, {7, 1}, {END, 1});
    release(&t);
}

CASE(test_a_part_that_never_ran)
{
    struct toy t = {0};
    make(&t, 0, 5);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 1}, {5, 1}, {5, 0}, {7, 1}, {END, 1});
    release(&t);
}

CASE(test_units_add_up)
{
    struct toy t = {0};
    make(&t, ROUNDS, 6);
    add(&t);
    add(&t);
    line_counts_settle(&t.counts);
    EXPECT(&t, {START, 2}, {5, 2}, {5, 2 * ROUNDS}, {6, 2 * ROUNDS}, {7, 2}, {END, 2});
    release(&t);
}

CASE(test_unknown_functions_have_no_counts)
{
    static const uint8_t states[] = {FLOW_UNKNOWN, FLOW_ABSENT};
    for (size_t i = 0; i < sizeof states; i++) {
        struct toy t = {0};
        make(&t, ROUNDS, 6);
        t.flow.functions.at[0].state = states[i];
        add(&t);
        line_counts_settle(&t.counts);
        assert_int_equal(t.counts.at.len, 0);
        assert_int_equal(t.counts.functions.len, 0);
        release(&t);
    }
}

/* The last line of one function is where another has code: that one's count alone stands there. */
CASE(test_end_gives_way)
{
    struct toy t = {0};
    make(&t, ROUNDS, 6);
    add(&t);
    t.notes.functions.at[0].name = "g";
    t.notes.lines.at[t.notes.lines.len - 1] = END;
    t.notes.functions.at[0].end_line = END + 1;
    add(&t);
    line_counts_settle(&t.counts);
    size_t seen = 0;
    for (size_t i = 0; i < t.counts.at.len; i++) {
        seen += t.counts.at.at[i].line == END;
        assert_int_equal(t.counts.at.at[i].is_end, t.counts.at.at[i].line == END + 1);
    }
    assert_int_equal(seen, 1);
    release(&t);
}
