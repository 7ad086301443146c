/* Recordings as commands open them: what a part of one amounts to, where its functions come from,
 * what is said about what it lacks, and several as one. They are of two processes of a program
 * whose places of code the test knows. */
#include "cases.h"
#include "program.h"

static const struct profile_options READ = {0};

/* The samples of both functions in a part of "r", and how the part is called. */
static void expect_part(struct recorded_filter filter, double hot, double cold, const char *chosen)
{
    struct session s = {0};
    struct session_options o = {.recorded = filter};
    struct err e = {0};
    char name[] = "r", *names[] = {name};
    CHECK(session_operands(&o, names, 1, &e));
    CHECK(session_open(&s, &o, &e));
    assert_true(self_of(&s, "hot_code") == hot && self_of(&s, "cold_code") == cold);
    assert_true(s.time.total > hot + cold - 1e-9 && s.time.total < hot + cold + 1e-9);
    if (chosen && s.summary.run->chosen)
        assert_string_equal(s.summary.run->chosen, chosen);
    else
        assert_true(!chosen && !s.summary.run->chosen);
    session_close(&s);
}

static void expect_no_part(struct recorded_filter filter, const char *why)
{
    struct session s = {0};
    struct session_options o = {.recorded = filter};
    struct err e = {0};
    char name[] = "r", *names[] = {name};
    CHECK(session_operands(&o, names, 1, &e));
    assert_false(session_open(&s, &o, &e));
    assert_string_equal(e.line, why);
    session_close(&s);
}

#define PART(...) ((struct recorded_filter){__VA_ARGS__})

CASE_WITH(test_parts, session_begin, session_end)
{
    put_plain("r");
    expect_part(PART(0), 5, 2, NULL);
    expect_part(PART(.event = "cpu"), 5, 2, NULL);
    expect_part(PART(.event = "faults"), 0, 3, NULL);
    expect_part(PART(.pid = 7), 4, 2, "process 7");
    expect_part(PART(.pid = 8), 1, 0, "process 8");
    expect_part(PART(.program = "helper"), 1, 0, "program helper");
    expect_part(PART(.program = "prog"), 4, 2, "program prog");
    expect_part(PART(.pid = 7, .program = "prog"), 4, 2, "process 7, program prog");
    expect_part(PART(.named_thread = "worker"), 0, 2, "thread worker");
    expect_part(PART(.named_thread = "8"), 1, 0, "thread 8");
    expect_part(PART(.pid = 8, .named_thread = "main"), 1, 0, "process 8, thread main");
    expect_part(PART(.pid = 7, .has_thread = true, .thread = 9), 0, 2, "thread 9 of process 7");
    expect_part(PART(.has_from = true, .from = 0.01), 1, 2, "from 0.01 s (in steps of 0.01 s)");
    expect_part(PART(.has_to = true, .to = 0.02), 4, 2, "to 0.02 s (in steps of 0.01 s)");
    expect_part(PART(.has_from = true, .has_to = true, .from = 0.01, .to = 0.02), 0, 2,
                "from 0.01 s, to 0.02 s (in steps of 0.01 s)");
    char path[200];
    snprintf(path, sizeof path, "program %s", session_program);
    expect_part(PART(.program = session_program), 4, 2, path);
    expect_no_part(PART(.event = "wall"),
                   "r: the event 'wall' was not recorded; there is cpu, faults");
    expect_no_part(PART(.pid = 9), "r: the recording has no process 9; see --by-process");
    expect_no_part(PART(.program = "sh"),
                   "r: no process of the recording ran 'sh'; see --by-process");
    expect_no_part(PART(.named_thread = "idle"),
                   "r: the recording has no thread 'idle'; see 'monarc flat --by-thread'");
    expect_no_part(PART(.phase = "load"), "r: the recording has no phase or region 'load'");
    expect_no_part(PART(.by_label = "user"),
                   "r: the recording has no labels: its programs published none");
}

/* Phases last until the next one of their process, regions until their end, both cut to the limits
 * that were given. */
