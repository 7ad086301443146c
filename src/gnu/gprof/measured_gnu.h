/* The addresses that a profile says something about under GNU gprof's rules. */
#ifndef MONARC_GNU_GPROF_MEASURED_GNU_H
#define MONARC_GNU_GPROF_MEASURED_GNU_H

#include "profile/analysis/attribution.h"

/* Bins in units of two bytes, with the first histogram's scale for all; both ends of arcs as they
 * are; blocks. measured_deinit() frees it. */
void measured_gnu(struct measured *m, const struct profile *p);

#endif
