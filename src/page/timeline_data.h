/* A recording over time: processes, threads, marks, and samples by slice of time. */
#ifndef MONARC_PAGE_TIMELINE_DATA_H
#define MONARC_PAGE_TIMELINE_DATA_H

#include "output/json.h"
#include "page/rows.h"

/* The member "timeline": null where there is no recording. */
void timeline_data(struct json *j, const struct page_rows *r);

#endif
