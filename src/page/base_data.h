/* A second measurement beside the first: what changed. */
#ifndef MONARC_PAGE_BASE_DATA_H
#define MONARC_PAGE_BASE_DATA_H

#include "output/json.h"
#include "page/rows.h"

/* The member "base" of a profile: null where there is none. Functions are the same if their linkage
 * names and objects are. */
void base_data(struct json *j, const struct page_rows *r);

#endif
