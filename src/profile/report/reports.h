/* Every report of a profile: what it is made of, its format, and what writes it.
 *
 * A format is one file of this room and one row of the table in reports.c. Commands ask for a row
 * by what they have analysed and by the name of the format, and never what the format is. */
#ifndef MONARC_PROFILE_REPORT_REPORTS_H
#define MONARC_PROFILE_REPORT_REPORTS_H

#include "profile/report/input.h"

/* Which table of its input a report needs. */
enum report_table {
    REPORT_FLAT,
    REPORT_SHARES,     /* and names, shown_functions */
    REPORT_GRAPH,      /* entries */
    REPORT_TREES,      /* of callers or callees, from pairs */
    REPORT_CALL_TREES, /* of recorded stacks */
    REPORT_LINES,      /* and paths */
    REPORT_ANNOTATED,
    REPORT_COUNTS, /* source_lines, counts, summary */
    REPORT_DIAGNOSIS,
    REPORT_LAYOUT, /* and gain, summary, layout_path */
    REPORT_FLAME,
    REPORT_COMPARISON,
    REPORT_TABLES
};

extern const char *const report_table_names[REPORT_TABLES];

struct report {
    enum report_table needs;
    const char *format; /* "text", "json": unique among reports of one table */
    report_writer *write;
    bool is_for_people; /* may be coloured and paged */
};

/* All of them, those of one table beside each other. */
extern const struct report reports[];
extern const size_t reports_len;

/* Every table is printed as text unless an option says otherwise. */
#define REPORT_TEXT     "text"
#define REPORT_JSON     "json"
#define REPORT_CSV      "csv"
#define REPORT_SVG      "svg"
#define REPORT_DOT      "dot"
#define REPORT_MARKDOWN "markdown"

/* The row, or NULL; `format` may be NULL for text. */
const struct report *report_find(enum report_table table, const char *format);

#endif
