/* What commands open besides one session: sides of a comparison run by run, lines, trees of stacks,
 * and what a diagnosis has to go by. */
#include "cases.h"
#include "program.h"

#include "profile/format/format.h"
#include "session/diagnosed.h"
#include "session/report_inputs.h"
#include "session/source_profiles.h"

static const uint8_t WORD = sizeof(void *);
static const bool IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* Samples of hot_code and a call of cold_code. */
static void put_counts(const char *path, uint64_t hot, uint64_t calls)
{
    struct profile p = {.format = PROFILE_GNU, .version = 1, .word = WORD, .big_endian = IS_BIG};
    struct histogram h = {.low = link_of_hot,
                          .high = link_of_hot + 64,
                          .bins = 1,
                          .rate = 100,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    struct err e = {0};
    histogram_alloc(&h);
    histogram_add(&h, 0, hot);
    vec_push(&p.histograms, h);
    vec_push(&p.arcs, (struct arc){link_of_hot + 8, link_of_hot + COLD, calls});
    CHECK(profile_save(format_named("gmon"), &p, WORD, IS_BIG, path, &e));
    profile_deinit(&p);
}

static uint32_t runs_of(char **names, size_t len, const char *program)
{
    static const struct session_options BASE = {0};
    struct run_set s = {0};
    struct err e = {0};
    CHECK(side_open(&s, &BASE, &(struct side_names){.program = program, .names = names, .len = len},
                    &e));
    uint32_t runs = s.runs;
    assert_int_equal(s.unread.line[0], '\0');
    run_set_deinit(&s);
    return runs;
}

CASE_WITH(test_sides, session_begin, session_end)
{
    static const struct session_options BASE = {0};
    struct run_set s = {0};
    struct err e = {0};
    char prog[] = "prog", one[] = "one.gmon", two[] = "two.gmon", a[] = "a", many[] = "many";
    (void)state;
    put_counts(one, 5, 3);
    put_counts(two, 7, 4);
    put_plain("a");
    mkdir("many", 0700);
    put_plain("many/run-1");
    put_plain("many/run-2");
    put_plain("many/run-3");
    assert_int_equal(runs_of((char *[]){prog, one}, 2, NULL), 1);
    assert_int_equal(runs_of((char *[]){prog, one, two}, 3, NULL), 2);
    assert_int_equal(runs_of((char *[]){one, two}, 2, prog), 2);
    assert_int_equal(runs_of((char *[]){a}, 1, NULL), 1);
    assert_int_equal(runs_of((char *[]){many}, 1, NULL), 3);
    assert_int_equal(runs_of((char *[]){a, many}, 2, prog), 4);
    assert_int_equal(runs_of((char *[]){prog, one, many}, 3, NULL), 4);
    assert_false(
        side_open(&s, &BASE, &(struct side_names){.names = (char *[]){prog}, .len = 1}, &e));
    assert_string_equal(e.line, "prog: also name the profile to compare");
    assert_false(side_open(&s, &BASE, &(struct side_names){.names = NULL}, &e));
    assert_string_equal(e.line, "a side: also name the profile to compare");
    assert_false(side_open(
        &s, &BASE, &(struct side_names){.names = (char *[]){prog, many + 4}, .len = 2}, &e));
    run_set_deinit(&s);
}

/* The rows of trees of a session's stacks: "name total" of each, ", " between them. */
static const char *rows_of(struct session *s, struct call_trees_request q)
{
    static char text[500];
    struct call_trees c = {0};
    struct err e = {0};
    *text = '\0';
    q.demangle = "auto";
    q.min_percent = q.min_percent ? q.min_percent : -1;
    if (!call_trees_make(&c, s, &q, &e))
        strcpy(text, e.line);
    for (size_t tree = 0; tree < c.report.len; tree++)
        for (size_t i = 0; i < c.report.trees[tree].len; i++) {
            const struct call_row *row = &c.report.trees[tree].rows[i];
            size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%s%s %g", at ? ", " : "",
                     row->folded ? "folded " : "", c.frames.functions.at[row->function].name,
                     row->total);
        }
    call_trees_deinit(&c);
    return text;
}

#define ROWS(...) rows_of(&s, (struct call_trees_request){__VA_ARGS__})

CASE_WITH(test_trees, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {.measures_graph = true};
    struct err e = {0};
    char r[] = "r", *names[] = {r};
    (void)state;
    put_plain("r");
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    assert_string_equal(ROWS(.direction = CALLS_FROM_ROOT), "main_code 7, hot_code 5, cold_code 2");
    assert_string_equal(ROWS(.direction = CALLS_BELOW, .function = "hot_code"), "hot_code 5");
    assert_string_equal(ROWS(.direction = CALLS_OUTWARDS, .function = "cold_code"),
                        "cold_code 2, main_code 2");
    assert_string_equal(ROWS(.direction = CALLS_FROM_ROOT, .limit = 2), "main_code 7, hot_code 5");
    assert_string_equal(ROWS(.direction = CALLS_BELOW, .function = "nobody"),
                        "r: has no function 'nobody'");
    struct stack_edits edits = {.folds_recursion = true};
    assert_true(stack_edits_are_any(&edits));
    edits.folds_recursion = false;
    assert_false(stack_edits_are_any(&edits));
    vec_push(&edits.objects, "libnone.so");
    assert_string_equal(ROWS(.direction = CALLS_FROM_ROOT, .edits = &edits),
                        "r: has no object 'libnone.so'; 'monarc flat --by-object' lists them");
    stack_edits_deinit(&edits);
    session_close(&s);
}

