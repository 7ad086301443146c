/* Which test ran which line: a result, with its counts kept apart by test.
 *
 * Only what ran is kept: memory grows with lines times the tests that ran them. */
#ifndef MONARC_COVERAGE_ANALYSIS_TEST_COVERAGE_H
#define MONARC_COVERAGE_ANALYSIS_TEST_COVERAGE_H

#include "coverage/analysis/coverage_result.h"
#include "coverage/model/patch.h"

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
