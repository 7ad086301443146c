/* The proposal's files: the bytes that docs/formats/bbg.md and da.md draw, the pinned gaps, groups,
 * and damage. */
#include "cases.h"
#include "coverage/analysis/flow.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include <stdlib.h>
#include <string.h>

#define NOTES_HEAD     "gbbg304e"
#define FUNCTION_F     "\1\0\0\0\x0c\0\0\0\1\0\0\0f\0\0\0\x78\x56\x34\x12"
#define BLOCKS_3       "\2\0\0\0\x0c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ARC(to, flags) "\3\0\0\0\x08\0\0\0" to "\0\0\0" flags "\0\0\0"
#define NO_ARCS        "\3\0\0\0\0\0\0\0"
#define NO_LINES       "\4\0\0\0\0\0\0\0"
#define LINE_7         "\4\0\0\0\x10\0\0\0\0\0\0\0\3\0\0\0a.c\0\7\0\0\0"
#define NOTES_F        FUNCTION_F BLOCKS_3 ARC("\1", "\0") ARC("\2", "\1") NO_ARCS NO_LINES LINE_7 NO_LINES

#define COUNTERS_HEAD "gcov304e"
#define COUNTS_5      "\5\0\0\0\x08\0\0\0\5\0\0\0\0\0\0\0"
#define SUMMARY(tag)  tag "\0\0\0\x14\0\0\0\1\0\0\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"
#define GROUP         FUNCTION_F COUNTS_5 SUMMARY("\6") SUMMARY("\7")
#define UNKNOWN       "\x63\0\0\0\x05\0\0\0hello"

#define BYTES(text) ((struct bytes){(const uint8_t *)(text), sizeof(text) - 1})

static void expect_written(const struct writer *w, struct bytes expected)
{
    assert_int_equal(w->out.len, expected.len);
    assert_memory_equal(w->out.at, expected.at, expected.len);
}

CASE(test_drawn_notes)
{
    struct bytes in = BYTES(NOTES_HEAD NOTES_F);
    struct notes n = {0};
    struct writer w = {0};
    struct err e = {0};
    assert_true(bbg_probe(in) && bbg_read(in, "x", &n, &e));
    assert_int_equal(n.functions.len, 1);
    const struct notes_function *f = &n.functions.at[0];
    assert_string_equal(f->name, "f");
    assert_int_equal(f->lineno_checksum, 0x12345678);
    assert_int_equal(f->blocks, 3);
    assert_int_equal(f->exit, 2);
    assert_int_equal(f->instrumented, 1);
    assert_int_equal(n.runs.at[0].block, 1);
    assert_int_equal(n.lines.at[0], 7);
    assert_string_equal(n.files.at[0], "a.c");
    assert_true(bbg_write(&w, &n, &e));
    expect_written(&w, in);
    writer_deinit(&w);
    notes_deinit(&n);
}

static uint64_t first_count(struct bytes in, bool is_whole, uint32_t groups)
{
    struct counters c = {0};
    struct err e = {0};
    assert_int_equal(da_read(in, "x", &c, &e), is_whole);
    assert_int_equal(!e.line[0], is_whole);
    assert_int_equal(c.groups, groups);
    assert_int_equal(c.functions.len, 1);
    uint64_t count = c.values.at[c.records.at[c.functions.at[0].first_record].first];
    counters_deinit(&c);
    return count;
}

CASE(test_groups)
{
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP), true, 1), 5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP GROUP), true, 2), 10);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP COUNTERS_HEAD GROUP), true, 2), 10);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD UNKNOWN GROUP UNKNOWN GROUP), true, 2), 10);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP UNKNOWN), true, 1), 5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP UNKNOWN COUNTERS_HEAD), true, 1), 5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP UNKNOWN COUNTERS_HEAD GROUP), true, 2),
                     10);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP "\x63\0\0\0\x05\0\0\0hell"), false, 1),
                     5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP COUNTS_5), false, 1), 5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP "gcov305e" GROUP), false, 1), 5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD GROUP FUNCTION_F COUNTS_5), false, 1), 5);
    assert_int_equal(first_count(BYTES(COUNTERS_HEAD FUNCTION_F COUNTS_5), false, 1), 5);
}

