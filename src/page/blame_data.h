/* Who wrote covered and uncovered lines, and how old they are. */
#ifndef MONARC_PAGE_BLAME_DATA_H
#define MONARC_PAGE_BLAME_DATA_H

#include "output/json.h"
#include "bridge/measured_sources.h"
#include "page/input.h"

/* The member "blame" of the coverage: sums by author and by age; null where nobody asked. */
void blame_sums_data(struct json *j, const struct page_coverage *c);

/* The member "blame" of a source's coverage: where the commit changes, who and when; null likewise,
 * and where git knows nothing of the source. */
void blame_lines_data(struct json *j, const struct page_coverage *c,
                      const struct measured_source *f);

#endif
