/* The coverage's part of the page's data, but for its sources. */
#ifndef MONARC_PAGE_COVERAGE_DATA_H
#define MONARC_PAGE_COVERAGE_DATA_H

#include "output/json.h"
#include "bridge/measured_sources.h"
#include "page/input.h"

/* Members of an object: totals, inputs, what was left out, problems, gates, the patch. */
void coverage_data(struct json *j, const struct page_coverage *c,
                   const struct measured_sources *files);

#endif
