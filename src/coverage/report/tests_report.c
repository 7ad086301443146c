/* Tables of tests: all of them, those that ran a line, those to run for a patch. */
#include "coverage/report/coverage_report.h"

#include "output/json.h"
#include "output/text.h"

#include <inttypes.h>

/* --- what the forms share -------------------------------------------------------------------- */

static const char *tests_name(const struct tests_report *r, uint32_t test)
{
    return r->tests->tests.at[test].name;
}

static size_t tests_shown(const struct tests_report *r, size_t len)
{
    return r->limit && r->limit < len ? (size_t)r->limit : len;
}

static size_t tests_useless(const struct test_coverage *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->tests.len; i++)
        count += t->tests.at[i].adds_nothing;
    return count;
}

/* Tests that ran the line. */
static const struct line_test *tests_of_line(const struct tests_report *r, size_t *len)
{
    *len = r->tests->first[r->line + 1] - r->tests->first[r->line];
    return r->tests->hits + r->tests->first[r->line];
}

/* --- text ------------------------------------------------------------------------------------ */

static void tests_left_out(struct out *out, size_t shown, size_t all)
{
    if (shown < all)
        out_printf(out, "[%zu more, not shown]\n", all - shown);
}

static void tests_text_all(struct out *out, const struct tests_report *r)
{
    const struct test_coverage *t = r->tests;
    size_t shown = tests_shown(r, t->tests.len), useless = tests_useless(t);
    out_printf(out, "Tests    %zu", t->tests.len);
    if (useless)
        out_printf(out, "; %zu could go: what they run, the others run, too", useless);
    out_printf(out, "\n\n%10s %10s  test\n", "lines", "alone");
    for (size_t i = 0; i < shown; i++) {
        const struct test_row *row = &t->tests.at[i];
        out_printf(out, "%10" PRIu64 " %10" PRIu64 "  ", row->lines, row->alone);
        text_name(out, row->name);
        out_str(out, row->adds_nothing ? "  (adds nothing)\n" : "\n");
    }
    tests_left_out(out, shown, t->tests.len);
}

static void tests_text_line(struct out *out, const struct tests_report *r)
{
    size_t len;
    const struct line_test *hits = tests_of_line(r, &len);
    size_t shown = tests_shown(r, len);
    out_str(out, "Line     "), text_name(out, r->place);
    out_printf(out, ": run by %zu of %zu tests\n", len, r->tests->tests.len);
    if (len)
        out_printf(out, "\n%12s  test\n", "count");
    for (size_t i = 0; i < shown; i++) {
        out_printf(out, "%12" PRIu64 "  ", hits[i].count);
        text_name(out, tests_name(r, hits[i].test));
        out_char(out, '\n');
    }
    tests_left_out(out, shown, len);
}

static void tests_text_patch(struct out *out, const struct tests_report *r)
{
    const struct test_selection *s = r->selection;
    size_t shown = tests_shown(r, s->tests.len);
    out_str(out, "Patch    "), text_name(out, r->patch);
    out_printf(out, ": concerns %zu of %zu tests\n", s->tests.len, r->tests->tests.len);
    if (s->unknown_files) {
        out_printf(out,
                   "Note     nothing is known of %" PRIu64 " of its files: ", s->unknown_files);
        text_name(out, s->unknown_file);
        out_str(out, s->unknown_files > 1 ? ", and others\n" : "\n");
    }
    if (s->tests.len)
        out_printf(out, "\n%-8s %10s  test\n", "ran the", "lines");
    for (size_t i = 0; i < shown; i++) {
        const struct chosen_test *c = &s->tests.at[i];
        out_printf(out, "%-8s %10" PRIu64 "  ", test_reason_names[c->reason], c->lines);
        text_name(out, tests_name(r, c->test));
        out_char(out, '\n');
    }
    tests_left_out(out, shown, s->tests.len);
}

void tests_text(struct out *out, const struct tests_report *r)
{
    if (r->selection)
        tests_text_patch(out, r);
    else if (r->place)
        tests_text_line(out, r);
    else
        tests_text_all(out, r);
}

static void tests_name_line(struct out *out, const struct tests_report *r, uint32_t test)
{
    text_name(out, tests_name(r, test));
    out_char(out, '\n');
}

void tests_names(struct out *out, const struct tests_report *r)
{
    size_t len;
    if (r->selection) {
        for (size_t i = 0; i < r->selection->tests.len; i++)
            tests_name_line(out, r, r->selection->tests.at[i].test);
    } else if (r->place) {
        const struct line_test *hits = tests_of_line(r, &len);
        for (size_t i = 0; i < len; i++)
            tests_name_line(out, r, hits[i].test);
    } else {
        for (uint32_t i = 0; i < r->tests->tests.len; i++)
            tests_name_line(out, r, i);
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void tests_json_all(struct json *j, const struct tests_report *r)
{
    for (size_t i = 0; i < tests_shown(r, r->tests->tests.len); i++) {
        const struct test_row *row = &r->tests->tests.at[i];
        json_begin(j, '{');
        json_pair_str(j, "name", row->name);
        json_pair_u64(j, "lines", row->lines);
        json_pair_u64(j, "alone", row->alone);
        json_key(j, "adds_nothing"), json_bool(j, row->adds_nothing);
        json_end(j);
    }
}

static void tests_json_line(struct json *j, const struct tests_report *r)
{
    size_t len;
    const struct line_test *hits = tests_of_line(r, &len);
    for (size_t i = 0; i < tests_shown(r, len); i++) {
        json_begin(j, '{');
        json_pair_str(j, "name", tests_name(r, hits[i].test));
        json_pair_u64(j, "count", hits[i].count);
        json_end(j);
    }
}

static void tests_json_patch(struct json *j, const struct tests_report *r)
{
    for (size_t i = 0; i < tests_shown(r, r->selection->tests.len); i++) {
        const struct chosen_test *c = &r->selection->tests.at[i];
        json_begin(j, '{');
        json_pair_str(j, "name", tests_name(r, c->test));
        json_pair_str(j, "reason", test_reason_names[c->reason]);
        json_pair_u64(j, "lines", c->lines);
        json_end(j);
    }
}

void tests_json(struct out *out, const struct tests_report *r)
{
    struct json j = {.out = out};
    json_document_begin(&j, "cover_tests");
    json_pair_str(&j, "place", r->place);
    json_pair_str(&j, "patch", r->selection ? r->patch : NULL);
    json_pair_u64(&j, "all_tests", r->tests->tests.len);
    if (r->selection)
        json_pair_u64(&j, "unknown_files", r->selection->unknown_files);
    json_key(&j, "tests"), json_begin(&j, '[');
    if (r->selection)
        tests_json_patch(&j, r);
    else if (r->place)
        tests_json_line(&j, r);
    else
        tests_json_all(&j, r);
    json_end(&j);
    json_end(&j);
}
