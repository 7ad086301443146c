/* Every format of a coverage report: its name and what writes it.
 *
 * A format is one file of this room and one row of the table in coverage_formats.c. A command asks
 * for a row by name, and never what the format is. */
#ifndef MONARC_COVERAGE_REPORT_COVERAGE_FORMATS_H
#define MONARC_COVERAGE_REPORT_COVERAGE_FORMATS_H

#include "base/err.h"
#include "coverage/report/coverage_report.h"

struct coverage_format {
    const char *name; /* "lcov"; also of the option that takes its file, if there is one */
    coverage_writer *write;
    bool shows_names; /* of functions, as people write them */
};

extern const struct coverage_format coverage_formats[];
extern const size_t coverage_formats_len;

/* The row, or NULL with an error that lists the names there are; `e` may be NULL. */
const struct coverage_format *coverage_format_find(const char *name, size_t len, struct err *e);

#endif
