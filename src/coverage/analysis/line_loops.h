/* Loops within a line. */
#ifndef MONARC_COVERAGE_ANALYSIS_LINE_LOOPS_H
#define MONARC_COVERAGE_ANALYSIS_LINE_LOOPS_H

#include "coverage/analysis/coverage_unit.h"

struct line_loops; /* scratch */

struct line_loops *line_loops_new(void);
void line_loops_free(struct line_loops *l);

/* How often elementary cycles among these blocks went round: each cycle found takes the least count
 * of its arcs away from them. */
int64_t line_loops_count(struct line_loops *l, const struct coverage_unit *units,
                         const struct function_instance *instances,
                         const struct instance_block *blocks, uint32_t len);

#endif
