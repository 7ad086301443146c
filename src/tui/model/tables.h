/* What the views show: lists, measurements, and a table for each view. Tables are made by
 * X_table_make() into zeroed memory or over what was made before, and own an arena; texts in them
 * live as long as the session or the result that they were made of.
 *
 * Each table follows one pattern: an input of borrowed pointers, rows that refer into it by pointer
 * or number, and functions that say what stands in a row. Shares are from 0 to 1, times are in
 * samples, lines count from 1; drawing turns them into percent and seconds. Nothing in this header
 * prints, and nothing knows the width of a screen. */
#ifndef MONARC_TUI_MODEL_TABLES_H
#define MONARC_TUI_MODEL_TABLES_H

#include "base/vec.h"
#include "bridge/bridge.h"
#include "coverage/analysis/coverage_change.h"
#include "coverage/analysis/coverage_result.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/tables.h"
#include "session/coverage.h"
#include "session/session.h"
#include "source/source.h"

#include <stddef.h>
#include <stdint.h>

/* Where one is in a list of rows: which is selected, and which stands at the top of the screen. */

struct list {
    size_t len, selected, top;
    size_t height; /* rows that the screen has for it; at least 1 */
};

/* Another number of rows, or another height: the selection stays where it can, and in sight. Of an
 * empty list the selection is row 0. */
void list_resize(struct list *l, size_t len, size_t height);

/* To a row, or as near as there are rows; into sight, with as little scrolling as it takes. */
void list_select(struct list *l, size_t row);
void list_move(struct list *l, ptrdiff_t by);

/* To a row in the middle of the screen. */
void list_centre(struct list *l, size_t row);

/* Columns that one can choose: those that are hidden are not drawn, and leave room for others.
 * Values are bits of tui.hidden and indices of a struct column_list. */

/* In the order of the screen, from the left. The share and time of the function itself, the base's
 * beside them, those with callees, and counts. */
enum function_column {
    FUNCTION_SELF_SHARE,
    FUNCTION_MARGIN,
    FUNCTION_OLD_SHARE,
    FUNCTION_CHANGE,
    FUNCTION_SELF,
    FUNCTION_TOTAL_SHARE,
    FUNCTION_TOTAL,
    FUNCTION_CALLS,
    FUNCTION_RUNS,
    FUNCTION_COLUMNS
};

/* In front of each line of a source. COUNT is the profile's, COVERED is coverage's: they may
 * differ, as they come from different runs. */
enum source_column {
    SOURCE_SHARE,
    SOURCE_OLD_SHARE,
    SOURCE_CHANGE,
    SOURCE_CALLS,
    SOURCE_COUNT,
    SOURCE_COVERED,
    SOURCE_SINCE,
    SOURCE_BRANCHES,
    SOURCE_CONDITIONS,
    SOURCE_LINE,
    SOURCE_COLUMNS
};

/* FILE_BASE is the share of lines that ran in the base; MISSED and OF are numbers of lines. */
enum file_column {
    FILE_SELF_SHARE,
    FILE_LINES,
    FILE_BASE,
    FILE_MISSED,
    FILE_OF,
    FILE_BRANCHES,
    FILE_FUNCTIONS,
    FILE_COLUMNS
};

/* What columns are called where they are chosen, by their numbers. */
struct column_list {
    const char *const *names;
    size_t len; /* 0: a table without any to choose */
};

extern const struct column_list function_columns, source_columns, file_columns;

/* A profile as the screen shows it: opened, analysed, and its source lines on request. */

struct measurement {
    struct session_options options;
    struct session session;
    struct entries entries; /* made on request */
    struct source_lines lines;
    bool has_lines; /* `lines` are made: the program has line numbers */
    bool was_asked; /* for lines */
};

/* Opens what the options name; of a recording the part that the filter says. The options' texts
 * must outlive it. NULL with `e` set. The measurement owns its session; measurement_close() ends
 * both. */
struct measurement *measurement_open(const struct session_options *o,
                                     const struct recorded_filter *part, struct err *e);
/* Frees the session and all tables that were made of it. */
void measurement_close(struct measurement *m); /* NULL is fine */