CASE_WITH(test_phases, session_begin, session_end)
{
    struct recording r;
    (void)state;
    fill(&r);
    vec_push(&r.marks, (struct recording_mark){0, 0, 0, 7, "load"});
    vec_push(&r.marks, (struct recording_mark){5000000, 1, 0, 9, "inner"});
    vec_push(&r.marks, (struct recording_mark){10000000, 0, 0, 7, "work"});
    vec_push(&r.marks, (struct recording_mark){20000000, 2, 0, 9, "inner"});
    put_recording("r", &r);
    expect_part(PART(.phase = "load"), 4, 0, "phase load (in steps of 0.01 s)");
    expect_part(PART(.phase = "work"), 0, 2, "phase work (in steps of 0.01 s)");
    expect_part(PART(.phase = "inner", .named_thread = "worker"), 0, 2,
                "thread worker, phase inner (in steps of 0.01 s)");
    expect_part(PART(.phase = "inner", .has_from = true, .from = 0.01), 0, 2,
                "phase inner, from 0.01 s (in steps of 0.01 s)");
    expect_part(PART(.phase = "work", .has_to = true, .to = 0.01), 0, 0,
                "phase work, to 0.01 s (in steps of 0.01 s)");
}

CASE_WITH(test_labels, session_begin, session_end)
{
    struct recording r;
    (void)state;
    fill(&r);
    vec_push(&r.labels, (struct recording_label){"route", "/a"});
    vec_push(&r.labels, (struct recording_label){"user", "ann"});
    vec_push(&r.labels, (struct recording_label){"route", "/b"});
    vec_push(&r.label_sets, (struct recording_label_set){0});
    vec_push(&r.label_sets, ((struct recording_label_set){.first = 0, .len = 2}));
    vec_push(&r.label_sets, ((struct recording_label_set){.first = 2, .len = 1}));
    r.samples.at[0].labels = 1;
    r.samples.at[2].labels = 2;
    put_recording("r", &r);
    expect_part(PART(.labels = {"route=/a"}, .labels_len = 1), 4, 0, "route=/a");
    expect_part(PART(.labels = {"user=ann", "route=/a"}, .labels_len = 2), 4, 0,
                "user=ann, route=/a");
    expect_part(PART(.labels = {"route=/b"}, .labels_len = 1), 0, 2, "route=/b");
    expect_part(PART(.by_label = "user"), 5, 2, NULL);
    expect_no_part(PART(.by_label = "host"),
                   "r: the recording has no label 'host'; it has route, user");
    expect_no_part(PART(.labels = {"route=/c"}, .labels_len = 1),
                   "r: no sample of the recording has the label route=/c; see --by-label route");
}

/* The events beside the chosen one, and the places of samples. */
CASE_WITH(test_others_and_places, session_begin, session_end)
{
    struct session s = {0}, chosen = {0};
    struct session_options o = {.others = OTHERS_TOTAL, .places_samples = true},
                           of_one = {.recorded = {.event = "cpu"}};
    struct err e = {0};
    char name[] = "r", *names[] = {name};
    (void)state;
    put_plain("r");
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    assert_int_equal(s.summary.others.len, 1);
    const struct other_measure *faults = &s.summary.others.at[0];
    assert_string_equal(faults->name, "faults");
    assert_true(faults->samples == 3 && faults->totals);
    for (uint32_t i = 0; i < s.functions.len; i++) {
        bool is_cold = !strcmp(s.functions.at[i].name, "cold_code");
        bool is_main = !strcmp(s.functions.at[i].name, "main_code");
        assert_true(faults->self[i] == (is_cold ? 3 : 0));
        assert_true(faults->totals[i] == (is_cold || is_main ? 3 : 0));
    }
    assert_string_equal(s.summary.program, session_program);
    assert_string_equal(s.folder, "r");
    assert_non_null(s.summary.stacks);
    /* Places that are 76 bytes apart are not in one histogram. */
    assert_int_equal(s.profile.histograms.len, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct histogram *h = &s.profile.histograms.at[i];
        assert_string_equal(h->dimension, "seconds");
        assert_true(h->abbreviation == 's' && h->high == h->low + 1 && h->bins == 1);
        assert_int_equal(histogram_get(h, 0), i ? 2000000 : 5000000);
    }
    assert_true(s.profile.counts_a_sample == 1000000);
    assert_int_equal(s.profile.histograms.at[1].low - s.profile.histograms.at[0].low, COLD + 12);
    session_close(&s);
    CHECK(session_operands(&of_one, names, 1, &e) && session_open(&chosen, &of_one, &e));
    assert_int_equal(chosen.summary.others.len, 0);
    assert_int_equal(chosen.profile.histograms.len, 0);
    session_close(&chosen);
}

