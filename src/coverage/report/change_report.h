/* Coverage compared, in the forms that people and tools read. All print one comparison. */
#ifndef MONARC_COVERAGE_REPORT_CHANGE_REPORT_H
#define MONARC_COVERAGE_REPORT_CHANGE_REPORT_H

#include "coverage/analysis/coverage_change.h"
#include "output/out.h"

struct change_report {
    const struct coverage_change *change;
    const char *old, *new; /* what was named */
    uint64_t limit;        /* sources; 0: all */
    bool shows_all;        /* sources that did not change, too */
};

typedef void change_writer(struct out *out, const struct change_report *r);

/* Rows of the table in change_report.c. */
change_writer change_text, change_json, change_markdown;

struct change_format {
    const char *name;
    change_writer *write;
    bool is_for_people;
};

extern const struct change_format change_formats[];
extern const size_t change_formats_len;

/* The row, or NULL; NULL: text. */
const struct change_format *change_format_find(const char *name);

/* Line numbers as ranges, "3-5, 9". */
void changed_lines_text(struct out *out, const struct changed_line *lines, uint32_t len);

/* "new", "gone", or "" */
const char *source_change_remark(const struct source_change *s);

/* Sources that are different. */
size_t change_count(const struct coverage_change *c);

#endif
