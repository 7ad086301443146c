/* Coverage by test, as text, JSON (docs/schema/cover_tests.schema.json) and bare names: all tests,
 * those that ran a line, or those to run for a patch.
 *
 * A test whose lines are all run by others as well adds nothing, and is said to: all that are
 * marked may go together. Limits cut text and JSON, never the list of names, which is there to be
 * run.
 *
 *     Tests    40; 3 could go: what they run, the others run, too
 *
 *          lines      alone  test
 *            900         12  parse_empty
 *            850          0  parse_twice  (adds nothing)
 *
 *     Patch    fix.diff: concerns 2 of 40 tests
 *     ran the        lines  test
 *     line               4  parse_empty
 *
 * Rows come as the analysis has sorted them. Cost: one pass over what is shown. */
#include "coverage/report/coverage_report.h"

#include "output/columns.h"

#include <inttypes.h>

/* One table for the three reports, each of which fills its own columns. */
enum {
    TEST_NAME,
    TEST_REASON,
    TEST_LINES,
    TEST_ALONE,
    TEST_COUNT,
    TEST_ADDS_NOTHING,
    TEST_COLUMNS
};
static const struct column columns[TEST_COLUMNS] = {
    [TEST_NAME] = {"name", "name of the test"},
    [TEST_REASON] = {"reason",
                     "for a patch: what the test ran of it: a line, the function or the source",
                     "ran the", FORM_LEFT},
    [TEST_LINES] = {"lines", "lines that it ran; for a patch: changed lines that it ran", "lines",
                    FORM_NUMBER, true},
    [TEST_ALONE] = {"alone", "lines that no other test ran", "alone", FORM_NUMBER, true},
    [TEST_COUNT] = {"count", "how often it ran the line", "count", FORM_NUMBER},
    [TEST_ADDS_NOTHING] = {"adds_nothing", "the other tests run all that it runs"},
};
const struct column_table tests_columns = {"Columns of --by-test", "cover_tests", "tests", columns,
                                           TEST_COLUMNS};

/* Tests that ran the line. Hits of all lines lie in one array; `first` of a line and of the next
 * one bound its own. */
static const struct line_test *tests_of_line(const struct tests_report *r)
{
    return r->tests->hits + r->tests->first[r->line];
}

/* How many rows there are, whatever the limit. With a place, `line` is its index among the lines of
 * the result. */
static size_t tests_len(const struct tests_report *r)
{
    if (r->selection)
        return r->selection->tests.len;
    return r->place ? r->tests->first[r->line + 1] - r->tests->first[r->line] : r->tests->tests.len;
}

/* The i-th row's test, whichever of the three reports this is. */
static const char *tests_name(const struct tests_report *r, size_t i)
{
    uint32_t test = r->selection ? r->selection->tests.at[i].test
                    : r->place   ? tests_of_line(r)[i].test
                                 : (uint32_t)i;
    return r->tests->tests.at[test].name;
}

/* Rows of text and JSON; names are never cut. */
static size_t tests_shown(const struct tests_report *r)
{
    size_t len = tests_len(r);
    return r->limit && r->limit < len ? (size_t)r->limit : len;
}

/* What this report does not have stays absent. Rows of builds have the same fields: what a build
 * ran is asked in the same way as what a test ran. */
static void tests_fields(struct field *fields, const struct tests_report *r, size_t i)
{
    fields[TEST_NAME] = field_text(tests_name(r, i));
    if (r->selection) {
        const struct chosen_test *c = &r->selection->tests.at[i];
        fields[TEST_REASON] = field_text(test_reason_names[c->reason]);
        fields[TEST_LINES] = field_u64(c->lines);
    } else if (r->place) {
        fields[TEST_COUNT] = field_u64(tests_of_line(r)[i].count);
    } else {
        const struct test_row *row = &r->tests->tests.at[i];
        fields[TEST_LINES] = field_u64(row->lines);
        fields[TEST_ALONE] = field_u64(row->alone);
        fields[TEST_ADDS_NOTHING] = field_bool(row->adds_nothing);
    }
}

