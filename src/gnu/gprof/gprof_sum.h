/* `monarc gprof -s`. */
#ifndef MONARC_GNU_GPROF_GPROF_SUM_H
#define MONARC_GNU_GPROF_GPROF_SUM_H

#include "profile/analysis/graph/graph.h"
#include "gnu/gprof/as_gprof.h"
#include "profile/model/profile.h"

/* Replaces ./gmon.sum by the sum of what was read, in the image's word size and byte order and the
 * format that -O names. `g`: connected, or NULL where there were no arcs. */
MUST_CHECK bool gprof_write_sum(const struct gprof_options *o, const struct object *image,
                                const struct profile *p, const struct functions *f,
                                const struct graph *g, struct err *e);

#endif