/* Makes `lines`, once; false if the program has no line numbers. The first call walks all line
 * tables; later ones only answer. */
bool measurement_lines(struct measurement *m);

/* Where a function begins. False: it has no code, or debug information does not know its place.
 * *file is as debug information has it, and lives as long as the session. */
bool measurement_place(const struct measurement *m, uint32_t function, const char **file,
                       uint32_t *line);

/* The base beside the profile that is shown, compared as `monarc diff` does: function numbers are
 * those of `now`. Into a zeroed *b; baseline_deinit() after failure, too. Runs of a series are read
 * one by one. */
MUST_CHECK bool base_make(struct baseline *b, struct measurement *old, struct measurement *now,
                          struct err *e);

/* The table of functions: those of a profile, those of coverage, and, in a comparison, those that
 * are gone. Its figures are the flat profile's and the coverage result's. */

enum function_sort {
    SORT_FUNCTIONS_SELF,
    SORT_FUNCTIONS_TOTAL,
    SORT_FUNCTIONS_CALLS,
    SORT_FUNCTIONS_CHANGE, /* of self's share, whichever way */
    SORT_FUNCTIONS_RUNS,   /* what never ran first */
    SORT_FUNCTIONS_NAME,
    SORT_FUNCTIONS
};

/* Any of the three may be missing, not all. */
struct function_row {
    const struct flat_row *flat;
    const struct change *change; /* since the base */
    uint32_t covered;            /* function of the coverage result, or UINT32_MAX */
};

/* Borrowed; the table keeps a copy of the struct, and is made again by whoever changes what it
 * points to. */
struct functions_input {
    struct measurement *measured; /* NULL: there is no profile */
    const struct coverage_result *coverage;
    const struct baseline *base; /* NULL: nothing to compare with */
    const char *object;          /* only functions in it; NULL: all */
    const char *filter;          /* a regular expression, of what to leave out after a `!` */
};

/* The flat profile is kept, since rows point into it. */
struct functions_table {
    struct functions_input in;
    struct arena arena;
    struct flat flat;
    VEC(struct function_row) rows;
    enum function_sort sort;
    uint32_t hidden; /* rows that the filter and the object leave out */
};

/* Makes the rows anew for what is in `in` and `sort`, in a table that is zeroed or was made before.
 * False, and the rows as they were, if the filter is not a regular expression. O(rows log rows),
 * whatever has changed: a table is made anew for each sort and filter. */
MUST_CHECK bool functions_table_make(struct functions_table *t, const struct functions_input *in,
                                     enum function_sort sort, struct err *e);
void functions_table_deinit(struct functions_table *t);

/* Whether there is something to sort by. */
bool functions_table_can_sort(const struct functions_input *in, enum function_sort sort);

/* The name of whichever of the three the row has, the profile's first. */
const char *function_row_name(const struct functions_table *t, const struct function_row *r);

/* The label of the object that the function is in, or NULL. */
const char *function_row_object(const struct functions_table *t, const struct function_row *r);

/* The share of all samples, and what it has gained since the base. From 0 to 1; 0 where there is no
 * row. */
double function_row_share(const struct functions_table *t, const struct function_row *r);
double function_row_change(const struct function_row *r);

/* Whether `monarc diff` takes the change of self for more than chance. */
bool function_row_is_meant(const struct functions_table *t, const struct function_row *r);

/* One function with its callers above it and its callees below: an entry of the call graph.
 *
 *    row 0 .. middle-1     callers
 *    row middle            the function itself
 *    row middle+1 .. len-1 callees; of a cycle, its members */

struct calls_table {
    struct measurement *measured; /* NULL: nothing was chosen */
    struct entry entry;
    size_t middle; /* row of the function itself */
    size_t len;
};

/* `node` is a function or a cycle of the graph. Into a zeroed table, or one used before. */
void calls_table_make(struct calls_table *t, struct measurement *m, uint32_t node);
void calls_table_deinit(struct calls_table *t);

/* The caller or callee of a row; NULL: the function itself. */
const struct entry_line *calls_table_line(const struct calls_table *t, size_t row);

/* The node of a row, or NO_NODE: callers that are not known. */
uint32_t calls_table_node(const struct calls_table *t, size_t row);

