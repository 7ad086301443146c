/* Coverage, in the forms that people and tools read. All print one report and agree. */
#ifndef MONARC_COVERAGE_REPORT_COVERAGE_REPORT_H
#define MONARC_COVERAGE_REPORT_COVERAGE_REPORT_H

#include "base/err.h"
#include "coverage/analysis/coverage_change.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/model/coverage.h"
#include "coverage/model/llvm.h"
#include "output/columns.h"
#include "output/facts.h"

/* A required percentage. A gate that had nothing to count has not passed. */
struct coverage_gate {
    const char *name; /* "line", "branch", "function", "region", "condition", "diff" */
    double limit, percent;
    enum gate_verdict { GATE_PASSED, GATE_FAILED, GATE_NOT_JUDGED } verdict;
};

/* Judges a gate: the one place that does. What is unknown counts against it. */
struct coverage_gate coverage_gate_judge(const char *name, double limit,
                                         const struct coverage_ratio *r);

/* The worst of the verdicts, in this order: failed, not judged, passed. A sentence about each gate
 * that did not pass is in *e. */
enum gate_verdict coverage_gates_conclude(const struct coverage_gate *gates, size_t len,
                                          struct err *e);

/* "passed", "failed", "not judged" */
extern const char *const gate_verdict_names[];

/* Everything a form prints. The caller owns all of it, and keeps it until the form is written; the
 * forms change none of it. */
struct coverage_report {
    const struct coverage_result *result;
    const struct problems *problems;
    const struct patch_coverage *diff; /* or NULL */
    const char *patch;                 /* its name */
    const struct coverage_gate *gates;
    size_t gates_len;
    uint64_t objects, unrun, counters, traces;
    uint64_t unknown_functions, repaired_functions;
    bool leaves_system;                         /* sources of the system were left out */
    bool leaves_unwanted;                       /* patterns left sources out */
    const struct explained_decision *decisions; /* clang's, by source and line */
    size_t decisions_len;
    uint8_t instances;       /* enum instance_rule */
    bool keeps_all_branches; /* those of exceptions, too */
    int64_t timestamp;       /* seconds since 1970, where a form must have one */
    const char *root;
    const char *test; /* name for the tracefile, or NULL */
    unsigned threads; /* 0: as many as there are */
};

enum source_sort { SORT_NAME, SORT_PERCENT, SORT_MISSED, SORT_LINES };

/* The user's choices, which most forms ignore: those for machines print all. */
struct coverage_style {
    bool has_colour;
    enum source_sort sort;
    uint64_t limit; /* rows; 0: all */
    bool shows_functions;
    bool shows_never_called; /* functions, these alone */
    const bool *functions; /* text is about these alone, by number in the result; NULL: about all */
    bool shows_missing;    /* lines */
    bool shows_branches;   /* never taken */
    bool shows_conditions;
    unsigned context; /* lines around what is missing */
    bool is_lcov2;    /* tracefiles as lcov 2 writes them */
};

/* "union", "each" or "worst". */
const char *instance_rule_name(uint8_t rule);

/* Rows of the table in coverage_report.c. What a format has no room for, it leaves out. */
typedef void coverage_writer(struct out *out, const struct coverage_report *s,
                             const struct coverage_style *style);
coverage_writer coverage_text, coverage_markdown, coverage_json, coverage_lcov, coverage_cobertura,
    coverage_codecov, coverage_sonarqube, coverage_jacoco, coverage_clover, coverage_coveralls,
    coverage_gcovr, coverage_gcovr_0_15, coverage_parquet;

/* ---- what the forms share */

/* Sources in the requested order. */
uint32_t *sources_sorted(const struct coverage_result *r, enum source_sort sort, struct arena *a);

/* Sources with those of one folder beside each other; and where the folder of the one at `i` ends.
 */
uint32_t *sources_by_folder(const struct coverage_result *r, struct arena *a);
size_t sources_folder_end(const struct coverage_result *r, const uint32_t *order, size_t i);

/* What a gate saw: "line coverage is 71.43 %, required: 80.00 %". */
void coverage_gate_text(struct out *out, const struct coverage_gate *g);

/* A percentage with one decimal that never says 100 or 0 of what is not quite so. 8 bytes. */
void ratio_text(char *into, size_t size, const struct coverage_ratio *r);

/* Where the lines of a state that begin at `i` end: up to the next line of another state. Lines
 * without code between two of them do not divide them. */
uint32_t result_lines_end(const struct coverage_result *r, const struct result_source *s,
                          uint32_t i);

/* What was left out, as sentences; each `print` ends none. */
void left_out_sentences(const struct coverage_report *s,
                        void (*print)(void *context, const char *sentence), void *context);

