/* What a line has beside its figures, shown when it is asked for: its machine code, and the places
 * that its code was inlined into. */
#ifndef MONARC_PAGE_LINE_DETAILS_H
#define MONARC_PAGE_LINE_DETAILS_H

#include "output/json.h"
#include "page/rows.h"
#include "bridge/measured_sources.h"

struct line_details {
    const struct page_input *in;
    const struct page_rows *rows; /* NULL without a profile */
    struct arena arena;
    uint32_t *code_of;     /* by file of the profile's lines: index in code->files + 1, or 0 */
    struct keyed *inlined; /* file of the page, row of the table of lines; by file */
    uint32_t inlined_len;
};

/* Asks `files` for names, which is not for several threads. */
void line_details_make(struct line_details *d, const struct page_input *in,
                       const struct page_rows *rows, struct measured_sources *files);
void line_details_deinit(struct line_details *d);

/* The members "code" and "inlined" of the block of source `number`. */
void line_details_data(struct json *j, const struct line_details *d,
                       const struct measured_sources *files, uint32_t number);

#endif