/* How a node is called; into `room`, unless it has a name of its own. */
const char *calls_name(const struct measurement *m, uint32_t node, char *room, size_t size);

/* The parts of a recording that one can zoom into: programs, processes, threads, objects. */

/* Each kind is narrower than the one before, but for objects, which cut across all processes. */
enum part_kind { PART_ALL, PART_PROGRAM, PART_PROCESS, PART_THREAD, PART_OBJECT };

/* One row of that view. `samples` are of the whole recording; texts belong to the measurement. */
struct part {
    enum part_kind kind;
    const char *name;
    double samples;
    uint32_t pid, tid; /* of processes and threads */
};

struct parts {
    VEC(struct part) all; /* everything first, then by kind, most samples first */
};

/* The table of source files, with their time and their coverage. A row is the number of a source in
 * measured_sources. */

enum file_sort {
    SORT_FILES_SELF,
    SORT_FILES_MISSED,
    SORT_FILES_PERCENT,
    SORT_FILES_NAME,
    SORT_FILES
};

/* As struct functions_input, of sources. */
struct files_input {
    const struct measured_sources *sources;
    const struct coverage_result *coverage, *base; /* NULL: none */
    bool has_time;                                 /* the sources have `self` */
    const char *filter; /* a regular expression, of what to leave out after a `!` */
};

struct files_table {
    struct files_input in;
    VEC(uint32_t) rows; /* numbers of sources */
    enum file_sort sort;
    size_t hidden;
};

/* As functions_table_make(). */
MUST_CHECK bool files_table_make(struct files_table *t, const struct files_input *in,
                                 enum file_sort sort, struct err *e);
void files_table_deinit(struct files_table *t);

/* By name always; by the others where there are figures. */
bool files_table_can_sort(const struct files_input *in, enum file_sort sort);

/* The source of a row, which must be there. */
const struct measured_source *files_table_row(const struct files_table *t, size_t row);

/* What of the source is covered, now and in the base; NULL: it is not in there. */
const struct coverage_ratios *files_table_sums(const struct files_table *t, size_t row);
const struct coverage_ratios *files_table_old_sums(const struct files_table *t, size_t row);

/* One source file, its lines with time, calls and counts of a profile, and with coverage. */

/* The change of a line of coverage since the base. */
enum since { SINCE_NOTHING, SINCE_LOST, SINCE_GAINED };

/* Figures of a line; sums of all code on it. */
struct source_figures {
    double self;
    uint64_t calls, executions;
    const struct result_line *covered; /* NULL: no code, or no coverage */
    uint32_t function;                 /* of the profile, with code here; UINT32_MAX: none */
    bool has_count, has_entry;
    double base;   /* the share of all samples that the line had in the base */
    bool has_base; /* it is sure which line that was */
    bool is_meant; /* its time has changed by more than chance explains */
    enum since since;
};

/* One source with all its figures, whichever of them are drawn. Largest values give columns their
 * widths. */
struct source_table {
    const struct measured_source *source; /* NULL: none was opened */
    uint32_t number;                      /* of the source */
    struct source_text text;
    char missing[1024];               /* why there is no text; "" */
    const char *changed_since;        /* "measured", "compiled"; NULL: it is as it was */
    VEC(struct source_figures) lines; /* [0] is line 1 */
    const struct coverage_result *coverage;
    double hot; /* samples of the hottest line */
    uint64_t most_calls, most_executions, most_covered;
    bool has_branches, has_conditions;
    bool has_base, has_since; /* there is a base of the profile, and one of coverage */
};

struct source_table_input {
    const struct measured_sources *sources;
    const struct measurement *measured; /* whose lines are those of `sources`; NULL: no profile */
    const struct coverage_result *coverage; /* NULL: of none */
    int64_t measured_at;                    /* seconds since 1970; 0: unknown */
};

/* Reads a source into a zeroed table, or one used before. A text that cannot be read leaves figures
 * without text, and `missing` says why: this never fails. Lines exist up to the last one of the
 * text, or with a figure. */
void source_table_open(struct source_table *t, const struct source_table_input *in,
                       uint32_t number);
