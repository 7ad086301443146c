/* What the reports on a profile have in common: their head, how they write a function, the columns
 * of what was measured besides, and what an older measurement has of the same function.
 *
 * `out` is written to and never flushed; texts and names stay the caller's. None of these fails:
 * what cannot be written is found when `out` is closed. Names are bytes of symbol tables: text
 * escapes what a terminal would obey, JSON what is no UTF-8. */
#ifndef MONARC_PROFILE_REPORT_REPORT_HEADER_H
#define MONARC_PROFILE_REPORT_REPORT_HEADER_H

#include "output/columns.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"

/* --- functions -------------------------------------------------------------------------------- */

/* A function's name, its linkage name in braces if wanted and different, and what it is. */
void text_function(struct out *out, struct names *names, uint32_t function,
                   const struct text_style *style);

/* The name of a function that is in no table, by its linkage name, as others of the report are. */
void text_linkage_name(struct out *out, const struct names *names, const char *linkage_name);

/* A function's name within `room` columns: as names_within() shortens it, and if that does not do,
 * without its middle. */
void text_symbol_within(struct out *out, const char *name, int room);

/* What follows a name to distinguish it from others of that name: the file of its source and its
 * object, each NULL where the name needs none, and whether it stands for inlined code. */
void text_function_place(struct out *out, const char *source, const char *object, bool is_inlined);

/* The same after `used` columns of a row: names are shortened to the room that the style's width
 * leaves, but to no less than NAME_ROOM. */
enum { NAME_ROOM = 20 };
void text_function_behind(struct out *out, struct names *names, uint32_t function,
                          const struct text_style *style, int used);

/* The columns of what text_function() prints. */
int text_function_width(struct names *names, uint32_t function, const struct text_style *style);

/* What columns mean that several tables have. Times have no unit in their names: profiles may be of
 * seconds, events or bytes. Wilson's interval (J. Am. Stat. Assoc. 22, 1927) stays within 0 and 1,
 * also for a line that was hit once. */
#define MEANS_TIME       "the same as time, in the dimension's unit; null: unknown rate"
#define MEANS_WILSON     "95 % confidence interval (Wilson)"
#define MEANS_SAMPLES    "in place of time if the rate is unknown"
#define MEANS_SHARE      "share of all samples; 0 to 1 in JSON"
#define MEANS_CUMULATIVE "self time of this row and all above"
#define MEANS_KIND       "function, or profiler: mcount and its like, the cost of measuring"
#define MEANS_INLINED \
    "the row is the function's inlined code; its out-of-line code has a row of its own"
#define MEANS_STATIC        "the call is in the code but was never recorded (--static)"
#define MEANS_TREE          "in CSV, which has all trees in one table: number of the tree, from 1"
#define MEANS_CYCLE         "number of the cycle that it is, or is in"
#define MEANS_LINE_FUNCTION "the linkage name of the function that the line is in"
#define MEANS_INFERRED      "no block begins on the line: the count is that of the block before"
#define MEANS_NAME          "demangled, unless --no-demangle"
#define MEANS_LINKAGE       "as the program's symbol table has it"
#define MEANS_SOURCE        "only of static functions with the same name: the file it is in"

/* Rows of several reports, and the line after those of a tree. */
#define TEXT_UNATTRIBUTED "[unattributed] in no function\n"
#define TEXT_CUT_OFF      "cut off after %zu rows (--limit)\n"

/* Five columns of every table of functions, from column `first` on, and their fields: the name is
 * shown, linkage name and address identify. */
