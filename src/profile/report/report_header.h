/* What the native reports on a profile begin with, as text, and how they write a function. */
#ifndef MONARC_PROFILE_REPORT_REPORT_HEADER_H
#define MONARC_PROFILE_REPORT_REPORT_HEADER_H

#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "output/text.h"

/* A function's name, its linkage name in braces if wanted and different, and what it is. */
void text_function(struct out *out, struct names *names, uint32_t function,
                   const struct text_style *style);

/* The same behind `used` columns of a row: a name for which the style's width leaves no room loses
 * its middle, but no name becomes shorter than NAME_ROOM. */
enum { NAME_ROOM = 20 };
void text_function_behind(struct out *out, struct names *names, uint32_t function,
                          const struct text_style *style, int used);

/* The columns of what text_function() prints. */
int text_function_width(struct names *names, uint32_t function, const struct text_style *style);

/* Decimals of a time column, so that one sample is never lost in rounding: 3 to 6. */
int text_time_decimals(const struct summary *s);

/* What +- means, below a table of shares: for one run sampling, for a series how its runs differ.
 */
void text_interval_legend(struct out *out, const struct summary *s);

/* The lines above a table: what was measured, and what of it to doubt. */
void text_summary(struct out *out, const struct summary *s);

/* What of these every further report on the same profile should say again: what it is of, and what
 * of it cannot be trusted. */
void text_summary_brief(struct out *out, const struct summary *s);
void text_notes(struct out *out, const struct summary *s);

/* Of these the program and the profile alone. */
void text_files(struct out *out, const struct summary *s);

#endif