void source_table_deinit(struct source_table *t);

/* Branches of a line and those of them that were taken. */
void source_branches(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                     uint32_t *taken);

/* Outcomes of the terms of a line's conditions (two each), and those that decided one alone. */
void source_conditions(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                       uint32_t *seen);

/* What one can jump to. */
enum source_jump {
    JUMP_HOT,      /* a line with at least a tenth of what the hottest one has */
    JUMP_MISSED,   /* code that never ran */
    JUMP_UNTAKEN,  /* a line that ran, with a branch that was never taken, or an outcome of a
                      condition not seen */
    JUMP_FUNCTION, /* the beginning of a function */
    JUMP_CHANGED,  /* a line that differs from the base: surely in time, or lost, or gained */
};

/* The next such row after `row`, or before it, around the ends; `lines.len` if there is none.
 * O(lines). */
size_t source_find_jump(const struct source_table *t, enum source_jump jump, size_t row,
                        bool is_back);

/* A source beside the base: the share of each line then, and lines that coverage lost or gained.
 *
 * Lines are compared where they are sure to be the same ones. If the file is older than the base's
 * program, all of them are. */

struct source_older_input {
    const struct measurement *now;
    const struct measurement *old;        /* of the base; NULL: none, or without lines */
    int64_t older_at;                     /* when it was measured; seconds since 1970, 0: unknown */
    const struct coverage_change *change; /* NULL: no coverage to compare with */
    struct measured_sources *sources;
};

/* After source_table_open(). Fills `base`, `has_base` and `is_meant` of the lines, and `since`, as
 * far as each is known. */
void source_table_compare(struct source_table *t, const struct source_older_input *in);

/* Everything about one line of a source: its branches and conditions one by one, and its machine
 * code, copy by copy, as it stands in a function of its own and wherever it was inlined. */

enum detail_kind {
    DETAIL_TEXT,  /* the line itself, or a fact about it */
    DETAIL_COPY,  /* a copy of its code */
    DETAIL_PLACE, /* where that was inlined */
    DETAIL_CODE   /* an instruction */
};

/* One row of the view of a line. Texts are in the view's arena. */
struct detail {
    enum detail_kind kind;
    double self; /* of a copy and of an instruction: samples */
    const char *text;
    const char *file; /* where one can go from here, as debug information has it; or NULL */
    uint32_t line;
    uint32_t function; /* that a copy is in, and that an instruction calls; or NO_NODE */
};

/* Rows of one line. The code of its source is kept apart, in an arena of its own, because it
 * outlives the line. */
struct line_view {
    struct arena arena;
    VEC(struct detail) rows;
    uint32_t source, line; /* what they are of; line 0: of nothing */

    /* The code of all lines of one source, kept for the next line. */
    struct arena code_arena;
    struct source_lines code;
    uint32_t code_of; /* the source; UINT32_MAX: none */
    const struct measurement *code_from;
};

struct line_view_input {
    struct measurement *measured; /* NULL: no profile with line numbers */
    struct measured_sources *sources;
    const struct source_search *search;
    const struct source_table *source;
    uint32_t line;
};

/* Into a zeroed *d, or one used before. Reading the code of a source takes as long as disassembling
 * its functions; it is kept until another source, or another measurement, is requested. */
void line_view_make(struct line_view *d, const struct line_view_input *in);
void line_view_deinit(struct line_view *d);

/* Whether the code of that source is at hand: otherwise the next line takes a while. */
bool line_view_has_code(const struct line_view *d, const struct line_view_input *in);

/* A page of text: what there is to know of what is shown, or help. */

struct page_text {
    struct arena arena;
    VEC(const char *) lines;
};

/* What there are notes about; NULL: nothing. */
struct notes_input {
    const struct measurement *measured;
    const struct comparison *comparison;
    const struct coverage_session *coverage;
    const struct coverage_options *options; /* that it was opened with */
};

/* Into zeroed pages, wrapped to a width. At least 30 columns wide, even where the width is less.
 * Texts are copied. */
void page_notes(struct page_text *p, const struct notes_input *in, size_t width);
void page_help(struct page_text *p, size_t width);
void page_text_deinit(struct page_text *p);

#endif
