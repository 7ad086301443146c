/* Several recordings as one, the folders that hold them, what is said where one cannot be read, and
 * the calls that recorders inside of processes left in folders of their own. */
#include "cases.h"
#include "program.h"

#include "base/file.h"
#include "profile/format/format.h"

#include <fcntl.h>

static const struct profile_options READ = {0};

/* The samples of all events together. */
static uint64_t samples_of(const struct recording *r)
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        count += r->samples.at[i].count;
    return count;
}

static void expect_samples(const char *const *folders, size_t len, uint64_t wanted)
{
    struct recording r = {0};
    struct err e = {0};
    CHECK(recorded_read_all((char *const *)(void *)folders, len, &READ, &r, &e));
    assert_int_equal(samples_of(&r), wanted);
    recording_deinit(&r);
}

static void expect_unread(const char *folder, const char *why)
{
    struct recording r = {0};
    struct err e = {0};
    assert_false(recorded_read(folder, &READ, &r, &e));
    assert_string_equal(e.line, why);
    recording_deinit(&r);
}

/* A list of names, a blank between them. */
static void expect_names(char *const *names, size_t len, const char *wanted)
{
    char text[600] = "";
    for (size_t i = 0; i < len; i++) {
        strcat(text, i ? " " : "");
        strcat(text, names[i]);
    }
    assert_string_equal(text, wanted);
}

/* `call` says in a local `len` how many there are. */
#define EXPECT_NAMES(call, wanted)        \
    do {                                  \
        char **names = (call);            \
        expect_names(names, len, wanted); \
    } while (0)

CASE_WITH(test_sums, session_begin, session_end)
{
    struct recording r;
    (void)state;
    put_plain("a");
    put_plain("b");
    put_plain("c");
    fill(&r);
    r.samples.len = 1;
    put_recording("d", &r);
    expect_samples((const char *[]){"a"}, 1, 10);
    expect_samples((const char *[]){"a", "d"}, 2, 14);
    expect_samples((const char *[]){"a", "b", "c", "d"}, 4, 34);
    expect_samples((const char *[]){"d", "a", "b", "c", "d"}, 5, 38);
    fill(&r); /* of another length of slices */
    r.slice_ns *= 3;
    put_recording("other", &r);
    struct recording sum = {0};
    struct err e = {0};
    char a[] = "a", other[] = "other", missing[] = "missing", *pair[] = {a, missing, other};
    assert_false(recorded_read_all(pair, 3, &READ, &sum, &e));
    assert_string_equal(e.line, "missing: No such file or directory");
    recording_deinit(&sum);
}

/* Ranks of a job are added in pairs, and pairs of pairs: each number of them is the same sum. */
CASE_WITH(test_sums_of_ranks, session_begin, session_end)
{
    struct recording r;
    char name[32];
    const char *names[9];
    (void)state;
    for (uint32_t i = 0; i < 9; i++) {
        fill(&r);
        vec_push(&r.ranks, (struct recording_rank){0, i, 9, RECORDING_NONE, "Slurm", "node"});
        r.samples.at[0].count += 1u << i;
        r.samples.at[0].weight += UINT64_C(1000000) << i;
        snprintf(name, sizeof name, "rank%u", (unsigned)i);
        put_recording(name, &r);
        names[i] = strdup(name);
    }
    for (size_t len = 1; len <= 9; len++)
        expect_samples(names, len, 10 * len + (1u << len) - 1);
    for (size_t i = 0; i < 9; i++)
        free((char *)(uintptr_t)names[i]);
}

