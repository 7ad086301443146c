/* Shared by the files of this room: the writers that reports.c lists, and the phrases of a
 * comparison. */
#ifndef MONARC_PROFILE_REPORT_WRITERS_H
#define MONARC_PROFILE_REPORT_WRITERS_H

#include "profile/report/report.h"
#include "profile/report/report_header.h"

/* Each prints one table of its input whole, and returns nothing: errors of writing stay in `out`. A
 * name is the table and the format. */
report_writer annotate_text, annotate_json;
report_writer call_tree_text, call_tree_json, call_tree_csv;
report_writer comparison_text, comparison_json, comparison_csv, comparison_markdown;
report_writer counts_text, counts_json, counts_csv;
report_writer doctor_text, doctor_json;
report_writer flame_svg;
report_writer flat_text, flat_json, flat_csv;
report_writer graph_text, graph_json, graph_dot, graph_csv;
report_writer layout_text, layout_json;
report_writer locks_text, locks_json;
report_writer path_text, path_json, what_if_text, what_if_json;
report_writer lines_text, lines_json, lines_csv;
report_writer ranks_text, ranks_json, ranks_csv;
report_writer shares_text, shares_json, shares_csv;
report_writer trees_text, trees_json, trees_csv;

/* --- phrases of a comparison ------------------------------------------------------------------ */

/* "+12.5 %", or "from none" of what had no calls. 32 bytes. */
void comparison_growth_text(char *into, size_t size, const struct change *row);

/* What a row is: "function" or "line". */
const char *comparison_row_word(const struct comparison *c);

/* "old.monarc, 2 runs, 1234 samples, 5678 calls" */
void comparison_side_text(struct out *out, const struct run_set *s);

/* "12 of 340 functions: 2 in self time, 10 in calls, 1 new"; no line end. */
void comparison_sum_text(struct out *out, const struct comparison *c);

#endif
