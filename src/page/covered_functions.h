/* All functions of which coverage is known, wherever they are: a block of its own, which is
 * unpacked when somebody asks for the list. */
#ifndef MONARC_PAGE_COVERED_FUNCTIONS_H
#define MONARC_PAGE_COVERED_FUNCTIONS_H

#include "bridge/measured_sources.h"
#include "output/json.h"

void covered_functions_data(struct json *j, const struct coverage_result *r,
                            const struct measured_sources *files);

#endif
