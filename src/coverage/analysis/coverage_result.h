/* What a report on coverage prints: the table's contents filtered, sorted and counted.
 *
 * Sources are in the order of their names, lines and functions ascending; each owns consecutive
 * slices of flat arrays, which have gaps between the slices: walk over the sources. What is unknown
 * counts neither as run nor as missed. */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_RESULT_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_RESULT_H

#include "base/err.h"
#include "coverage/analysis/coverage_table.h"
#include "coverage/model/coverage.h"
#include "source/source.h"

/* What is left out of the result. */
struct result_rules {
    bool keeps_all_branches; /* those of exceptions and of code that the compiler made, too */
    bool ignores_markers;
    bool keeps_unseen; /* what no source that is here has: for comparisons with another state */
    enum instance_rule instances;
    unsigned threads;  /* 0: as many as there are */
    const char *root;  /* names below it are shown without it; or NULL */
    const char *scope; /* sources that are not in it are left out; or NULL */
    bool (*is_in_scope)(const char *scope, const char *path);
    struct source_search *search; /* where sources are read */
    /* How functions are shown; and, even where linkage names are, how instances of one are known:
     */
    char *(*demangle)(const char *linkage_name, const char *style);
    char *(*spell)(const char *linkage_name, const char *style);
};

enum result_state { RESULT_MISSED, RESULT_HIT, RESULT_UNKNOWN };

/* One way out of a block that decides, once all tables are added up. */
struct result_branch {
    uint64_t count;
    uint32_t block; /* number on the line: branches of one decision share it */
    uint32_t flags; /* enum outcome_flags */
    uint32_t function;
    bool was_reached; /* the block ran */
    bool is_unknown;  /* some object did not know it; its count is more than 0 */
};

/* One condition of a line; `terms` bits of the two masks are used, at most 64. */
struct result_condition {
    uint32_t function, terms;
    uint64_t on, off; /* see struct table_mask */
};

/* A line that holds code. `count` is at least so much where some object did not know; slices are of
 * the result's branches and conditions. */
struct result_line {
    uint64_t count;
    uint32_t line;
    uint8_t state;
    uint32_t first_branch, branches, unknown_branches; /* unknown: not in the slice */
    uint32_t first_condition, conditions;
    uint32_t calls, calls_made;
    struct region_numbers {
        uint32_t all, hit, unknown;
    } regions; /* clang's and rustc's */
};

/* Names are those of one linkage name, source and first line. A count with is_partly_unknown is at
 * least so much: some object has the function and could not say. */
struct result_function {
    const char *name;    /* as people read it */
    const char *linkage; /* as the linker does */
    uint32_t source, start_line, end_line;
    uint64_t count;
    uint8_t state;
    uint8_t reason, defect; /* why unknown: enum flow_reason, enum arcs_defect */
    bool is_partly_unknown, is_repaired;
};

/* How many there are, how many were run, and how many are not known (which are in neither). */
struct coverage_ratio {
    uint64_t all, hit, unknown;
};

struct coverage_ratios {
    struct coverage_ratio lines, functions, branches, conditions, calls, regions;
};

/* A source and its slices. Lines and functions ascend, each line once. */
struct result_source {
    const char *path;  /* as shown */
    const char *whole; /* as known */
    const char *file;  /* where it can be read, or NULL */
    uint32_t first_line, lines;
    uint32_t first_function, functions;
    struct coverage_ratios sums;
    uint32_t last_line; /* of its text; UINT32_MAX: not known */
    uint32_t unseen;    /* lines past it, or all of a source that is not here */
    bool is_outside;    /* of the rules' scope: not in the result */
    bool is_newer;      /* than its coverage data: its lines may be others */
};

/* What markers in the sources left out, and branches that the rules did. */
struct result_left_out {
    uint64_t lines, branches, functions;
    uint64_t exception_branches, hidden_branches;
    uint64_t united_branches, united_conditions; /* of instances: they count with those of others */
    uint64_t outside_sources;
    const char *outside_example; /* whole path of one of them */
    uint64_t absent_sources;     /* that are nowhere, though others are here */
    uint64_t absent_lines;       /* of these */
    uint64_t lines_behind;       /* the ends of their sources */
};

/* Everything a report prints, owned by the result but for names that stay the tables'. */
struct coverage_result {
    struct arena arena;
    VEC(struct result_source) sources;
    VEC(struct result_line) lines;
    VEC(struct result_branch) branches;
    VEC(struct result_condition) conditions;
    VEC(struct result_function) functions;
    VEC(const char *) tests;
    struct coverage_ratios sums;
    struct coverage_ratios judged; /* by gates: with what is nowhere, as not hit */

