/* The profile's part of the page's data. */
#ifndef MONARC_PAGE_PROFILE_DATA_H
#define MONARC_PAGE_PROFILE_DATA_H

#include "output/json.h"
#include "page/rows.h"
#include "bridge/measured_sources.h"
#include "page/input.h"

/* The block of all calls, an object of columns. */
void calls_data(struct json *j, const struct page_rows *r);

/* Members of an object: summary, doctor, functions, arcs (how many), paths. */
void profile_data(struct json *j, const struct page_rows *r, struct measured_sources *files);

#endif
