/* What `monarc html` shows: a program with its profiles or a recording, coverage, or both, opened
 * and described for the page. */
#ifndef MONARC_CLI_HTML_DATA_H
#define MONARC_CLI_HTML_DATA_H

#include "cli/cover/cover_options.h"
#include "cli/view.h"
#include "page/page.h"

struct html_options {
    struct view_options view;
    struct cover_options cover;
    const char *output, *title;
    bool has_code, is_intel, has_inlines, has_blame;
    bool is_base; /* what another measurement is compared with */
    /* Operands, told apart by html_operands(). */
    VEC(char *) profile, coverage;
    VEC(char *) base; /* values of --base */
};

/* One measurement, opened. */
struct html_data {
    struct arena arena;
    struct session session;
    struct diagnosis diagnosis;
    struct source_input input;
    struct source_lines lines;
    struct annotated code;
    struct lines_table inlines;
    struct coverage_session covered;
    struct coverage_gate gates[GATES];
    struct coverage_change change;
    struct blame *blames; /* by source of the coverage */
    struct page_profile profile;
    struct page_coverage coverage;
    struct page_input page;
    struct html_options *base_options; /* of `base` */
    struct html_data *base;            /* an older one, or NULL */
};

/* Sorts the operands by what they are: folders without a recording, notes, counters and tracefiles
 * are about coverage; all others a program with its profiles, or recordings. */
void html_operands(struct html_options *o, char **names, size_t len);

/* Opens both into a zeroed *d; html_data_close() after failure, too. */
MUST_CHECK bool html_data_open(struct html_data *d, struct html_options *o, struct err *e);
void html_data_close(struct html_data *d);

#endif