CASE(test_sums_are_written)
{
    struct counters c = {0};
    struct writer w = {0};
    struct err e = {0};
    assert_true(da_read(BYTES(COUNTERS_HEAD GROUP GROUP), "x", &c, &e));
    assert_true(da_write(&w, &c, &e));
#define SUM(tag) tag "\0\0\0\x14\0\0\0\1\0\0\0\x0a\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"
    expect_written(&w, BYTES(COUNTERS_HEAD FUNCTION_F
                             "\5\0\0\0\x08\0\0\0\x0a\0\0\0\0\0\0\0" SUM("\6") SUM("\7")));
    writer_deinit(&w);
    counters_deinit(&c);
}

CASE(test_counts_saturate)
{
    struct counters a = {0}, b = {0};
    struct err e = {0};
    assert_true(da_read(BYTES(COUNTERS_HEAD GROUP), "a", &a, &e));
    assert_true(da_read(BYTES(COUNTERS_HEAD GROUP), "b", &b, &e));
    a.values.at[0] = INT64_MAX - 3;
    assert_true(counters_merge(&a, &b, &e));
    assert_int_equal(a.values.at[0], INT64_MAX);
    b.functions.at[0].lineno_checksum++;
    assert_false(counters_merge(&a, &b, &e));
    assert_non_null(strstr(e.line, "other code"));
    counters_deinit(&a);
    counters_deinit(&b);
}

/* Nothing says that two versions count the same arcs. */
CASE(test_versions_do_not_mix)
{
    struct counters a = {0}, b = {0};
    struct notes n = {0};
    struct flow flow = {0};
    struct err e = {0};
    assert_true(da_read(BYTES(COUNTERS_HEAD GROUP), "a", &a, &e));
    assert_true(da_read(BYTES("gcov305e" GROUP), "b", &b, &e));
    assert_false(counters_merge(&a, &b, &e));
    assert_non_null(strstr(e.line, "305e"));
    assert_non_null(strstr(e.line, "304e"));
    assert_int_equal(a.values.at[0], 5);
    assert_true(bbg_read(BYTES(NOTES_HEAD NOTES_F), "x", &n, &e));
    flow_solve(&n, &b, &flow);
    assert_int_equal(flow.functions.at[0].state, FLOW_UNKNOWN);
    assert_int_equal(flow.functions.at[0].reason, FLOW_OTHER_VERSION);
    flow_solve(&n, &a, &flow);
    assert_int_equal(flow.functions.at[0].state, FLOW_SOLVED);
    flow_deinit(&flow);
    notes_deinit(&n);
    counters_deinit(&a);
    counters_deinit(&b);
}

CASE(test_version_words)
{
    assert_int_equal(bbg_version_number(BBG_VERSION), 304);
    for (uint16_t number = 300; number < 1700; number++)
        if (number % 100 < 10)
            assert_int_equal(bbg_version_number(bbg_version_word(number, 'r')), number);
    assert_memory_equal(&(uint32_t){bbg_version_word(1202, 'r')}, "C02r", 4);
    assert_memory_equal(&(uint32_t){bbg_version_word(902, 'e')}, "902e", 4);
    assert_int_equal(arcs_version_word(9, 2), 0x4139322a);        /* A92* */
    assert_int_equal(arcs_version_word_of_major(12), 0x4232322a); /* B22* */
}

static enum arcs_defect defect_in(struct bytes in)
{
    struct notes n = {0};
    struct err e = {0};
    bool ok = bbg_read(in, "x", &n, &e);
    assert_int_equal(ok, !e.line[0]);
    assert_int_equal(n.functions.len, 1);
    enum arcs_defect defect = n.functions.at[0].defect;
    notes_deinit(&n);
    return defect;
}

