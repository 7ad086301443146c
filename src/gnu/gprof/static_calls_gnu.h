/* The static call graph by GNU gprof's rules (-c): of x86, AArch64, MIPS and SPARC; calls (on
 * AArch64 also jumps) within .text whose two ends both lie in what the histograms cover. */
#ifndef MONARC_GNU_GPROF_STATIC_CALLS_GNU_H
#define MONARC_GNU_GPROF_STATIC_CALLS_GNU_H

#include "profile/analysis/graph/graph.h"
#include "profile/model/profile.h"

/* False, with no calls, where GNU gprof does not know the machine. */
MUST_CHECK bool static_calls_gnu(struct static_calls *calls, const struct functions *f,
                                 struct object *o, const struct profile *p, struct arena *a);

#endif