/* Opens "r" and frees it; the sentences at its foot, "; " between them. */
static const char *notes_of(struct session_options o)
{
    static char text[2000];
    struct session s = {0};
    struct err e = {0};
    char name[] = "r", *names[] = {name};
    *text = '\0';
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    for (size_t i = 0; i < s.summary.notes_len; i++) {
        strcat(text, i ? "; " : "");
        strcat(text, s.summary.notes[i]);
    }
    session_close(&s);
    return text;
}

CASE_WITH(test_notes_on_samples, session_begin, session_end)
{
    static const struct session_options PLAIN = {0};
    struct recording r;
    (void)state;
    put_plain("r");
    assert_string_equal(notes_of(PLAIN),
                        "7 samples say little: run it for longer, or with a higher --rate");
    fill(&r); /* enough of them, without callers */
    for (size_t i = 2; i < r.nodes.len; i++)
        r.nodes.at[i].parent = 0;
    for (size_t i = 0; i < r.samples.len; i++)
        r.samples.at[i].count *= 10, r.samples.at[i].weight *= 10;
    put_recording("r", &r);
    assert_string_equal(notes_of(PLAIN), "callers are unknown: record with stacks");
    fill(&r); /* by the program itself */
    r.method = RECORDING_METHOD_PROCESS;
    for (size_t i = 2; i < r.nodes.len; i++)
        r.nodes.at[i].parent = 0;
    for (size_t i = 0; i < r.samples.len; i++)
        r.samples.at[i].count *= 10, r.samples.at[i].weight *= 10;
    put_recording("r", &r);
    assert_string_equal(notes_of(PLAIN),
                        "calls were not counted: the program is not compiled with -pg; callers are "
                        "unknown: record with stacks, compile with -fno-omit-frame-pointer");
    fill(&r); /* one alone, with what the recorder itself says */
    r.samples.len = 1;
    r.samples.at[0].count = 1, r.samples.at[0].weight = 1000000;
    vec_push(&r.losses, (struct recording_loss){RECORDING_LOST_OTHER, 2, 0, "no room"});
    vec_push(&r.losses, (struct recording_loss){RECORDING_LOST_OTHER, 0, 1500000, "it slept"});
    vec_push(&r.losses, (struct recording_loss){RECORDING_LOST_RECORDS, 9, 0, "not told here"});
    put_recording("r", &r);
    assert_string_equal(notes_of(PLAIN),
                        "1 sample says little: run it for longer, or with a higher --rate; "
                        "recorder: no room (2); recorder: it slept (0.002 s)");
    fill(&r);
    r.samples.len = 0;
    put_recording("r", &r);
    assert_string_equal(notes_of(PLAIN), "no samples were taken: run it for longer, or with a "
                                         "higher --rate");
}

/* Puts what the program's file says into the recording in "r". */
static void complete(void)
{
    struct recording r = {0};
    struct recorded_symbols added = {0};
    struct err e = {0};
    struct symbol_files *files = symbol_files_new(&(struct symbol_files_options){0}, &e);
    assert_non_null(files);
    CHECK(recorded_read_alone("r", &r, &e));
    CHECK(recorded_complete(&r, "r", &READ, files, 0, &added, &e));
    assert_true(added.objects == 1 && added.added == 1 && !added.without);
    symbol_files_free(files);
    put_recording("r", &r);
}

/* Whether the whole file is open rather than what the recording tells of it. */
static bool takes_file(struct session_options o)
{
    struct session s = {0};
    struct err e = {0};
    char name[] = "r", *names[] = {name};
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    assert_true(self_of(&s, "hot_code") == 5 && self_of(&s, "cold_code") == 2);
    assert_int_equal(session_objects_len(&s), 1);
    assert_non_null(session_object(&s, 0));
    bool is_file = false; /* main() is in no stack */
    for (uint32_t i = 0; i < s.functions.len; i++)
        is_file |= !strcmp(s.functions.at[i].name, "main");
    CHECK(session_is_read(&s, &e) && session_debug_is_whole(&s, &e));
    session_close(&s);
    return is_file;
}

