/* Two sides of a profile compared, as text, JSON, CSV and Markdown. */
#ifndef MONARC_PROFILE_REPORT_COMPARISON_H
#define MONARC_PROFILE_REPORT_COMPARISON_H

#include "profile/analysis/compare/comparison.h"
#include "profile/report/input.h"

report_writer comparison_text, comparison_json, comparison_csv, comparison_markdown;

/* "+12.5 %", or "from none" of what had no calls. 32 bytes. */
void comparison_growth_text(char *into, size_t size, const struct change *row);

/* What a row is besides its name: "new", "renamed from NAME", "moved from FILE"; empty of what is
 * where it was. Markup is the caller's. */
const char *comparison_remark(const struct comparison *c, const struct change *row,
                              struct arena *a);

/* What a row is: "function" or "line". */
const char *comparison_row_word(const struct comparison *c);

/* "old.monarc, 2 runs, 1234 samples, 5678 calls" */
void comparison_side_text(struct out *out, const struct run_set *s);

/* In what times, or numbers of events, are printed, so that the largest has few digits. */
struct amount_scale {
    double factor; /* amount times factor is printed */
    const char *unit;
    int digits;
};
struct amount_scale comparison_scale(const struct comparison *c);
/* An old or new total with its unit, "1.234 s"; 32 bytes. */
void comparison_total_text(char *into, size_t size, const struct total_change *t, double value);

/* "12 of 340 functions: 2 in self time, 10 in calls, 1 new"; no line end. */
void comparison_sum_text(struct out *out, const struct comparison *c);

/* What of the comparison to doubt, as sentences without full stop; `print` ends none. */
void comparison_notes(const struct comparison *c,
                      void (*print)(void *context, const char *sentence), void *context);

#endif
