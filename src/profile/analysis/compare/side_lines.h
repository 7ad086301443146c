/* Runs added to a side line by line: its rows are places in the source instead of functions. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_SIDE_LINES_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_SIDE_LINES_H

#include "profile/analysis/compare/side.h"
#include "profile/analysis/lines.h"

/* `table` has all lines that were measured, and was made with inlines: what a line took in total is
 * its own time and that of the code that was inlined there. A line is known by its function and by
 * how far behind the function's first line it stands, so that what changed above the function does
 * not matter; of functions that have no code of their own by its number. Calls are those made from
 * the line. */
void side_add_lines(struct side *s, struct lines_table *table, const struct lines_input *from);

#endif