/* What `monarc run --repeat` leaves: by number, complete ones alone. */
CASE_WITH(test_runs, session_begin, session_end)
{
    struct arena a = {0};
    size_t len;
    (void)state;
    mkdir("r", 0700);
    EXPECT_NAMES(recorded_runs("r", &a, &len), "r");
    assert_false(recorded_is_run("r"));
    put_plain("r/run-10");
    put_plain("r/run-9");
    put_plain("r/run-x");
    put_plain("r/run-");
    put_plain("r/other-1");
    mkdir("r/run-2", 0700);
    EXPECT_NAMES(recorded_runs("r", &a, &len), "r/run-9 r/run-10");
    assert_true(recorded_is_run("r"));
    expect_samples((const char *[]){"r"}, 1, 20);
    EXPECT_NAMES(recorded_below("r", &a, &len), "r/run-9 r/run-10");
    put_plain("r"); /* its own is what the folder is */
    EXPECT_NAMES(recorded_runs("r", &a, &len), "r");
    expect_samples((const char *[]){"r"}, 1, 10);
    EXPECT_NAMES(recorded_runs("missing", &a, &len), "missing");
    arena_deinit(&a);
}

CASE_WITH(test_below, session_begin, session_end)
{
    struct arena a = {0};
    size_t len;
    (void)state;
    mkdir("all", 0700);
    EXPECT_NAMES(recorded_below("all", &a, &len), "all");
    put_plain("all/b.monarc");
    mkdir("all/a", 0700);
    put_plain("all/a/deep");
    mkdir("all/.hidden", 0700);
    put_plain("all/.hidden/r");
    put_text("all/text", "");
    mkdir("all/many", 0700);
    put_plain("all/many/run-1");
    put_plain("all/many/run-2");
    put_plain("all/b.monarc/8"); /* part of what it lies in */
    assert_int_equal(symlink("..", "all/a/circle"), 0);
    EXPECT_NAMES(recorded_below("all", &a, &len),
                 "all/b.monarc all/many/run-1 all/many/run-2 all/a/deep");
    EXPECT_NAMES(recorded_below("all/text", &a, &len), "all/text");
    arena_deinit(&a);
}

CASE_WITH(test_ranks, session_begin, session_end)
{
    struct arena a = {0};
    size_t len;
    char job[] = "job", none[] = "none";
    (void)state;
    mkdir("job", 0700);
    EXPECT_NAMES(recorded_ranks(job, &a, &len), "job");
    put_plain("job/rank.10");
    put_plain("job/rank.2");
    put_plain("job/rank.2.1");
    put_plain("job/rank.x");
    mkdir("job/rank.3", 0700);
    EXPECT_NAMES(recorded_ranks(job, &a, &len), "job/rank.2 job/rank.2.1 job/rank.10");
    expect_samples((const char *[]){"job"}, 1, 30);
    assert_true(recorded_is_run("job"));
    mkdir("job/rank.4", 0700);
    put_text("job/rank.4/monarc.live", "");
    expect_unread("job", "job: holds 1 unfinished rank of 4: the program still runs, or was "
                         "killed; then 'monarc recover job' completes it");
    put_text("job/rank.3/monarc.live", "");
    expect_unread("job", "job: holds 2 unfinished ranks of 5: the program still runs, or was "
                         "killed; then 'monarc recover job' completes them");
    assert_false(unlink("job/rank.3/monarc.live") || unlink("job/rank.4/monarc.live"));
    put_plain("job"); /* what they were reduced to comes first */
    EXPECT_NAMES(recorded_ranks(job, &a, &len), "job job/rank.2 job/rank.2.1 job/rank.10");
    EXPECT_NAMES(recorded_ranks(none, &a, &len), "none");
    arena_deinit(&a);
}

CASE_WITH(test_no_recording, session_begin, session_end)
{
    mkdir("empty", 0700);
    put_text("text", "nothing");
    mkdir("live", 0700);
    put_text("live/monarc.live", "");
    mkdir("short", 0700);
    put_text("short/monarc.side", "");
    expect_unread("empty", "empty: is a folder without a recording: it has no monarc.side");
    expect_unread("missing", "missing: No such file or directory");
    expect_unread("text", "text: is neither a recording nor a file of another profiler");
    expect_unread("live", "live: holds an unfinished recording: the program still runs, or was "
                          "killed; then 'monarc recover live' completes it");
    assert_false(recorded_is_run("empty") || recorded_is_run("missing") ||
                 recorded_is_run("live") || recorded_is_run("short") || recorded_is_run("text"));
    struct recording r = {0};
    struct err e = {0};
    assert_false(recorded_read("short", &READ, &r, &e));
    assert_non_null(strstr(e.line, "short/monarc.side"));
    recording_deinit(&r);
    r = (struct recording){0};
    assert_false(recorded_read_alone("text", &r, &e));
    assert_string_equal(e.line, "text: is no recording, which is a folder with monarc.side in it");
    recording_deinit(&r);
}

