/* Fuzzes the readers of text that monarc cover takes: tracefiles, what FUZZ_TRACE names of the
 * table of imports, or, with FUZZ_PATCH, patches.
 *
 * Laws: what was read of a tracefile can be written and read back to the same text; adding it to
 * itself in one table or side by side is the same; no more is hit than there is; JSON is JSON. A
 * patch has as many lines in its ranges as it adds. */
#include "base/file.h"
#include "coverage/format/format.h"
#include "coverage/import/import.h"
#include "coverage/model/coverage.h"
#include "coverage/report/coverage_report.h"
#include "law.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct coverage_table *t, const struct tracefile *trace)
{
    VEC(uint32_t) sources = {0};
    for (size_t i = 0; i < trace->sections.len; i++)
        vec_push(&sources, coverage_table_source(t, trace->sections.at[i].source));
    coverage_table_add_trace(t, trace, sources.at, NULL);
    vec_free(&sources);
}

static void check_ratio(const struct coverage_ratio *r)
{
    expect(r->hit + r->unknown <= r->all, "no more is hit than there is");
}

static struct out print(const struct coverage_table *tables, size_t len, bool is_lcov2)
{
    struct arena a = {0};
    struct source_search search = {.arena = &a};
    struct result_rules rules = {.keeps_all_branches = true, .threads = 1, .search = &search};
    struct coverage_result result = {0};
    struct problems problems = {0};
    struct out out, json;
    coverage_result_build(tables, len, &rules, &result);
    check_ratio(&result.sums.lines);
    check_ratio(&result.sums.functions);
    check_ratio(&result.sums.branches);
    check_ratio(&result.sums.conditions);
    struct coverage_report s = {.result = &result, .problems = &problems, .root = "/"};
    out_init(&out, -1);
    coverage_lcov(&out, &s, &(struct coverage_style){.is_lcov2 = is_lcov2});
    out_init(&json, -1);
    coverage_json(&json, &s, &(struct coverage_style){0});
    json_error_t why;
    json_t *parsed = json_loadb(json.at, json.len, JSON_DECODE_INT_AS_REAL, &why);
    expect(parsed != NULL, "the report is JSON");
    json_decref(parsed);
    json.len = 0;
    coverage_cobertura(&json, &s, &(struct coverage_style){0});
    coverage_markdown(&json, &s, &(struct coverage_style){0});
    coverage_text(&json, &s,
                  &(struct coverage_style){.shows_functions = true, .shows_missing = true});
    out_deinit(&json);
    coverage_result_deinit(&result);
    problems_deinit(&problems);
    source_search_deinit(&search);
    arena_deinit(&a);
    return out;
}

static void check_round(const struct out *text, bool is_lcov2)
{
    struct tracefile trace = {0};
    struct coverage_table t = {0};
    struct err e = {0};
    bool ok = lcov_read((struct bytes){(const uint8_t *)text->at, text->len}, "again", &trace, &e);
    expect(ok, "what was written can be read");
    add(&t, &trace);
    struct out again = print(&t, 1, is_lcov2);
    expect(again.len == text->len && (!text->len || !memcmp(again.at, text->at, text->len)),
           "reading and writing change nothing");
    out_deinit(&again);
    tracefile_deinit(&trace);
    coverage_table_deinit(&t);
}

static void check_sum(const struct tracefile *trace)
{
    struct coverage_table one = {0}, three[3];
    memset(three, 0, sizeof three);
    for (size_t i = 0; i < 3; i++) {
        add(&one, trace);
        add(&three[i], trace);
    }
    struct out a = print(&one, 1, true), b = print(three, 3, true);
    expect(a.len == b.len && (!a.len || !memcmp(a.at, b.at, a.len)), "adding is associative");
    out_deinit(&a);
    out_deinit(&b);
    coverage_table_deinit(&one);
    for (size_t i = 0; i < 3; i++)
        coverage_table_deinit(&three[i]);
}

/* lcov 1's FN:LINE,NAME and lcov 2's FN:LINE,END,NAME cannot be told apart if names are numbers; a
 * name that a source has twice is one function to a tracefile. */
static bool has_odd_functions(const struct coverage_table *t, bool is_lcov2)
{
    struct map seen = {0};
    bool is_odd = false;
    for (size_t i = 0; i < t->functions.len; i++) {
        const struct table_function *f = &t->functions.at[i];
        char first = intern_text(&t->names, f->name)[0];
        bool is_new;
        map_at(&seen, f->name, f->source, 0, &is_new);
        is_odd |= !is_new || (!is_lcov2 && first >= '0' && first <= '9');
    }
    map_deinit(&seen);
    return is_odd;
}

static bool has_control(const char *name)
{
    size_t len = strlen(name), n;
    for (size_t i = 0; i < len; i += n)
        if (!(n = shown_length((const uint8_t *)name + i, len - i)))
            return true;
    return false;
}

/* Control bytes of names become `?`: two names may become one, or change their order. */
static bool has_control_bytes(const struct tracefile *trace)
{
    bool has = false;
    for (size_t i = 0; i < trace->sections.len; i++)
        has |= has_control(trace->sections.at[i].source) || has_control(trace->sections.at[i].test);
    for (size_t i = 0; i < trace->functions.len; i++)
        has |= has_control(trace->functions.at[i].name);
    return has;
}

static bool read_trace(struct bytes in, struct tracefile *out, struct err *e)
{
#ifdef FUZZ_TRACE
    for (size_t i = 0; i < trace_importers_len; i++)
        if (!strcmp(trace_importers[i].name, FUZZ_TRACE))
            return (void)trace_importers[i].probe(in), trace_importers[i].read(in, "fuzz", out, e);
    abort();
#else
    return lcov_read(in, "fuzz", out, e);
#endif
}

static void check_lcov(struct bytes in)
{
    struct tracefile trace = {0};
    struct coverage_table t = {0};
    struct err e = {0};
    if (!read_trace(in, &trace, &e))
        expect(e.line[0] != 0, "a failure says why");
    add(&t, &trace);
    for (int version = 1; version <= 2; version++) {
        struct out text = print(&t, 1, version == 2);
        if (!has_control_bytes(&trace) && !has_odd_functions(&t, version == 2))
            check_round(&text, version == 2);
        out_deinit(&text);
    }
    check_sum(&trace);
    tracefile_deinit(&trace);
    coverage_table_deinit(&t);
}

static void check_patch(struct bytes in)
{
    struct patch p = {0};
    struct err e = {0};
    if (!patch_read(in, "fuzz", &p, &e))
        expect(e.line[0] != 0, "a failure says why");
    for (size_t i = 0; i < p.files.len; i++) {
        uint64_t lines = 0;
        for (uint32_t k = 0; k < p.files.at[i].ranges; k++)
            lines += p.ranges.at[p.files.at[i].first_range + k].lines;
        expect(lines == p.files.at[i].added, "the ranges hold what the patch adds");
    }
    patch_deinit(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZ_PATCH
    check_patch((struct bytes){data, size});
    (void)check_lcov;
#else
    check_lcov((struct bytes){data, size});
    (void)check_patch;
#endif
    return 0;
}