    struct result_left_out left_out;
    VEC(struct result_source) unseen; /* of which lines are nowhere: absent, or past their ends */
    const char *trouble; /* why one of them is, if it may well be there: its marks are unknown */
    VEC(const char *) notes; /* markers that do not pair */
};

/* Adds up `len` tables in a zeroed *out. Their names must outlive it. */
void coverage_result_build(const struct coverage_table *tables, size_t len,
                           const struct result_rules *rules, struct coverage_result *out);
void coverage_result_deinit(struct coverage_result *r);

/* The first line of a source from number `line` on. Its index in the result; the end of the
 * source's lines, if there is none. Logarithmic. */
uint32_t result_line_from(const struct coverage_result *r, const struct result_source *s,
                          uint32_t line);

/* Adds up what sources have. */
void ratios_add(struct coverage_ratios *sum, const struct coverage_ratios *part);

/* 0 to 100; 100 if there is nothing. */
double ratio_percent(const struct coverage_ratio *r);

/* Whether what is known to be hit is less than so many percent of all, and whether the part of what
 * is known that is hit fell by more than so many points. Fractions are compared exactly; of the
 * percentage, as it was typed, nine decimals count. */
bool ratio_is_below(const struct coverage_ratio *r, double percent);
bool ratio_fell(const struct coverage_ratio *old, const struct coverage_ratio *now, double points);

/* Outcomes of a condition, and those that were seen. */
static inline uint32_t condition_hit(const struct result_condition *c)
{
    return (uint32_t)(__builtin_popcountll(c->on) + __builtin_popcountll(c->off));
}

/* ---- what could not be used, or not as it stood, by file: named in every report */

enum problem_kind {
    PROBLEM_LOST,    /* nothing of the file could be used */
    PROBLEM_PARTIAL, /* some of it could not, or has a defect */
    PROBLEM_NOTE,    /* to be known; nothing is wrong with the data */
    PROBLEM_KINDS
};

struct problem {
    enum problem_kind kind;
    const char *text; /* one line that begins with the file's name */
};

struct problems {
    struct arena arena;
    VEC(struct problem) at;
    uint64_t of_kind[PROBLEM_KINDS];
};

/* The text is one line, beginning with the file's name; control characters become `?`. */
void problem_add(struct problems *p, enum problem_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);
void problems_merge(struct problems *p, const struct problems *other);
void problems_sort(struct problems *p); /* worst first, then by text */
void problems_deinit(struct problems *p);

/* ---- Which test ran which line (test_coverage.c): a result, with its counts kept apart by test.
 *
 * Only what ran is kept: memory grows with lines times the tests that ran them. */

/* One test's part of a line's count. */
struct line_test {
    uint64_t count;
    uint32_t test;
};

struct test_row {
    const char *name;
    uint64_t lines;    /* that it ran */
    uint64_t alone;    /* of them, those that no other ran */
    bool adds_nothing; /* all of these may go together: what they ran the others run, too */
};

/* All tests by all lines, as one list of hits with a slice a line. */
struct test_coverage {
    const struct coverage_result *result;
    struct arena arena;
    VEC(struct test_row) tests; /* by name */
    uint32_t *first;            /* by line of the result: its slice of hits; one more for the end */
    struct line_test *hits;     /* by test */
};

/* Into a zeroed *out. The tables' hits are given up; names stay theirs. */
void test_coverage_build(struct coverage_table *tables, size_t len,
                         const struct coverage_result *result, struct test_coverage *out);
void test_coverage_deinit(struct test_coverage *t);

/* Why a test should be run for a patch, the best reason first. */
enum test_reason { REASON_NONE, REASON_SOURCE, REASON_FUNCTION, REASON_LINE };
extern const char *const test_reason_names[];

struct chosen_test {
    uint32_t test;
    enum test_reason reason;
    uint64_t lines; /* that it ran, of those the reason is about */
};

struct test_selection {
    VEC(struct chosen_test) tests; /* by reason, then by lines */
    uint64_t unknown_files;        /* of the patch: nothing is known of them */
    const char *unknown_file;      /* one of them, or NULL */
};

/* The tests that a patch to the covered sources concerns: those that ran a line which it changes,
 * or a function that it changes, or, where it changes what is in no function, the source. Into a
 * zeroed *out. */
void test_selection_make(const struct test_coverage *t, const struct patch *patch,
                         struct test_selection *out);
void test_selection_deinit(struct test_selection *s);

#endif