/* The same, then problems, of which losses are in red. */
void coverage_text_notes(struct out *out, const struct coverage_report *s,
                         const struct coverage_style *style);

/* The same as members of an object: `left_out` and `problems`. */
void json_left_out(struct json *j, const struct coverage_report *s);
void json_problems(struct json *j, const struct coverage_report *s);

/* Branches or outcomes that were never seen, "1, 3 of 4"; false if there are none. */
bool branches_missed_text(struct out *out, const struct coverage_result *r,
                          const struct result_line *l);

/* How a function is unknown: a sentence without a full stop. */
const char *function_unknown_reason(const struct result_function *f, struct arena *a);

/* --- every format of a coverage report: its name and what writes it -------------------------- */

struct coverage_format {
    const char *name; /* "lcov"; also of the option that takes its file, if there is one */
    coverage_writer *write;
    bool shows_names; /* of functions, as people write them */
};

extern const struct coverage_format coverage_formats[];
extern const size_t coverage_formats_len;

/* The row, or NULL with an error that lists the names there are; `e` may be NULL. */
const struct coverage_format *coverage_format_find(const char *name, size_t len, struct err *e);

/* --- coverage compared: docs/schema/diff_coverage.schema.json --------------------------------- */

/* Two results compared, of which the caller owns all. */
struct change_report {
    const struct coverage_change *change;
    const char *old, *new; /* what was named */
    uint64_t limit;        /* sources; 0: all */
    bool shows_all;        /* sources that did not change, too */
};

typedef void change_writer(struct out *out, const struct change_report *r);

/* Rows of the table in change_report.c. */

struct change_format {
    const char *name;
    change_writer *write;
    bool is_for_people;
};

extern const struct change_format change_formats[];
extern const size_t change_formats_len;

/* The row, or NULL; NULL: text. */
const struct change_format *change_format_find(const char *name);

/* Sources that are different. */
size_t change_count(const struct coverage_change *c);

/* --- coverage by test: docs/schema/cover_tests.schema.json ------------------------------------ */

/* Three reports in one: tests for a patch if there is a `selection`, else tests that ran `place`,
 * else all tests. */
struct tests_report {
    const struct test_coverage *tests;
    bool are_builds; /* not tests, but builds of the sources, which are asked about likewise */

    const char *place;                      /* FILE:LINE as requested, or NULL */
    uint32_t line;                          /* of the result, for `place` */
    const struct test_selection *selection; /* for a patch, or NULL */
    const char *patch;                      /* its name */
    uint64_t limit;                         /* rows; 0: all */
    const struct coverage_report *coverage; /* what was left out, and problems */
    const struct coverage_style *style;
};

typedef void tests_writer(struct out *out, const struct tests_report *r);
tests_writer tests_text, tests_json;
tests_writer tests_names; /* nothing but the tests' names, one a line */

/* Their columns. */
extern const struct column_table tests_columns;

/* ---- What coverage files hold, for `monarc info`.
 *
 * Everything belongs to the caller and is only read. In JSON facts are the members of the object
 * that is open. Damaged files are what this is for: a file of which only the head was readable is
 * described as far as that goes, and `error` says why reading stopped. */

/* --- notes and counters ---------------------------------------------------------------------- */

/* One of `notes` and `counters` is there, if only with the head that could be read. */
struct arcs_info {
    const char *name, *format; /* format: "gcno" */
    uint64_t size_bytes;
    const char *error;               /* why reading stopped, or NULL */
    const struct notes *notes;       /* or NULL */
    const struct counters *counters; /* or NULL */
};

void arcs_facts(struct facts *w, const struct arcs_info *file);

/* --- tracefiles ------------------------------------------------------------------------------ */

/* A file of lines and counts in any format that an importer reads: lcov, Cobertura, gcovr,
 * llvm-cov. */
struct trace_info {
    const char *name, *format, *title; /* format, title: of the importer */
    uint64_t size_bytes;
    const char *error; /* why reading stopped, or NULL */
    const struct tracefile *found;
};

void trace_facts(struct facts *w, const struct trace_info *file);

/* --- profiles of clang and rustc ------------------------------------------------------------- */

/* A file of them: a raw one may hold several, which are added up here. */
struct llvm_info {
    const char *name;
    uint64_t size_bytes, profiles;
    const char *error; /* why reading stopped, or NULL */
    const struct llvm_profile *sum;
};

void llvm_facts(struct facts *w, const struct llvm_info *file);
/* ---- two compilers (change_report.c) */

struct cross;

/* `first` is the result that the lines' sources are of; sides are what their operands are called.
 */
void cross_facts(struct facts *w, const struct cross *c, const struct coverage_result *first,
                 const char *const sides[2]);

#endif
