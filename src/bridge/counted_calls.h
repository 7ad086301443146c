/* Counters of arcs as calls of a program's functions: how often each was entered is counted; who
 * called it is not, but the program's code has the direct calls.
 *
 * The calls of a function are split among those that call it directly and ran themselves, as they
 * ran: an estimate, as gprof's model is one of times. A function without such callers was called
 * from nowhere. The calls of a function add up to what was counted. */
#ifndef MONARC_BRIDGE_COUNTED_CALLS_H
#define MONARC_BRIDGE_COUNTED_CALLS_H

#include "bridge/line_counts.h"
#include "profile/analysis/functions.h"
#include "profile/model/profile.h"

/* Appends arcs to *out. Returns how many functions with counts the program does not have; it may be
 * another build of the same sources. Functions of one name are taken for the first of them. */
uint64_t counted_calls_put(const struct line_counts *counts, const struct functions *f,
                           struct object *o, struct profile *out);

#endif
