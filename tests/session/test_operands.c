/* What the operands of a command are taken for, and what is opened where none is named, in a folder
 * that is made for each case. Files are no more than the bytes that they are known by. */
#include "cases.h"
#include "session/session.h"

#include "session/imported.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

static int begin(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    strcpy(folder, "/tmp/monarc-operands-XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "cd / && rm -rf %s", folder);
    return system(command);
}

/* A file of some bytes, written so many seconds (and thousandths) after the year 2020 began. */
static void put(const char *path, const char *bytes, double at)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(bytes, out);
    fclose(out);
    long long ms = 1577836800000LL + (long long)(at * 1000);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {ms / 1000, ms % 1000 * 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void put_program(const char *path)
{
    put(path, "\177ELF\2\1\1", 0);
}

static void put_recording(const char *path, double at)
{
    char side[128];
    mkdir(path, 0700);
    snprintf(side, sizeof side, "%s/monarc.side", path);
    put(side, "MRSD", at);
}

#define NAMES(...) \
    (char **)(const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static void expect_profiles(const struct session_options *o, char **names, size_t len)
{
    assert_int_equal(o->profiles_len, len);
    for (size_t i = 0; i < len; i++)
        assert_string_equal(o->profiles[i], names[i]);
}

static void expect_refused(struct session_options o, char **names, size_t len, const char *why)
{
    struct err e = {0};
    assert_false(session_operands(&o, names, len, &e));
    assert_string_equal(e.line, why);
}

CASE_WITH(test_profiles_and_recordings, begin, end)
{
    struct session_options o = {0}, zoomed = {.recorded = {.event = "faults"}};
    struct err e = {0};
    (void)state;
    put_program("prog");
    put("one.gmon", "gmon", 0);
    put("two.gmon", "gmon", 0);
    put_recording("a.monarc", 0);
    put_recording("b", 0);
    assert_true(session_operands(&o, NAMES("prog", "one.gmon", "two.gmon"), &e));
    assert_string_equal(o.program, "prog");
    expect_profiles(&o, NAMES("one.gmon", "two.gmon"));
    assert_false(o.is_recording || o.are_counters || o.are_counts || o.newest[0]);
    o = (struct session_options){0};
    assert_true(session_operands(&o, NAMES("a.monarc", "b"), &e));
    expect_profiles(&o, NAMES("a.monarc", "b"));
    assert_true(o.is_recording);
    expect_refused((struct session_options){0}, NAMES("a.monarc", "one.gmon"),
                   "a.monarc: is a recording, which has its profiles in it; name it with other "
                   "recordings only");
    expect_refused((struct session_options){0}, NAMES("prog", "one.gmon", "b"),
                   "b: is a folder; if it is a recording, leave 'prog' out: a recording names its "
                   "programs itself");
    expect_refused(
        zoomed, NAMES("prog", "one.gmon"),
        "prog: --event, --process, --program, --thread, --from, --to and --phase choose from a "
        "recording; name one");
    assert_true(session_operands(&zoomed, NAMES("a.monarc"), &e));
}

CASE_WITH(test_the_newer_of_two_that_are_not_named, begin, end)
{
    struct session_options o = {0};
    struct err e = {0};
    (void)state;
    mkdir("bin", 0700);
    put_program("bin/prog");
    assert_true(
        session_operands(&o, NAMES("bin/prog"), &e)); /* nothing is there: as gprof has it */
    expect_profiles(&o, NAMES("gmon.out"));
    assert_false(o.is_recording);
    put_recording("prog.monarc", 10);
    o = (struct session_options){0};
    assert_true(session_operands(&o, NAMES("bin/prog"), &e));
    expect_profiles(&o, NAMES("prog.monarc"));
    assert_true(o.is_recording);
    assert_string_equal(o.newest, "");
    put("gmon.out", "gmon", 9);
    o = (struct session_options){0};
    assert_true(session_operands(&o, NAMES("bin/prog"), &e));
    assert_true(o.is_recording);
    assert_string_equal(
        o.newest,
        "the recording is newer than gmon.out of 2020-01-01 00:00:09, which is not shown");
    put("gmon.out", "gmon", 11);
    o = (struct session_options){0};
    assert_true(session_operands(&o, NAMES("bin/prog"), &e));
    expect_profiles(&o, NAMES("gmon.out"));
    assert_false(o.is_recording);
    assert_string_equal(
        o.newest,
        "gmon.out is newer than the recording of 2020-01-01 00:00:10, which is not shown");
}

CASE_WITH(test_counters_and_counts, begin, end)
{
    const struct session_options counters = {.takes_counters = true},
                                 counts = {.takes_counts = true};
    struct session_options o = counters;
    struct err e = {0};
    (void)state;
    put_program("prog");
    put("one.gmon", "gmon", 0);
    put("two.gmon", "gmon", 0);
    put("a.gcda", "adcg", 0);
    mkdir("objects", 0700);
    assert_true(session_operands(&o, NAMES("prog", "a.gcda", "objects"), &e));
    assert_true(o.are_counters);
    expect_profiles(&o, NAMES("a.gcda", "objects"));
    o = counters;
    assert_true(session_operands(&o, NAMES("prog", "one.gmon"), &e));
    assert_false(o.are_counters);
    expect_refused(counters, NAMES("prog", "a.gcda", "one.gmon"),
                   "prog: cannot mix coverage counters and profiles; name one kind");
    o = counts;
    assert_true(
        session_operands(&o, NAMES("prog", "a.gcda", "one.gmon", "objects", "two.gmon"), &e));
    expect_profiles(&o, NAMES("one.gmon", "two.gmon"));
    assert_int_equal(o.counts_len, 2);
    assert_string_equal(o.counts[0], "a.gcda");
    assert_string_equal(o.counts[1], "objects");
    assert_false(o.are_counts);
    o = counts;
    assert_true(session_operands(&o, NAMES("prog", "a.gcda", "objects"), &e));
    assert_true(o.are_counts);
    expect_profiles(&o, NAMES("a.gcda", "objects"));
    o = counts;
    assert_true(session_operands(&o, NAMES("prog", "two.gmon", "one.gmon"), &e));
    assert_int_equal(o.counts_len, 0);
    expect_profiles(&o, NAMES("two.gmon", "one.gmon"));
    o = (struct session_options){0}; /* who takes neither reads them as profiles */
    assert_true(session_operands(&o, NAMES("prog", "a.gcda", "one.gmon"), &e));
    expect_profiles(&o, NAMES("a.gcda", "one.gmon"));
    assert_true(!o.counts_len && !o.are_counts && !o.are_counters);
}

CASE_WITH(test_newest, begin, end)
{
    struct session_newest n;
    struct err e = {0};
    (void)state;
    assert_false(session_find_newest(&n, "flat", &e));
    assert_string_equal(e.line,
                        "flat needs a PROGRAM or a RECORDING, and none is in this folder; see "
                        "'monarc flat --help'");
    put_recording("z.monarc", 5);
    put_recording("a.monarc", 5.002);
    put_recording("c.monarc", 5.001);
    put_recording("later", 9); /* not named as recordings are */
    mkdir("empty.monarc", 0700);
    assert_true(session_find_newest(&n, "flat", &e));
    assert_string_equal(n.name, "a.monarc");
    assert_ptr_equal(n.operand, n.name);
    put_recording("z.monarc", 6);
    assert_true(session_find_newest(&n, "flat", &e));
    assert_string_equal(n.name, "z.monarc");
    put("gmon.out", "gmon", 7);
    assert_false(session_find_newest(&n, "flat", &e));
    assert_string_equal(e.line,
                        "gmon.out is the newest profile here, and names no program; name it: "
                        "'monarc flat PROGRAM'");
    put_program("a.out");
    assert_true(session_find_newest(&n, "flat", &e));
    assert_string_equal(n.name, "a.out");
    put("gmon.out", "gmon", 5.5);
    assert_true(session_find_newest(&n, "flat", &e));
    assert_string_equal(n.name, "z.monarc");
}

/* Letters say whose each operand is: p a profile's, c coverage's, b both. */
static void expect_mix(char **names, size_t len, const char *whose)
{
    struct operand_mix mix = operand_mix_of(names, len);
    for (size_t i = 0; i < len; i++) {
        bool coverage = operand_is_of_coverage(&mix, names[i]),
             profile = operand_is_of_profile(&mix, names[i]);
        char is = coverage && profile ? 'b' : coverage ? 'c' : profile ? 'p' : '-';
        if (is != whose[i])
            fail_msg("%s of %s is %c", names[i], whose, is);
    }
}

CASE_WITH(test_mixed_operands, begin, end)
{
    put_program("prog");
    put_program("other");
    put("gmon.out", "gmon", 0);
    put("a.profraw", "\201rforpl\377", 0);
    put("a.info", "SF:a.c\n", 0);
    put_recording("r.monarc", 0);
    mkdir("objects", 0700);
    mkdir("gone.monarc", 0700);
    expect_mix(NAMES("prog", "gmon.out", "a.info", "objects"), "ppcc");
    expect_mix(NAMES("prog", "a.profraw"), "cc");
    expect_mix(NAMES("prog", "gmon.out", "a.profraw"), "bpc");
    expect_mix(NAMES("prog", "gmon.out", "other", "a.profraw"), "ppcc");
    expect_mix(NAMES("r.monarc", "prog", "a.profraw"), "pcc");
    expect_mix(NAMES("gone.monarc", "missing.gcda", "missing"), "pcp");
    assert_true(is_program("prog") && !is_program("gmon.out") && !is_program("missing") &&
                !is_program("objects"));
}

/* Stacks of another profiler as one recording; what nobody knows is refused by its name. */
CASE_WITH(test_imported, begin, end)
{
    struct recording r = {0}, none = {0};
    struct err e = {0};
    (void)state;
    put("a.folded", "main;parse 3\nmain;parse;read 4\nmain 1\n", 0);
    put("text", "nothing of the kind\n", 0);
    assert_true(is_recording("a.folded") && !is_recording("text") && !is_recording("missing"));
    if (!imported_read("a.folded", &r, &e))
        fail_msg("%s", e.line);
    uint64_t count = 0;
    for (size_t i = 0; i < r.samples.len; i++)
        count += r.samples.at[i].count;
    assert_int_equal(count, 8);
    assert_false(imported_read("text", &none, &e));
    assert_string_equal(e.line, "text: is neither a recording nor a file of another profiler");
    assert_false(imported_read("missing", &none, &e));
    assert_non_null(strstr(e.line, "No such file"));
    recording_deinit(&r);
    recording_deinit(&none);
}
