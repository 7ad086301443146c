/* Sources: the list of them, and of each a block with its text and all that is known of its lines.
 */
#ifndef MONARC_PAGE_SOURCE_DATA_H
#define MONARC_PAGE_SOURCE_DATA_H

#include "output/json.h"
#include "page/base_lines.h"
#include "page/changes_data.h"
#include "page/line_details.h"
#include "page/rows.h"
#include "bridge/measured_sources.h"
#include "page/input.h"

struct source_data {
    const struct page_input *in;
    const struct measured_sources *files;
    const struct page_rows *rows; /* NULL without a profile */
    const struct line_details *details;
    const struct sources_before *before;
    const struct base_lines *base_lines;
};

/* The member "files". */
void source_list_data(struct json *j, const struct source_data *s);

/* The block of source `number`, as text that is not packed. */
void source_block(struct out *out, const struct source_data *s, uint32_t number);

#endif