/* The gmon.out of a recorder's object that counted calls. */
static void put_calls(const char *path, uint64_t count)
{
    struct profile p = {.format = PROFILE_GNU, .version = 1, .word = 8};
    struct err e = {0};
    vec_push(&p.arcs, (struct arc){0x1050, 0x1060, count});
    CHECK(profile_save(format_named("gmon"), &p, 8, false, path, &e));
    profile_deinit(&p);
}

static uint64_t calls_at(const struct recording *r, uint64_t self)
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->arcs.len; i++)
        count += r->arcs.at[i].self == self ? r->arcs.at[i].count : 0;
    return count;
}

/* What the recorder inside a process leaves: a sidecar, and profiles of its objects beside. */
CASE_WITH(test_of_a_process, session_begin, session_end)
{
    struct recording r = {0};
    struct err e = {0};
    (void)state;
    mkdir("p", 0700);
    put_seed("sidecar/le64", "p/monarc.side");
    assert_false(recorded_is_run("p"));
    CHECK(recorded_read("p", &READ, &r, &e));
    assert_int_equal(calls_at(&r, 0x1060), 0);
    recording_deinit(&r);
    put_calls("p/gmon.out", 5);
    put_calls("p/q.gmon", 70);
    r = (struct recording){0};
    CHECK(recorded_read("p", &READ, &r, &e));
    assert_int_equal(calls_at(&r, 0x1060), 5 + 2 * 70); /* q is two objects of one name */
    assert_string_equal(r.objects.at[0].path, "/bin/p");
    recording_deinit(&r);
    r = (struct recording){0};
    assert_false(recorded_read_alone("p", &r, &e));
    assert_string_equal(e.line,
                        "p: was made by the recorder inside a process; 'monarc merge -o DIR "
                        "p' makes a recording of it that can hold symbols");
    recording_deinit(&r);
    put_text("p/q.gmon", "damaged");
    r = (struct recording){0};
    assert_false(recorded_read("p", &READ, &r, &e));
    assert_non_null(strstr(e.line, "p/q.gmon"));
    recording_deinit(&r);
}

/* In a recording of a whole run they add calls and nothing else; a damaged one adds a loss. */
CASE_WITH(test_calls_of_processes, session_begin, session_end)
{
    struct arena a = {0};
    struct recording r = {0};
    struct err e = {0};
    size_t len;
    char command[200];
    (void)state;
    put_plain("r");
    for (const char *const *name =
             (const char *[]){"7", "12", "7.1", "7.", "x7", "7.a", "7a", NULL};
         *name; name++) {
        snprintf(command, sizeof command, "r/%s", *name);
        mkdir(command, 0700);
        snprintf(command, sizeof command, "r/%s/monarc.side", *name);
        put_seed("sidecar/le64", command);
        snprintf(command, sizeof command, "r/%s/gmon.out", *name);
        put_calls(command, 5);
    }
    put_text("r/99", "no folder");
    EXPECT_NAMES(recorded_processes("r", &a, &len, &e), "r/7 r/7.1 r/12");
    CHECK(recorded_read("r", &READ, &r, &e));
    assert_int_equal(samples_of(&r), 10);
    assert_int_equal(calls_at(&r, 0x1060), 15);
    assert_int_equal(r.losses.len, 0);
    recording_deinit(&r);
    put_text("r/12/monarc.side", "damaged");
    r = (struct recording){0};
    CHECK(recorded_read("r", &READ, &r, &e));
    assert_int_equal(calls_at(&r, 0x1060), 10);
    const char *said = NULL;
    for (size_t i = 0; i < r.losses.len; i++)
        if (strstr(r.losses.at[i].text, "folder 12 are missing: r/12/monarc.side"))
            said = r.losses.at[i].text;
    assert_non_null(said);
    assert_int_equal(strncmp(said, "calls of the process in ", 24), 0);
    recording_deinit(&r);
    r = (struct recording){0};
    CHECK(recorded_read_alone("r", &r, &e));
    assert_int_equal(r.arcs.len, 0);
    recording_deinit(&r);
    arena_deinit(&a);
}

