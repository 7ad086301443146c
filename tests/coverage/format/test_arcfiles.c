/* The files of real compilers: every one is read to its end, record by record, its own notes and
 * counters pair, and every function is solved with flow conserved. */
#include "base/file.h"
#include "cases.h"
#include "coverage/analysis/flow.h"
#include "coverage/format/format.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    assert_int_equal(n.failure.what, DEFECT_NONE);
    assert_int_equal(n.unknown_records, 0);
    assert_true(n.functions.len >= 5);
    for (size_t i = 0; i < n.functions.len; i++) {
        const struct notes_function *f = &n.functions.at[i];
        assert_int_equal(f->defect, DEFECT_NONE);
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

/* Texts that are kept do not depend on the bytes any more, and are what they were. */
static void check_texts(const char *path)
{
    struct file_buffer b = loaded(path), other = loaded(path);
    struct notes n = {0}, same = {0};
    struct arena a = {0};
    struct err e = {0};
    assert_true(gcno_read(file_bytes(&b), path, &n, &e));
    assert_true(gcno_read(file_bytes(&other), path, &same, &e));
    notes_keep_texts(&n, &a);
    file_buffer_deinit(&b);
    assert_int_equal(!n.directory, !same.directory);
    if (n.directory)
        assert_string_equal(n.directory, same.directory);
    for (size_t i = 0; i < n.files.len; i++) {
        assert_string_equal(n.files.at[i], same.files.at[i]);
        assert_ptr_not_equal(n.files.at[i], same.files.at[i]);
    }
    for (size_t i = 0; i < n.functions.len; i++)
        assert_string_equal(n.functions.at[i].name, same.functions.at[i].name);
    arena_deinit(&a);
    notes_deinit(&n);
    notes_deinit(&same);
    file_buffer_deinit(&other);
}

CASE(test_texts_that_are_kept)
{
    for_each("*/*.gcno", check_texts);
}

CASE(test_notes)
{
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

CASE(test_pairs)
{
    for_each("*/*.gcda", check_pair);
}

/* The same notes and counters, as a snapshot of gcc 12 wrote them that counted words or bytes, but
 * had no checksum in its header yet. */
static void check_snapshot(const char *stem, bool has_byte_lengths)
{
    enum { SNAPSHOT = 'B' << 24 | '2' << 16 | '0' << 8 | 'e' };
    char notes_path[4096], counters_path[4096];
    snprintf(notes_path, sizeof notes_path, "%s.gcno", stem);
    snprintf(counters_path, sizeof counters_path, "%s.gcda", stem);
    struct file_buffer nb = loaded(notes_path), cb = loaded(counters_path);
    struct notes n = {0}, read = {0};
    struct counters c = {0}, counted = {0};
    struct writer w = {0}, cw = {0};
    struct err e = {0};
    assert_true(gcno_read(file_bytes(&nb), notes_path, &n, &e));
    assert_true(gcda_read(file_bytes(&cb), counters_path, &c, &e));
    n.origin.version = c.origin.version = SNAPSHOT;
    n.origin.lacks_checksum = c.origin.lacks_checksum = true;
    n.origin.has_byte_lengths = c.origin.has_byte_lengths = has_byte_lengths;
    assert_true(gcno_write(&w, &n, &e) && gcda_write(&cw, &c, &e));
    if (!gcno_read((struct bytes){w.out.at, w.out.len}, "notes", &read, &e) ||
        !gcda_read((struct bytes){cw.out.at, cw.out.len}, "counters", &counted, &e))
        fail_msg("%s", e.line);
    assert_true(read.origin.lacks_checksum && counted.origin.lacks_checksum);
    assert_int_equal(read.origin.has_byte_lengths, has_byte_lengths);
    assert_false(read.origin.is_llvm);
    assert_int_equal(read.functions.len, n.functions.len);
    assert_int_equal(counted.functions.len, c.functions.len);
    assert_string_equal(read.functions.at[0].name, n.functions.at[0].name);
    notes_deinit(&n), notes_deinit(&read);
    counters_deinit(&c), counters_deinit(&counted);
    writer_deinit(&w), writer_deinit(&cw);
    file_buffer_deinit(&nb), file_buffer_deinit(&cb);
}

CASE(test_snapshots_without_checksum)
{
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/tests/data/arc-files/gcc-12/*.gcda",
             getenv("MONARC_SOURCE"));
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        found.gl_pathv[i][strlen(found.gl_pathv[i]) - 5] = '\0';
        check_snapshot(found.gl_pathv[i], true);
        check_snapshot(found.gl_pathv[i], false);
    }
    globfree(&found);
}