/* What the table is of, and its columns. Files of the patch of which nothing is known may concern
 * every test: that is said, with the first of them. */
static void tests_head(struct out *out, const struct tests_report *r, struct text_columns *l)
{
    const struct test_coverage *t = r->tests;
    size_t useless = 0;
    if (r->selection) {
        const struct test_selection *s = r->selection;
        out_str(out, "Patch    "), text_name(out, r->patch);
        out_printf(out, ": concerns %zu of %zu tests\n", s->tests.len, t->tests.len);
        if (s->unknown_files) {
            out_printf(out,
                       "Note     nothing is known of %" PRIu64 " of its files: ", s->unknown_files);
            text_name(out, s->unknown_file);
            out_str(out, s->unknown_files > 1 ? ", and others\n" : "\n");
        }
        text_column(l, TEST_REASON, 8, 0);
        text_column(l, TEST_LINES, 10, 0);
        return;
    }
    if (r->place) {
        out_str(out, "Line     "), text_name(out, r->place);
        out_printf(out, ": run by %zu of %zu %s\n", tests_len(r), t->tests.len,
                   r->are_builds ? "builds" : "tests");
        text_column(l, TEST_COUNT, 12, 0);
        return;
    }
    for (size_t i = 0; i < t->tests.len; i++)
        useless += t->tests.at[i].adds_nothing;
    out_printf(out, r->are_builds ? "Builds   %zu" : "Tests    %zu", t->tests.len);
    if (useless && r->are_builds)
        out_printf(out, "; %zu add nothing: the others run all that they run", useless);
    else if (useless)
        out_printf(out, "; %zu could be dropped: the others run all that they run", useless);
    out_char(out, '\n');
    text_column(l, TEST_LINES, 10, 0);
    text_column(l, TEST_ALONE, 10, 0);
}

/* A table with no rows has no head either, but for that of all tests. */
void tests_text(struct out *out, const struct tests_report *r)
{
    struct text_style style = {0};
    struct text_columns l = {.columns = columns, .len = TEST_COLUMNS, .style = &style};
    size_t shown = tests_shown(r);
    tests_head(out, r, &l);
    if (tests_len(r) || (!r->selection && !r->place)) {
        out_char(out, '\n');
        text_columns_head(out, &l);
        out_str(out, r->are_builds ? "  build\n" : "  test\n");
    }
    for (size_t i = 0; i < shown; i++) {
        struct field fields[TEST_COLUMNS] = {0};
        tests_fields(fields, r, i);
        text_columns_row(out, &l, fields, false);
        out_str(out, "  ");
        text_name(out, tests_name(r, i));
        out_str(out, fields[TEST_ADDS_NOTHING].u64 ? "  (adds nothing)\n" : "\n");
    }
    text_more(out, tests_len(r) - shown, "", NULL);
    coverage_text_notes(out, r->coverage, r->style);
}

/* To be given to a runner of tests: nothing but names, and all of them. */
void tests_names(struct out *out, const struct tests_report *r)
{
    for (size_t i = 0; i < tests_len(r); i++) {
        text_name(out, tests_name(r, i));
        out_char(out, '\n');
    }
}

/* `all_tests` is how many there are, of which the rows may be a part. */
void tests_json(struct out *out, const struct tests_report *r)
{
    struct json j = {.out = out};
    json_document_begin(&j, "cover_tests");
    json_pair_str(&j, "place", r->place);
    json_pair_str(&j, "patch", r->selection ? r->patch : NULL);
    json_pair_str(&j, "rows", r->are_builds ? "builds" : "tests");
    json_pair_u64(&j, "all_tests", r->tests->tests.len);
    if (r->selection)
        json_pair_u64(&j, "unknown_files", r->selection->unknown_files);
    json_left_out(&j, r->coverage);
    json_problems(&j, r->coverage);
    JSON_ROWS(&j, "tests", i, tests_shown(r)) {
        struct field fields[TEST_COLUMNS] = {0};
        tests_fields(fields, r, i);
        columns_json(&j, columns, TEST_COLUMNS, fields);
    }
    json_end(&j);
}