CASE_WITH(test_diagnosed, session_begin, session_end)
{
    static const struct diagnosed_options PLAIN = {0};
    struct diagnosed d = {0};
    char r[] = "r", gone[] = "gone.monarc";
    (void)state;
    put_counts("gmon.out", 5, 3);
    diagnosed_profile(&d, "prog", "gmon.out", &PLAIN);
    assert_true(d.input.object && d.input.functions && d.input.measured && !d.input.is_missing);
    assert_int_equal(profile_samples(d.input.measured), 5);
    assert_int_equal(profile_calls(d.input.measured), 3);
    assert_int_equal(d.profile_error.line[0], '\0');
    diagnosed_close(&d);
    d = (struct diagnosed){0};
    diagnosed_profile(&d, "prog", "gone.out", &PLAIN);
    assert_true(d.input.object && d.input.is_missing && !d.input.measured);
    assert_string_equal(d.profile_error.line, "gone.out: No such file or directory");
    diagnosed_close(&d);
    d = (struct diagnosed){0};
    diagnosed_profile(&d, "gone", "gmon.out", &PLAIN);
    assert_true(!d.input.object && d.input.measured && !d.input.is_missing);
    assert_string_equal(d.object_error.line, "gone: No such file or directory");
    assert_true(d.diagnosis.all.len > 0);
    diagnosed_close(&d);
    put_plain("r");
    d = (struct diagnosed){0};
    diagnosed_recording(&d, r, &PLAIN);
    assert_true(d.diagnosis.all.len > 0); /* so few samples */
    diagnosed_close(&d);
    d = (struct diagnosed){0};
    diagnosed_recording(&d, gone, &PLAIN);
    assert_true(d.diagnosis.all.len > 0);
    diagnosed_close(&d);
}

/* What a recording says of the program's code: its own samples, calls from where they are known,
 * and the rest as a sum. */
CASE_WITH(test_measured_code, session_begin, session_end)
{
    struct source_inputs s = {0};
    struct session_options options = {0};
    struct recording r;
    struct err e = {0};
    char name[] = "r", *inputs[] = {name};
    struct source_request q = {
        .session = &options, .keeps_addresses = true, .inputs = inputs, .inputs_len = 1};
    (void)state;
    fill(&r);
    r.processes.at[0].program = 0;
    vec_push(&r.objects, (struct recording_object){.kind = RECORDING_OBJECT_KERNEL,
                                                   .high = UINT64_MAX,
                                                   .process = RECORDING_NONE});
    vec_push(&r.nodes, (struct recording_node){0, 1, 1});
    vec_push(&r.samples, (struct recording_sample){3, 2, 0, 4, 3000000, 3, 0});
    vec_push(&r.arcs,
             (struct recording_arc){0, 0, link_of_hot + MAIN + 8, link_of_hot, UINT64_C(40)});
    vec_push(&r.arcs, (struct recording_arc){RECORDING_NONE, 0, 0, link_of_hot + COLD, 2});
    put_recording("r", &r);
    CHECK(source_inputs_read(&s, &q, &e));
    assert_string_equal(s.program, session_program);
    double hits = 0;
    for (size_t i = 0; i < s.measured.hits.len; i++)
        hits += s.measured.hits.at[i].weight;
    assert_true(hits == 7 && s.elsewhere == 3 && s.measured.has_counted_calls);
    assert_int_equal(s.measured.calls.len, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct code_called *c = &s.measured.calls.at[i];
        bool is_hot = c->to == link_of_hot;
        assert_true(c->count == (is_hot ? 40 : 2));
        assert_int_equal(c->from, is_hot ? link_of_hot + MAIN + 7 : 0);
    }
    source_inputs_deinit(&s);
}

/* Sums of profiles that are nothing but lines of addresses or names. */
CASE_WITH(test_sums_by_address, session_begin, session_end)
{
    struct source_output o = {.output = "sum"};
    struct arena a = {0};
    struct err e = {0};
    const char *note = NULL;
    char x[] = "x", gone[] = "gone", other[] = "other", *paths[] = {x, x, gone};
    (void)state;
    put_seed("fdata/samples", "x");
    put_seed("preaggregated/samples", "other");
    assert_true(is_source_profile("x") && is_source_profile("other"));
    assert_false(is_source_profile("prog") || is_source_profile("gone") || is_source_profile("."));
    CHECK(source_merge(&o, paths, 2, &note, &a, &e));
    assert_int_equal(system("grep -q '1 work 23 18' sum"), 0); /* twice 7 + 2 */
    assert_false(source_merge(&o, paths, 3, &note, &a, &e));
    assert_string_equal(e.line, "gone: No such file or directory");
    paths[2] = other;
    assert_false(source_merge(&o, paths, 3, &note, &a, &e));
    assert_string_equal(e.line, "other: is no fdata profile, as the first input is");
    arena_deinit(&a);
}