CASE(test_defects)
{
    assert_int_equal(defect_in(BYTES(NOTES_HEAD NOTES_F)), DEFECT_NONE);
    assert_int_equal(defect_in(BYTES(NOTES_HEAD UNKNOWN NOTES_F UNKNOWN)), DEFECT_NONE);
    assert_int_equal(defect_in(BYTES(NOTES_HEAD NOTES_F NO_ARCS)), DEFECT_BAD_BLOCK);
    assert_int_equal(defect_in(BYTES(NOTES_HEAD FUNCTION_F BLOCKS_3 ARC("\1", "\0") ARC("\3", "\1")
                                         NO_ARCS NO_LINES NO_LINES NO_LINES)),
                     DEFECT_BAD_BLOCK);
    assert_int_equal(
        defect_in(BYTES(NOTES_HEAD FUNCTION_F BLOCKS_3 NO_ARCS NO_ARCS NO_ARCS NO_LINES NO_LINES)),
        DEFECT_CUT);
    /* Padding that is not zero; lines that end within a string. */
    assert_int_equal(defect_in(BYTES(NOTES_HEAD "\1\0\0\0\x0c\0\0\0\1\0\0\0f\0x\0\0\0\0\0")),
                     DEFECT_BAD_RECORD);
    assert_int_equal(
        defect_in(BYTES(NOTES_HEAD FUNCTION_F BLOCKS_3 NO_ARCS NO_ARCS NO_ARCS NO_LINES NO_LINES
                        "\4\0\0\0\x08\0\0\0\0\0\0\0\3\0\0\0")),
        DEFECT_BAD_RECORD);
}

CASE(test_refused)
{
    struct notes n = {0};
    struct counters c = {0};
    struct err e = {0};
    static const struct bytes none = {NULL, 0};
    assert_false(bbg_read(none, "x", &n, &e) || da_read(none, "x", &c, &e));
    assert_false(bbg_read(BYTES("gbbge403" NOTES_F), "x", &n, &e)); /* in the other order */
    assert_non_null(strstr(e.line, "version"));
    assert_false(da_read(BYTES("vocg304e"), "x", &c, &e));
    assert_non_null(strstr(e.line, "byte order"));
    notes_deinit(&n);
    counters_deinit(&c);
}

/* Every truncation says so, and nothing of what is left is taken for counted. */
CASE(test_truncation)
{
    struct bytes notes = BYTES(NOTES_HEAD NOTES_F), counters = BYTES(COUNTERS_HEAD GROUP GROUP);
    for (size_t len = 0; len < notes.len; len++) {
        struct notes n = {0};
        struct err e = {0};
        uint8_t *cut = malloc(len ? len : 1);
        memcpy(cut, notes.at, len);
        bool ok = bbg_read((struct bytes){cut, len}, "cut", &n, &e);
        assert_int_equal(ok, len == 8); /* no functions at all */
        for (size_t i = 0; i < n.functions.len; i++)
            assert_true(n.functions.at[i].defect);
        notes_deinit(&n);
        free(cut);
    }
    for (size_t len = 0; len < counters.len; len++) {
        struct counters c = {0};
        struct err e = {0};
        bool ok = da_read((struct bytes){counters.at, len}, "cut", &c, &e);
        assert_int_equal(ok, len == sizeof(COUNTERS_HEAD GROUP) - 1);
        assert_true(counters_sum(&c) == 5 || counters_sum(&c) == 0);
        counters_deinit(&c);
    }
}

/* Solved alike before and after a conversion to gcc's form. */
CASE(test_conversion)
{
    for (unsigned major = 3; major <= 16; major++) {
        struct notes n = {0};
        struct counters c = {0};
        struct flow flow = {0};
        struct err e = {0};
        uint32_t version = arcs_version_word(major, major < 5 ? 4 : 0);
        assert_true(bbg_read(BYTES(NOTES_HEAD NOTES_F), "x", &n, &e));
        assert_true(da_read(BYTES(COUNTERS_HEAD GROUP), "x", &c, &e));
        flow_solve(&n, &c, &flow);
        assert_int_equal(flow.blocks.at[1], 5);
        assert_true(arcs_notes_to_gcov(&n, version, &e));
        assert_true(arcs_counters_to_gcov(&c, version, &e));
        flow_solve(&n, &c, &flow);
        assert_int_equal(flow.functions.at[0].state, FLOW_SOLVED);
        assert_false(flow.pairing.is_other_stamp || flow.pairing.is_other_version);
        assert_int_equal(n.functions.at[0].exit, major < 5 ? 2 : 1);
        assert_int_equal(n.runs.at[0].block, major < 5 ? 1 : 2);
        assert_int_equal(flow.blocks.at[n.runs.at[0].block], 5);
        assert_true(arcs_counters_to_rfc(&c, &n, &e) && arcs_notes_to_rfc(&n, &e));
        flow_solve(&n, &c, &flow);
        assert_int_equal(flow.blocks.at[1], 5);
        flow_deinit(&flow);
        notes_deinit(&n);
        counters_deinit(&c);
    }
}
