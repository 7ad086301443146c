/* The files of real compilers: every one is read to its end, record by record, its own notes and
 * counters pair, and every function is solved with flow conserved. */
#include "coverage/analysis/flow.h"
#include "base/file.h"
#include "coverage/format/gcda.h"
#include "coverage/format/gcno.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct file_buffer loaded(const char *path)
{
    struct file_buffer b = {0};
    struct err e = {0};
    if (!file_read(path, &b, &e))
        fail_msg("%s", e.line);
    return b;
}

static void for_each(const char *pattern, void (*check)(const char *path))
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/tests/data/arc-files/%s", getenv("MONARC_SOURCE"), pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 10);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check(found.gl_pathv[i]);
    globfree(&found);
}

static void expect_same(const char *path, const struct writer *w, const struct file_buffer *b)
{
    for (size_t i = 0; i < w->out.len && i < b->len; i++)
        if (w->out.at[i] != b->at[i])
            fail_msg("%s: written differently at offset %zu", path, i);
    assert_int_equal(w->out.len, b->len);
}

static void check_notes(const char *path)
{
    struct file_buffer b = loaded(path);
    struct notes n = {0};
    struct err e = {0};
    if (!gcno_read(file_bytes(&b), path, &n, &e))
        fail_msg("%s", e.line);
    assert_int_equal(n.failure.what, COVER_SURE);
    assert_int_equal(n.unknown_records, 0);
    assert_true(n.functions.len >= 5);
    for (size_t i = 0; i < n.functions.len; i++) {
        const struct cover_function *f = &n.functions.at[i];
        assert_int_equal(f->doubt, COVER_SURE);
        assert_true(f->blocks > 2 && f->arcs >= f->blocks - 2 && f->runs && f->instrumented);
        assert_true(f->name && f->file < n.files.len && f->start_line);
    }
    assert_int_equal(n.origin.is_llvm, strstr(path, "/clang") != NULL);
    struct writer w = {0};
    assert_true(gcno_write(&w, &n, &e));
    expect_same(path, &w, &b);
    writer_deinit(&w);
    notes_deinit(&n);
    file_buffer_deinit(&b);
}

static void test_notes(void **state)
{
    (void)state;
    for_each("*/*.gcno", check_notes);
}

static void check_pair(const char *path)
{
    char notes_path[4096];
    snprintf(notes_path, sizeof notes_path, "%.*s.gcno", (int)strlen(path) - 5, path);
    struct file_buffer b = loaded(path), nb = loaded(notes_path);
    struct notes n = {0};
    struct counters c = {0};
    struct flow flow = {0};
    struct err e = {0};
    if (!gcda_read(file_bytes(&b), path, &c, &e) || !gcno_read(file_bytes(&nb), notes_path, &n, &e))
        fail_msg("%s", e.line);
    assert_int_equal(c.size_bytes, b.len);
    assert_int_equal(c.unknown_records + c.trailing_bytes, 0);
    assert_int_equal(c.origin.is_llvm, strstr(path, "/clang") != NULL);
    flow_solve(&n, &c, &flow);
    assert_false(flow.pairing.is_other_stamp || flow.pairing.is_other_version);
    assert_int_equal(flow.pairing.unmatched, 0);
    /* Another object's copy may have been taken of a template's instance. */
    bool has_absent = strstr(path, "gcc-4.") && strstr(path, "prog_cc");
    assert_int_equal(flow.states[FLOW_ABSENT], has_absent ? 9 : 0);
    assert_int_equal(flow.states[FLOW_SOLVED] + flow.states[FLOW_ABSENT], n.functions.len);
    for (size_t i = 0; i < n.functions.len; i++)
        assert_true(flow.functions.at[i].state == FLOW_ABSENT || flow_is_conserved(&n, &flow, i));
    const int64_t *blocks = flow.blocks.at;
    for (size_t i = 0; i < n.functions.len; i++)
        if (!strcmp(n.functions.at[i].name, "main")) {
            bool is_one = strstr(strrchr(path, '/'), "_cc") || strstr(path, "m68k");
            int64_t runs = is_one ? 1 : 2;
            assert_int_equal(blocks[n.functions.at[i].first_block], runs);
        }
    struct writer w = {0};
    assert_true(gcda_write(&w, &c, &e));
    expect_same(path, &w, &b);
    writer_deinit(&w);
    flow_deinit(&flow);
    counters_deinit(&c);
    notes_deinit(&n);
    file_buffer_deinit(&b);
    file_buffer_deinit(&nb);
}

static void test_pairs(void **state)
{
    (void)state;
    for_each("*/*.gcda", check_pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
