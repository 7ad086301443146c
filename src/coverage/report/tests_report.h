/* Coverage by test, as text and JSON (docs/schema/cover_tests.schema.json). */
#ifndef MONARC_COVERAGE_REPORT_TESTS_REPORT_H
#define MONARC_COVERAGE_REPORT_TESTS_REPORT_H

#include "coverage/analysis/test_coverage.h"
#include "output/out.h"

struct tests_report {
    const struct test_coverage *tests;

    const char *place;                      /* FILE:LINE as it was asked for, or NULL */
    uint32_t line;                          /* of the result, for `place` */
    const struct test_selection *selection; /* for a patch, or NULL */
    const char *patch;                      /* its name */
    uint64_t limit;                         /* rows; 0: all */
};

typedef void tests_writer(struct out *out, const struct tests_report *r);
tests_writer tests_text, tests_json;
tests_writer tests_names; /* nothing but the tests' names, one a line */

#endif
