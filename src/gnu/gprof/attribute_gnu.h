/* Samples booked on functions as GNU gprof books them.
 *
 * The sums of samples are those of binutils' gprof/hist.c to the last bit of a double, because
 * percentages are rounded from these sums. Amounts are in samples; an address is divided by two,
 * GNU's smallest instruction, before it is compared. */
#ifndef MONARC_GNU_GPROF_ATTRIBUTE_GNU_H
#define MONARC_GNU_GPROF_ATTRIBUTE_GNU_H

#include "gnu/gprof/functions_gnu.h"
#include "gnu/gprof/symspec.h"
#include "profile/analysis/attribution.h"
#include "profile/analysis/graph/graph.h"
#include "profile/model/profile.h"

/* Units of two bytes per bin of a histogram. Not whole as a rule: a bin may begin within an
 * instruction. */
static inline double gnu_scale(const struct histogram *h)
{
    return h->bins ? (double)((h->high - h->low) / 2) / h->bins : 0;
}

/* Addresses in units of two bytes, a bin's bounds rounded down, the first histogram's scale for
 * all (it is returned; 0: there is none), and what a bin holds outside the functions booked
 * nowhere. Functions that the selection keeps out of the flat profile are neither credited nor
 * counted. */
double attribute_gnu(struct attribution *t, const struct profile *p, const struct functions *f,
                     const struct selection *s, struct arena *a);

/* The addresses that a profile says something about under GNU gprof's rules. */

/* Bins in units of two bytes, with the first histogram's scale for all; both ends of arcs as they
 * are; blocks. measured_deinit() frees it. */
void measured_gnu(struct measured *m, const struct profile *p);

/* Calls for a flat profile by line: the graph has nodes for functions alone.
 *
 * In GNU gprof's line graph calls go from lines to functions, never to lines. So a line has no
 * callers, no part in a cycle and no time to pass on; all that calls from lines do to a flat
 * profile is to be counted, and to decide in which order functions are met. */

struct line_calls {
    uint32_t *node_of;        /* of an entry of the table with lines: its function, or NO_NODE */
    struct attribution time;  /* of the functions */
    struct graph_root *roots; /* calls from lines, for `struct graph_rules` */
    size_t roots_len;
};

/* `functions`: the table before lines were added, `all`: with them and with the lines of all call
 * sites. Calls from lines lose their call site in the profile. */
void line_calls_make(struct line_calls *c, const struct functions *functions,
                     const struct gnu_functions *all, const struct attribution *time,
                     struct profile *p, struct arena *a);

/* The static call graph by GNU gprof's rules (-c): of x86, AArch64, MIPS and SPARC; calls (on
 * AArch64 also jumps) within .text whose two ends both lie in what the histograms cover. */

/* False, with no calls, where GNU gprof does not know the machine. */
MUST_CHECK bool static_calls_gnu(struct static_calls *calls, const struct functions *f,
                                 struct object *o, const struct profile *p, struct arena *a);

#endif