CASE_WITH(test_whose_functions, session_begin, session_end)
{
    char command[300];
    (void)state;
    put_plain("r");
    assert_true(takes_file((struct session_options){0}));
    complete();
    assert_false(takes_file((struct session_options){0}));
    assert_false(takes_file((struct session_options){.debug_dir = "."})); /* knows no more */
    assert_true(takes_file((struct session_options){.wants_files = true}));
    assert_true(takes_file((struct session_options){.wants_code = true}));
    /* Without the file only machine code is missing. */
    assert_int_equal(rename("prog", "moved"), 0);
    assert_false(takes_file((struct session_options){.wants_files = true}));
    snprintf(command, sizeof command,
             "7 samples say little: run it for longer, or with a higher --rate; no machine code of "
             "%s: the recorded file no longer exists",
             session_program);
    assert_string_equal(notes_of((struct session_options){.wants_code = true}), command);
    assert_true(takes_file((struct session_options){.wants_files = true, .symbols = "moved"}));
    assert_true(takes_file((struct session_options){.wants_files = true, .symbols = "."}));
}

/* A damaged excerpt is as good as none, but is mentioned; one that knows less than a file which was
 * named is not taken. */
CASE_WITH(test_poor_excerpts, session_begin, session_end)
{
    struct recording r;
    struct recorded_symbols added = {0};
    struct err e = {0};
    (void)state;
    fill(&r);
    recording_add_excerpt(&r, 0, (struct bytes){(const uint8_t *)"damaged", 7});
    put_recording("r", &r);
    assert_true(takes_file((struct session_options){0}));
    const char *said = notes_of((struct session_options){0});
    assert_non_null(strstr(said, "--rate; "));
    assert_null(strstr(said, "no symbols of "));
    assert_int_equal(rename("prog", "full"), 0);
    if (system("strip -o prog full 2>/dev/null")) /* there are no binutils */
        return;
    fill(&r);
    struct symbol_files *files = symbol_files_new(&(struct symbol_files_options){0}, &e);
    assert_non_null(files);
    CHECK(recorded_complete(&r, "r", &READ, files, 0, &added, &e));
    symbol_files_free(files);
    put_recording("r", &r);
    assert_true(takes_file((struct session_options){.symbols = "full"}));
}

/* Events without a usual weight count samples of the mean weight; what is to be searched must be
 * there. */
CASE_WITH(test_weights_and_searches, session_begin, session_end)
{
    struct recording r;
    struct session s = {0};
    struct session_options o = {.symbols = "gone"};
    struct err e = {0};
    char name[] = "r", *names[] = {name};
    (void)state;
    fill(&r);
    r.events.at[0].period = 0;
    r.samples.at[0].weight = 8000000; /* 11 of 7 samples */
    put_recording("r", &r);
    expect_part(PART(0), 9000000.0 / (11000000 / 7), 2000000.0 / (11000000 / 7), NULL);
    assert_true(session_operands(&o, names, 1, &e));
    assert_false(session_open(&s, &o, &e));
    assert_non_null(strstr(e.line, "gone: No such file or directory"));
    session_close(&s);
}

CASE_WITH(test_no_file, session_begin, session_end)
{
    char wanted[400];
    struct recording r;
    (void)state;
    put_plain("r");
    assert_int_equal(rename("prog", "moved"), 0);
    snprintf(wanted, sizeof wanted,
             "7 samples say little: run it for longer, or with a higher --rate; no symbols of %s: "
             "No such file or directory",
             session_program);
    assert_string_equal(notes_of((struct session_options){0}), wanted);
    assert_true(takes_file((struct session_options){.symbols = "moved"}));
    put_text("prog", "no program any more");
    const char *found = notes_of((struct session_options){0});
    assert_non_null(strstr(found, "no symbols of "));
    assert_null(strstr(found, "No such file"));
    /* Another build in its place. */
    assert_int_equal(rename("moved", "prog"), 0);
    fill(&r);
    if (!r.objects.at[0].build_id_bytes)
        return recording_deinit(&r);
    r.objects.at[0].build_id[0] ^= 1;
    put_recording("r", &r);
    snprintf(
        wanted, sizeof wanted,
        "7 samples say little: run it for longer, or with a higher --rate; no symbols of %s: "
        "the file is not the one that was recorded, and the recording has none (--symbols PATH "
        "takes those of the old file)",
        session_program);
    assert_string_equal(notes_of((struct session_options){0}), wanted);
    /* Names that the recorder listed are names without a file. */
    fill(&r);
    vec_push(&r.symbols, (struct recording_symbol){0, link_of_hot, 64, "listed"});
    put_recording("r", &r);
    assert_int_equal(unlink("prog"), 0);
    snprintf(wanted, sizeof wanted,
             "7 samples say little: run it for longer, or with a higher --rate; no lines or "
             "inlined functions of %s: No such file or directory",
             session_program);
    assert_string_equal(notes_of((struct session_options){0}), wanted);
}