/* Symbols go into the file without the calls, which stay where they were. */
CASE_WITH(test_completed, session_begin, session_end)
{
    struct recording r = {0};
    struct recorded_symbols added = {0};
    struct err e = {0};
    (void)state;
    put_plain("r");
    mkdir("r/7", 0700);
    put_seed("sidecar/le64", "r/7/monarc.side");
    put_calls("r/7/gmon.out", 5);
    struct symbol_files *files = symbol_files_new(&(struct symbol_files_options){0}, &e);
    assert_non_null(files);
    CHECK(recorded_read_alone("r", &r, &e));
    size_t losses = r.losses.len;
    vec_push(&r.arcs, (struct recording_arc){RECORDING_NONE, 0, 0, link_of_hot, 3});
    CHECK(recorded_complete(&r, "r", &READ, files, 0, &added, &e));
    assert_int_equal(r.arcs.len, 1);
    assert_int_equal(r.arcs.at[0].count, 3);
    assert_int_equal(r.losses.len, losses);
    assert_int_equal(added.without, 2); /* /bin/p and /lib/q are nowhere */
    assert_true(added.added == 1 && added.objects == 3 && added.bytes > 0);
    assert_true(!strcmp(added.first_without, "/bin/p") || !strcmp(added.first_without, "/lib/q"));
    symbol_files_free(files);
    recording_deinit(&r);
}

/* Calls of a mean run are whole numbers, and what was called at all is still called. */
CASE_WITH(test_mean_of_calls, session_begin, session_end)
{
    static const uint64_t SUMS[] = {7, 8, 1, 0, 9}, MEANS[] = {2, 3, 1, 0, 3};
    struct recorded mean = {0}, one = {0};
    struct recorded_options o = {0};
    struct functions f = {0}, g = {0};
    struct err e = {0};
    (void)state;
    fill(&mean.recording);
    fill(&one.recording);
    for (uint32_t i = 0; i < 3; i++)
        vec_push(&mean.recording.parts, (struct recording_part){.process = 0, .number = i + 1});
    for (size_t i = 0; i < 5; i++) {
        struct recording_arc arc = {0, 0, link_of_hot + MAIN + 4 + i, link_of_hot, SUMS[i]};
        struct recording_block block = {0, link_of_hot + 4 * i, SUMS[i]};
        vec_push(&mean.recording.arcs, arc);
        vec_push(&one.recording.arcs, arc);
        vec_push(&mean.recording.blocks, block);
        vec_push(&one.recording.blocks, block);
    }
    CHECK(recorded_resolve(&mean, "r", &o, &f, &e));
    CHECK(recorded_resolve(&one, "r", &o, &g, &e));
    for (size_t i = 0; i < mean.recording.arcs.len; i++) {
        size_t n = (size_t)(mean.recording.arcs.at[i].from - link_of_hot - MAIN - 4);
        assert_int_equal(mean.recording.arcs.at[i].count, MEANS[n]);
    }
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(mean.recording.blocks.at[i].count, MEANS[i]);
        assert_int_equal(one.recording.arcs.at[i].count, SUMS[i]);
        assert_int_equal(one.recording.blocks.at[i].count, SUMS[i]);
    }
    recorded_close(&mean);
    recorded_close(&one);
}
