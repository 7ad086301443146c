/* Which test ran what. Tracefiles with a section for each test are written test by test, each read
 * anew, so that memory does not grow with their number. */
#include "cli/cover/cover_tests.h"

#include "base/file.h"
#include "base/search.h"
#include "coverage/analysis/test_coverage.h"
#include "coverage/report/tests_report.h"

#include <errno.h>
#include <inttypes.h>

#include <string.h>

struct asking {
    const struct cover_options *options;
    struct coverage_options session_options;
    struct coverage_session session;
    struct test_coverage tests;
    struct test_selection selection;
    struct tests_report report;
    struct arena arena;
};

/* --- FILE:LINE ------------------------------------------------------------------------------- */

static bool asking_find_line(struct asking *a, const char *place, struct err *e)
{
    const struct coverage_result *r = &a->session.result;
    const char *colon = strrchr(place, ':');
    uint64_t line;
    if (!colon || colon == place || !option_number("--tests-of", colon + 1, UINT32_MAX, &line, e))
        return err_set(e, "option '--tests-of' takes FILE:LINE, not '%s'", place);
    const char *file = arena_copy(&a->arena, place, (size_t)(colon - place));
    uint32_t source = patch_source(r, file, file);
    if (source == UINT32_MAX)
        return err_set(e, "nothing is known of a source '%s'", file);
    const struct result_source *s = &r->sources.at[source];
    uint32_t at =
        s->first_line + PARTITION_POINT(s->lines, i, r->lines.at[s->first_line + i].line < line);
    a->report.place = arena_printf(&a->arena, "%s:%" PRIu64, s->path, line);
    a->report.line = at;
    if (at < s->first_line + s->lines && r->lines.at[at].line == line)
        return true;
    if (at < s->first_line + s->lines)
        return err_set(e, "%s has no code; the next line that has is %" PRIu32, a->report.place,
                       r->lines.at[at].line);
    return err_set(e, "%s has no code, nor has a line behind it", a->report.place);
}

/* --- tracefiles ------------------------------------------------------------------------------ */

static bool asking_trace_test(const struct asking *a, const char *test, struct out *out,
                              struct err *e)
{
    struct coverage_session session = {0};
    struct coverage_options options = a->session_options;
    options.read.by_test = false;
    options.read.only = test;
    bool ok = coverage_session_open(&session, &options, e);
    struct coverage_report report = {.result = &session.result,
                                     .problems = &session.reading.problems,
                                     .threads = options.read.threads,
                                     .test = test};
    if (ok)
        coverage_lcov(out, &report, &a->options->style);
    coverage_session_close(&session);
    return ok;
}

static bool asking_trace(const struct asking *a, struct out *out, struct err *e)
{
    for (size_t i = 0; i < a->tests.tests.len; i++)
        if (!asking_trace_test(a, a->tests.tests.at[i].name, out, e))
            return false;
    return true;
}

/* --- printing -------------------------------------------------------------------------------- */

static bool asking_write_form(const struct asking *a, const struct cover_output *output,
                              struct out *out, struct err *e)
{
    if (!strcmp(output->format->name, "lcov"))
        return asking_trace(a, out, e);
    if (strcmp(output->format->name, "json"))
        return err_set(e, "what tests ran is written as text, json and lcov, not as %s",
                       output->format->name);
    tests_json(out, &a->report);
    return true;
}

static bool asking_write(const struct asking *a, const struct cover_output *output, struct err *e)
{
    struct file_replacing file;
    struct out text;
    if (!file_replace_begin(&file, output->path, e))
        return false;
    out_init(&text, file.fd);
    bool ok = asking_write_form(a, output, &text, e);
    out_flush(&text);
    ok = file_replace_end(&file, ok ? text.error : ECANCELED, ok ? e : NULL) && ok;
    out_deinit(&text);
    return ok;
}

static bool asking_print(const struct asking *a, struct out *out, struct err *e)
{
    const struct cover_options *o = a->options;
    bool is_taken = false;
    for (size_t i = 0; i < o->outputs.len; i++) {
        const struct cover_output *output = &o->outputs.at[i];
        bool is_standard = !strcmp(output->path, "-");
        if (is_standard ? !asking_write_form(a, output, out, e) : !asking_write(a, output, e))
            return false;
        is_taken |= is_standard;
    }
    if (is_taken)
        return true;
    struct terminal terminal;
    terminal_start(&terminal, o->colour, o->no_pager, out);
    (o->is_quiet ? tests_names : tests_text)(out, &a->report);
    terminal_end(&terminal, out);
    return true;
}

/* --- all ------------------------------------------------------------------------------------- */

static bool asking_answer(struct asking *a, struct out *out, struct err *e)
{
    const struct cover_options *o = a->options;
    struct coverage_reading *reading = &a->session.reading;
    test_coverage_build(reading->tables.at, reading->tables.len, &a->session.result, &a->tests);
    if (!a->tests.tests.len)
        return err_set(e, "no test is known: name a folder of counters for each, or --runs DIR, or "
                          "tracefiles");
    a->report.tests = &a->tests;
    a->report.limit = o->style.limit;
    if (o->tests_of && !asking_find_line(a, o->tests_of, e))
        return false;
    if (o->tests_for) {
        test_selection_make(&a->tests, &a->session.patch, &a->selection);
        a->report.selection = &a->selection;
        a->report.patch = o->tests_for;
    }
    return asking_print(a, out, e);
}

int cover_tests(const struct cover_options *o, struct out *out, struct err *e)
{
    struct asking a = {.options = o, .session_options = o->session};
    a.session_options.read.by_test = true;
    a.session_options.patch = o->tests_for;
    int status = EXIT_BAD;
    if (coverage_session_open(&a.session, &a.session_options, e) && asking_answer(&a, out, e))
        status = EXIT_FINE;
    const struct problems *p = &a.session.reading.problems;
    if (status == EXIT_FINE && p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL]) {
        err_set(e, "%s", p->at.at[0].text);
        status = EXIT_DIFFERS;
    }
    test_selection_deinit(&a.selection);
    test_coverage_deinit(&a.tests);
    coverage_session_close(&a.session);
    arena_deinit(&a.arena);
    return status;
}
