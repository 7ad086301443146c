/* What an older measurement had of a function, as JSON beside what was measured now. */
#ifndef MONARC_PROFILE_REPORT_BASE_H
#define MONARC_PROFILE_REPORT_BASE_H

#include "output/json.h"
#include "profile/analysis/compare/comparison.h"

/* The member "base" of an open object: none without a base, null of what is new. Rows of functions
 * have self times, entries of a graph have none. */
void base_json(struct json *j, const struct baseline *base, uint32_t function, bool has_self);

#endif
