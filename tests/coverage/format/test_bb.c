/* Graphs, counters and lines of gcc before 3.4: what is taken for one, each limit by itself, and
 * that numbers without bytes behind them cost no memory. */
#include "cases.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include <stdlib.h>
#include <string.h>

#define END   UINT32_C(0x80000001) /* and what stands around names; in lines around files */
#define TEXT  END
#define NAMED UINT32_C(0x80000002)
#define DA_33 UINT32_C(0x8000007b)

enum { MOST = 1 << 24 };

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

CASE(test_a_graph)
{
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
CASE(test_numbers_without_bytes)
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
CASE(test_what_is_a_graph)
{
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

/* --- counters --------------------------------------------------------------------------------- */

/* The number of counts fills the file, or it is gcc 3.3's. */
CASE(test_what_is_counters)
{
    assert_true(bb_counters_probe(WORDS(1, 0, 5, 0)));
    assert_false(bb_counters_probe(WORDS(2, 0, 5, 0)));
    assert_false(bb_counters_probe(WORDS(1, 0, 5, 0, 9)));
    assert_false(bb_counters_probe(WORDS(0, 0)));
    assert_true(bb_counters_probe(WORDS(DA_33)));
}

CASE(test_counters)
{
    struct counters row = {0}, negative = {0}, cut = {0}, summed = {0}, thrice = {0};
    struct err e = {0};
    assert_true(bb_counters_read(WORDS(2, 0, 5, 0, 6, 1), "x", &row, &e));
    assert_int_equal(row.values.len, 2);
    assert_true(row.values.at[1] == (UINT64_C(1) << 32) + 6);
    assert_false(bb_counters_read(WORDS(1, 0, 5, END), "x", &negative, &e));
    assert_false(bb_counters_read(WORDS(DA_33, 1, 0, END, 1, 'f', END, 7, 2, 5, 0), "x", &cut, &e));
    struct counters named = {0}; /* its name, checksum, and two counts */
    assert_true(
        bb_counters_read(WORDS(DA_33, 1, 0, END, 1, 'f', END, 7, 2, 5, 0, 6, 0), "x", &named, &e));
    assert_int_equal(named.functions.len, 1);
    assert_string_equal(named.functions.at[0].name, "f");
    assert_int_equal(named.functions.at[0].lineno_checksum, 7);
    assert_int_equal(named.values.len, 2);
    assert_int_equal(named.values.at[1], 6);
    counters_deinit(&named);
    /* The program's statistics stand first: how many, the sum, the largest. */
    assert_true(
        bb_counters_read(WORDS(DA_33, 0, 40, 1, 2, 0, 3, 0, 4, 5, 0, 6, 0), "x", &summed, &e));
    assert_int_equal(summed.groups, 1);
    assert_int_equal(summed.summaries.len, 2);
    assert_int_equal(summed.summaries.at[0].sum, 5);
    assert_int_equal(summed.summaries.at[1].sum, 2);
    assert_int_equal(summed.summaries.at[1].run_max, 3);
    assert_int_equal(summed.records.at[1].what, COUNTED_PROGRAM_SUMMARY);
    counters_deinit(&row);
    counters_deinit(&negative);
    counters_deinit(&cut);
    counters_deinit(&summed);
    /* Each program that ran leaves a group. */
    assert_true(bb_counters_read(WORDS(DA_33, 0, 0, DA_33, 0, 0, DA_33, 0, 0), "x", &thrice, &e));
    assert_int_equal(thrice.groups, 3);
    counters_deinit(&thrice);
}

/* --- lines ------------------------------------------------------------------------------------ */

#define F   NAMED, 'f', NAMED
#define G   NAMED, 'g', NAMED
#define A_C TEXT, 'a' | '.' << 8 | 'c' << 16, TEXT

/* Two graphs of three blocks. */
static bool read_lines(struct bytes in, struct notes *n, struct err *e)
{
    assert_true(
        bb_graph_read(WORDS(3, 1, 1, 1, 0, 0, 0, END, 3, 1, 1, 2, 0, 0, 0, END), "x", n, e));
    return bb_lines_read(in, "x", n, e);
}

/* The second function has no lines, and no file. */
CASE(test_lines)
{
    struct notes n = {0};
    struct err e = {0};
    assert_true(read_lines(WORDS(F, 0, A_C, 7, 8, G, 0, 0), &n, &e));
    assert_string_equal(n.functions.at[0].name, "f");
    assert_int_equal(n.functions.at[0].start_line, 7);
    assert_int_equal(n.functions.at[0].file, 0);
    assert_string_equal(n.files.at[0], "a.c");
    assert_int_equal(n.functions.at[0].runs, 1);
    assert_int_equal(n.runs.at[0].block, 1);
    assert_int_equal(n.lines.len, 2);
    assert_string_equal(n.functions.at[1].name, "g");
    assert_int_equal(n.functions.at[1].runs, 0);
    assert_int_equal(n.functions.at[1].start_line, 0);
    assert_int_equal(n.functions.at[1].file, (uint32_t)NO_INDEX);
    notes_deinit(&n);
}

/* The last block before the exit may end, or not; with fewer or more blocks, or lines that are no
 * function's or no file's, nothing is taken. */
CASE(test_lines_that_do_not_fit)
{
    const struct {
        struct bytes in;
        const char *words; /* of the error; NULL: none */
    } cases[] = {{WORDS(F, 0, A_C, 7, 0, G, 0), NULL},
                 {WORDS(F, A_C, 7, G, 0), "has 1 blocks of 'f'"},
                 {WORDS(F, A_C, 7, 0, 0, 0, G, 0), "has 4 blocks of 'f'"},
                 {WORDS(F, 0, A_C, 7), "names 1 functions"},
                 {WORDS(A_C, 7, F, 0, G, 0), "at offset 12:"},
                 {WORDS(F, 0, A_C, 7, END | 9, G, 0), "at offset 32:"},
                 {WORDS(F, 7, 0, G, 0), "at offset 12:"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct notes n = {0};
        struct err e = {0};
        bool ok = read_lines(cases[i].in, &n, &e);
        if (ok != !cases[i].words || (!ok && !strstr(e.line, cases[i].words)))
            fail_msg("case %zu: %s", i, e.line);
        assert_true(ok || !(n.files.len + n.runs.len + n.lines.len));
        notes_deinit(&n);
    }
}

/* Counters of gcc before 3.3 have no names: they are the functions' in the order of the notes. */
CASE(test_counters_are_shared_out)
{
    struct notes n = {0};
    struct counters c = {0};
    struct err e = {0};
    (void)state;
    vec_push(&n.functions, ((struct notes_function){.name = "f", .ident = 7, .instrumented = 2}));
    vec_push(&n.functions, ((struct notes_function){.name = "g", .ident = 8, .instrumented = 0}));
    vec_push(&n.functions, ((struct notes_function){.name = "h", .ident = 9, .instrumented = 1}));
    for (uint64_t value = 10; value < 13; value++)
        vec_push(&c.values, value);
    assert_true(bb_counters_share(&c, &n, &e));
    assert_int_equal(c.functions.len, 3);
    assert_string_equal(c.functions.at[2].name, "h");
    assert_int_equal(c.functions.at[2].ident, 9);
    vec_push(&c.values, 13);
    assert_false(bb_counters_share(&c, &n, &e));
    assert_non_null(strstr(e.line, "there are 4 counters, and 3 counted arcs in the notes"));
    counters_deinit(&c);
    notes_deinit(&n);
}