enum {
    FUNCTION_NAME,
    FUNCTION_LINKAGE,
    FUNCTION_ADDRESS,
    FUNCTION_OBJECT,
    FUNCTION_SOURCE,
    FUNCTION_FIELDS
};
/* clang-format off */
#define COLUMNS_OF_FUNCTION(first)                                                                 \
    [(first) + FUNCTION_NAME] = {"name", MEANS_NAME},                                              \
    [(first) + FUNCTION_LINKAGE] = {"linkage_name", MEANS_LINKAGE},                                \
    [(first) + FUNCTION_ADDRESS] = {"address", "where the function begins, as linked"},            \
    [(first) + FUNCTION_OBJECT] =                                                                  \
        {"object", "only of recordings: the library it is in; absent: the executable"},            \
    [(first) + FUNCTION_SOURCE] =                                                                  \
        {"source", MEANS_SOURCE}
/* clang-format on */

/* `fields` points to the first of the five. The texts live as long as `names`. */
void function_fields(struct field *fields, struct names *names, uint32_t function);

/* The members of an open object. */
void json_pair_function(struct json *j, struct names *names, uint32_t function);

/* --- the head --------------------------------------------------------------------------------- */

/* Decimals of a column of shares in percent: two, and up to four where even one half of all samples
 * is known as well as that. */
int text_share_decimals(const struct summary *s);

/* "12.3 %" within a line. */
void text_share(struct out *out, const struct summary *s, double samples);

/* What +- means, below a table of shares: for one run sampling, for a series how its runs differ.
 */
void text_interval_legend(struct out *out, const struct summary *s);

/* In place of rows, where filters left none of those measured: "function", "line". */
void text_none_passes(struct out *out, const char *what);

/* The lines above a table: the answer, what was measured, and with is_verbose how. */
void text_summary(struct out *out, const struct summary *s);

/* The same, and why the profile cannot be trusted; text_notes() has advice on samples besides. */
void text_summary_brief(struct out *out, const struct summary *s);
void text_notes(struct out *out, const struct summary *s);

/* Of these the program and the profile alone. */
void text_files(struct out *out, const struct summary *s);

/* Opens the document of a report and writes program, profiles and summary. */
void json_report_begin(struct json *j, const char *report, const struct summary *s);

/* --- of recordings: what ran, how much of its CPU time is accounted for, stacks, cost --------- */

/* The command that was recorded, or the program's path. */
void recording_command_text(struct out *out, const struct recording_summary *s);

/* The first two lines: program and recording. */
void recording_head_text(struct out *out, const struct recording_summary *s,
                         const char *const *folders, size_t folders_len);

/* Lines after that of the samples; those of them that say what is missing. */
void recording_account_text(struct out *out, const struct recording_summary *s);
void recording_caveats_text(struct out *out, const struct recording_summary *s);

/* The member "recording" of a summary. */
void recording_head_json(struct json *j, const struct recording_summary *s);

/* A member "runs", of a recording of several; see `monarc run --repeat`. */
void recording_parts_json(struct json *j, const struct recording *r);
void recording_ranks_json(struct json *j, const struct recording *r);

/* A member "losses"; the name of a kind of loss there. */
void recording_losses_json(struct json *j, const struct recording *r);
const char *recording_loss_name(uint32_t kind);

/* "perf", "ptrace", ...: how samples were taken. */
const char *recording_method_name(uint32_t method);

/* --- beside the chosen event or dimension: the shares of the others, in percent --------------- */

/* Of all columns, with the space before each. */
int others_width(const struct other_measures *others);

/* As wide as others_width(), like a row that calls others_share() for each. */
void others_head(struct out *out, const struct other_measures *others);

/* One column. */
void others_share(struct out *out, const struct other_measure *other, double samples);

/* --- an older measurement beside this one ----------------------------------------------------- */

/* The member "base" of an open object: none without a base, null of what is new. Rows of functions
 * have self times, entries of a graph have none. */
void base_json(struct json *j, const struct baseline *base, uint32_t function, bool has_self);

/* What a command line worked on, which distinguishes it from others of the same program: a source
 * file, else what follows -o, else the first operand that looks like a file; without its folder.
 * NULL: none does. */
const char *command_telling_name(const char *command, size_t *len);

#endif
