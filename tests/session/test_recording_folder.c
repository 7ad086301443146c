/* The folder of a recording while it is made, and the name that it gets in the end: what had the
 * name becomes NAME.old, and nothing that is not a recording is ever removed or replaced. */
#include "cases.h"
#include "session/recording_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct arena arena;

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/monarc-folder-XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int end(void **state)
{
    char command[128];
    (void)state;
    arena_deinit(&arena);
    snprintf(command, sizeof command, "cd / && rm -rf %s", folder);
    return system(command);
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void put_in(const char *in, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", in, name);
    put(path, text);
}

static bool holds(const char *path, const char *text)
{
    char found[100] = "";
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    found[fread(found, 1, sizeof found - 1, in)] = '\0';
    fclose(in);
    return !strcmp(found, text);
}

static bool is_there(const char *path)
{
    return !access(path, F_OK);
}

/* A recording of that text is made under the name, as far as its end. */
static struct recording_folder made(const char *name, const char *text)
{
    struct recording_folder f;
    struct err e = {0};
    if (!recording_folder_make(&f, name, &arena, &e))
        fail_msg("%s", e.line);
    assert_true(f.working[0] == '/' && f.lock >= 0);
    put_in(f.working, "monarc.side", text);
    return f;
}

static void keep(struct recording_folder *f)
{
    struct err e = {0};
    if (!recording_folder_keep(f, &arena, &e))
        fail_msg("%s", e.line);
    assert_int_equal(f->lock, -1);
}

CASE_WITH(test_one_after_the_other, begin, end)
{
    for (int i = 0; i < 3; i++) {
        struct recording_folder f = made(i ? "r.monarc/" : "r.monarc", i == 0   ? "first"
                                                                       : i == 1 ? "second"
                                                                                : "third");
        assert_false(is_there(i ? "nothing" : "r.monarc"));
        keep(&f);
        assert_string_equal(f.name, "r.monarc");
        assert_null(f.elsewhere);
        assert_int_equal(f.left_len, 0);
        assert_false(is_there(f.working));
    }
    assert_true(holds("r.monarc/monarc.side", "third"));
    assert_true(holds("r.monarc.old/monarc.side", "second"));
    assert_int_equal(mkdir("empty", 0700), 0); /* is replaced as if it was not there */
    struct recording_folder f = made("empty", "whole");
    keep(&f);
    assert_true(holds("empty/monarc.side", "whole") && !is_there("empty.old"));
}

/* Two at the same time: who ends later gets another name, and the reason. */
CASE_WITH(test_at_the_same_time, begin, end)
{
    struct recording_folder a = made("r.monarc", "a"), b = made("r.monarc", "b"),
                            c = made("r.monarc", "c");
    keep(&a);
    keep(&b);
    keep(&c);
    assert_true(!a.elsewhere && b.elsewhere && c.elsewhere);
    assert_string_equal(b.elsewhere, "another run of that name has ended in the meantime");
    assert_string_equal(b.name, "r.2.monarc");
    assert_string_equal(c.name, "r.3.monarc");
    assert_true(holds("r.monarc/monarc.side", "a") && holds("r.2.monarc/monarc.side", "b") &&
                holds("r.3.monarc/monarc.side", "c"));
    struct recording_folder d = made("plain", "d"), e = made("plain", "e");
    keep(&d);
    keep(&e);
    assert_string_equal(e.name, "plain.2");
}

static void expect_refused(const char *name, const char *why)
{
    struct recording_folder f;
    struct err e = {0};
    assert_false(recording_folder_make(&f, name, &arena, &e));
    assert_string_equal(e.line, why);
}

CASE_WITH(test_what_is_the_users, begin, end)
{
    put("file", "mine");
    mkdir("full", 0700);
    put("full/text", "mine");
    expect_refused("file", "file: exists and is not a folder; choose another name with -o");
    expect_refused("full", "full: exists and holds something other than a recording; choose "
                           "another folder with -o");
    expect_refused("gone/r",
                   "gone/r: the recording cannot be written here: No such file or directory; "
                   "choose another folder with -o");
    /* NAME.old that is no recording stays, and so does NAME. */
    struct recording_folder a = made("r.monarc", "a");
    keep(&a);
    mkdir("r.monarc.old", 0700);
    put("r.monarc.old/text", "mine");
    struct recording_folder b = made("r.monarc", "b");
    keep(&b);
    assert_string_equal(b.elsewhere, "r.monarc.old holds something other than a recording");
    assert_string_equal(b.name, "r.2.monarc");
    assert_true(holds("r.monarc/monarc.side", "a") && holds("r.2.monarc/monarc.side", "b") &&
                holds("r.monarc.old/text", "mine"));
    /* Likewise where only a file beside the recording is the user's. */
    assert_int_equal(unlink("r.monarc.old/text"), 0);
    put("r.monarc.old/monarc.side", "older");
    put("r.monarc.old/notes", "mine");
    struct recording_folder c = made("r.monarc", "c");
    keep(&c);
    assert_string_equal(c.elsewhere, "r.monarc.old holds something other than a recording");
    assert_true(holds("r.monarc.old/notes", "mine") && holds("r.monarc/monarc.side", "a"));
}

CASE_WITH(test_removing, begin, end)
{
    mkdir("r", 0700);
    mkdir("r/12", 0700);
    mkdir("r/12/13", 0700);
    mkdir("r/run-1", 0700);
    put("r/monarc.side", "");
    put("r/gmon.out", "");
    put("r/lib.gmon", "");
    put("r/12/monarc.live", "");
    put("r/12/13/gmon.out", "");
    put("r/run-1/monarc.side", "");
    assert_true(recording_folder_remove("r"));
    assert_false(is_there("r"));
    assert_true(recording_folder_remove("r")); /* is gone */
    mkdir("r", 0700);
    mkdir("r/own", 0700);
    mkdir("r/1", 0700);
    mkdir("r/1/2", 0700);
    mkdir("r/1/2/3", 0700);
    put("r/own/gmon.out", "mine");
    put("r/1/2/3/gmon.out", "deeper than recordings go");
    put("r/gmon.txt", "mine");
    put("r/gmon.out", "");
    mkdir("elsewhere", 0700);
    put("elsewhere/gmon.out", "mine");
    assert_int_equal(symlink("../elsewhere", "r/2"), 0);
    assert_int_equal(symlink("elsewhere", "link"), 0);
    assert_false(recording_folder_remove("r"));
    assert_true(is_there("r/own/gmon.out") && is_there("r/1/2/3/gmon.out") &&
                is_there("r/gmon.txt") && is_there("elsewhere/gmon.out") &&
                !is_there("r/gmon.out"));
    assert_false(recording_folder_remove("link"));
    assert_true(is_there("elsewhere/gmon.out"));
    struct recording_folder f = made("dropped", "");
    recording_folder_drop(&f);
    assert_false(is_there(f.working));
    assert_int_equal(f.lock, -1);
    recording_folder_drop(&(struct recording_folder){.lock = -1}); /* none was made */
}

/* Working folders of runs that were killed: empty ones go, others are named. */
CASE_WITH(test_left, begin, end)
{
    struct recording_folder f, held;
    struct err e = {0};
    (void)state;
    mkdir("r.monarc.new-aaaaaa", 0700);
    mkdir("r.monarc.new-bbbbbb", 0700);
    put("r.monarc.new-bbbbbb/monarc.live", "left");
    mkdir("other.monarc.new-cccccc", 0700);
    held = made("r.monarc", "held");
    assert_false(is_there("r.monarc.new-aaaaaa"));
    assert_true(is_there("other.monarc.new-cccccc"));
    assert_int_equal(held.left_len, 1);
    assert_string_equal(held.left, "r.monarc.new-bbbbbb");
    /* One that is held is in use; one that is not gets its name, or another one. */
    assert_false(recording_folder_adopt(&f, held.working, &arena, &e));
    assert_non_null(strstr(e.line, "is in use: the program that is recorded there still runs"));
    assert_true(recording_folder_adopt(&f, "r.monarc.new-bbbbbb/", &arena, &e));
    assert_string_equal(f.name, "r.monarc");
    assert_null(f.elsewhere);
    assert_true(holds("r.monarc/monarc.live", "left"));
    mkdir("r.monarc.new-dddddd", 0700);
    put("r.monarc.new-dddddd/monarc.side", "whole");
    assert_true(recording_folder_adopt(&f, "r.monarc.new-dddddd", &arena, &e));
    assert_string_equal(f.name, "r.2.monarc");
    assert_string_equal(f.elsewhere, "another recording has that name");
    assert_true(recording_folder_adopt(&f, "r.monarc", &arena, &e)); /* is no working folder */
    assert_string_equal(f.name, "r.monarc");
    mkdir("r.monarc.new-eeeeee", 0700); /* without a recording it stays what it is */
    assert_true(recording_folder_adopt(&f, "r.monarc.new-eeeeee", &arena, &e));
    assert_string_equal(f.name, "r.monarc.new-eeeeee");
    recording_folder_drop(&held);
}
