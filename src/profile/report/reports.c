/* The tables of reports: which writer prints which table in which format, and the columns of each.
 *
 * A command asks for a row by what it has analysed and by the name of the format. A unit test fails
 * a row that has no line in docs/reports.md, or that names a test or golden that is not there.
 *
 * The three tables are constants, and searched from the front: a few dozen rows, once a command. To
 * add a format: a function in this room, its name in writers.h, a row here, a line in
 * docs/reports.md and a golden. */
#include "profile/report/writers.h"

#include <string.h>

/* Names by which docs and tests know a table; they are not options. */
const char *const report_table_names[] = {
    [REPORT_FLAT] = "flat",
    [REPORT_SHARES] = "shares",
    [REPORT_GRAPH] = "graph",
    [REPORT_TREES] = "callees",
    [REPORT_CALL_TREES] = "call_tree",
    [REPORT_LINES] = "lines",
    [REPORT_ANNOTATED] = "annotate",
    [REPORT_COUNTS] = "lines_counts",
    [REPORT_DIAGNOSIS] = "doctor",
    [REPORT_LAYOUT] = "optimize_order",
    [REPORT_FLAME] = "flame",
    [REPORT_COMPARISON] = "diff",
    [REPORT_RANKS] = "ranks",
    [REPORT_LOCKS] = "waits",
    [REPORT_PATH] = "path",
    [REPORT_WHAT_IF] = "path_if",
};

/* The flag is is_for_people: text may be paged and coloured on a terminal. The text of an order of
 * functions is neither, since it stands beside a file that was written. */
const struct report reports[] = {
    {REPORT_FLAT, REPORT_TEXT, flat_text, true},
    {REPORT_FLAT, REPORT_JSON, flat_json, false},
    {REPORT_FLAT, REPORT_CSV, flat_csv, false},
    {REPORT_SHARES, REPORT_TEXT, shares_text, true},
    {REPORT_SHARES, REPORT_JSON, shares_json, false},
    {REPORT_SHARES, REPORT_CSV, shares_csv, false},
    {REPORT_GRAPH, REPORT_TEXT, graph_text, true},
    {REPORT_GRAPH, REPORT_JSON, graph_json, false},
    {REPORT_GRAPH, REPORT_CSV, graph_csv, false},
    {REPORT_GRAPH, REPORT_DOT, graph_dot, false},
    {REPORT_TREES, REPORT_TEXT, trees_text, true},
    {REPORT_TREES, REPORT_JSON, trees_json, false},
    {REPORT_TREES, REPORT_CSV, trees_csv, false},
    {REPORT_CALL_TREES, REPORT_TEXT, call_tree_text, true},
    {REPORT_CALL_TREES, REPORT_JSON, call_tree_json, false},
    {REPORT_CALL_TREES, REPORT_CSV, call_tree_csv, false},
    {REPORT_LINES, REPORT_TEXT, lines_text, true},
    {REPORT_LINES, REPORT_JSON, lines_json, false},
    {REPORT_LINES, REPORT_CSV, lines_csv, false},
    {REPORT_ANNOTATED, REPORT_TEXT, annotate_text, true},
    {REPORT_ANNOTATED, REPORT_JSON, annotate_json, false},
    {REPORT_COUNTS, REPORT_TEXT, counts_text, true},
    {REPORT_COUNTS, REPORT_JSON, counts_json, false},
    {REPORT_COUNTS, REPORT_CSV, counts_csv, false},
    {REPORT_DIAGNOSIS, REPORT_TEXT, doctor_text, true},
    {REPORT_DIAGNOSIS, REPORT_JSON, doctor_json, false},
    {REPORT_LAYOUT, REPORT_TEXT, layout_text, false},
    {REPORT_LAYOUT, REPORT_JSON, layout_json, false},
    {REPORT_FLAME, REPORT_SVG, flame_svg, false},
    {REPORT_COMPARISON, REPORT_TEXT, comparison_text, true},
    {REPORT_COMPARISON, REPORT_JSON, comparison_json, false},
    {REPORT_COMPARISON, REPORT_CSV, comparison_csv, false},
    {REPORT_COMPARISON, REPORT_MARKDOWN, comparison_markdown, false},
    {REPORT_RANKS, REPORT_TEXT, ranks_text, true},
    {REPORT_RANKS, REPORT_JSON, ranks_json, false},
    {REPORT_RANKS, REPORT_CSV, ranks_csv, false},
    {REPORT_LOCKS, REPORT_TEXT, locks_text, true},
    {REPORT_LOCKS, REPORT_JSON, locks_json, false},
    {REPORT_PATH, REPORT_TEXT, path_text, true},
    {REPORT_PATH, REPORT_JSON, path_json, false},
    {REPORT_WHAT_IF, REPORT_TEXT, what_if_text, true},
    {REPORT_WHAT_IF, REPORT_JSON, what_if_json, false},
};
const size_t reports_len = sizeof reports / sizeof *reports;

/* A table that has no text (a flame picture) gives NULL without a format. */
const struct report *report_find(enum report_table table, const char *format)
{
    const char *name = format ? format : REPORT_TEXT;
    for (size_t i = 0; i < reports_len; i++)
        if (reports[i].needs == table && !strcmp(reports[i].format, name))
            return &reports[i];
    return NULL;
}
