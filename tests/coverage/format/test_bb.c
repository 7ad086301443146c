/* Graphs of gcc before 3.4: what is taken for one, each limit by itself, and that numbers without
 * bytes behind them cost no memory. */
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { END = 0x80000001u, MOST = 1 << 24 };

/* Numbers of 4 bytes, one behind the other; the highest bit is the sign. */
static struct bytes words(uint8_t *to, const uint32_t *numbers, size_t len)
{
    for (size_t i = 0; i < 4 * len; i++)
        to[i] = (uint8_t)(numbers[i / 4] >> 8 * (i % 4));
    return (struct bytes){to, 4 * len};
}

#define WORDS(...)                                           \
    words((uint8_t[64]){0}, (const uint32_t[]){__VA_ARGS__}, \
          sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void test_a_graph(void **state)
{
    (void)state;
    struct notes n = {0};
    struct err e = {0};
    assert_true(bb_graph_read(WORDS(3, 2, 1, 1, 0, 1, 2, 1, 0, END), "x", &n, &e));
    assert_int_equal(n.functions.len, 1);
    assert_int_equal(n.functions.at[0].blocks, 3);
    assert_int_equal(n.functions.at[0].exit, 2);
    assert_int_equal(n.arcs.len, 2);
    assert_int_equal(n.arcs.at[1].source, 1);
    assert_int_equal(n.arcs.at[1].target, 2);
    notes_deinit(&n);
}

/* Of the function, and of a block that has more than its function. */
static void test_numbers_without_bytes(void **state)
{
    enum { MANY = 1 << 20, FEW = 100 };
    (void)state;
    const struct bytes graphs[] = {WORDS(2, MANY, MANY, 1, 0, END), WORDS(2, 1, MANY, 1, 0, END),
                                   WORDS(MANY, 1, 1, 1, 0, END)};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        struct notes n = {0};
        struct err e = {0};
        assert_false(bb_graph_read(graphs[i], "x", &n, &e));
        assert_int_equal(n.arcs.len, 0);
        assert_true(n.arcs.cap < FEW && n.functions.cap < FEW);
        assert_int_equal(n.blocks, 0);
        notes_deinit(&n);
    }
}

/* blocks, arcs, those of the first block, the first one's target. */
static void test_what_is_a_graph(void **state)
{
    (void)state;
    static const struct {
        uint32_t numbers[4];
        bool is_one;
    } CASES[] = {{{2, 1, 1, 1}, true},           {{1, 1, 1, 0}, false},
                 {{2, 0, 1, 1}, false},          {{2, 1, 0, 1}, false},
                 {{4, 2, 2, 1}, true},           {{4, 2, 3, 1}, false},
                 {{5, 2, 1, 1}, false},          {{4, 2, 1, 3}, true},
                 {{4, 2, 1, 4}, false},          {{3, MOST - 1, 1, 1}, true},
                 {{3, MOST, 1, 1}, false},       {{MOST - 1, MOST / 2, 1, 1}, true},
                 {{MOST, MOST / 2, 1, 1}, false}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint8_t bytes[16];
        if (bb_graph_probe(words(bytes, CASES[i].numbers, 4)) != CASES[i].is_one)
            fail_msg("case %zu", i);
    }
    assert_false(bb_graph_probe(WORDS(2, 1)));
    /* gcc 3.3's: a name in two -1, a checksum, the number of blocks. */
    assert_true(bb_graph_probe(WORDS(END, 1, 'f', END, 7, 3)));
    assert_false(bb_graph_probe(WORDS(END, 1, 'f', END, 7, END)));
    assert_false(bb_graph_probe(WORDS(END, 1, 'f', END)));
    assert_false(bb_graph_probe(WORDS(END, 1, 'f', 5, 7, 3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_graph),
        cmocka_unit_test(test_numbers_without_bytes),
        cmocka_unit_test(test_what_is_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
