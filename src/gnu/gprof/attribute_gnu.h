/* Samples booked on functions as GNU gprof books them. */
#ifndef MONARC_GNU_GPROF_ATTRIBUTE_GNU_H
#define MONARC_GNU_GPROF_ATTRIBUTE_GNU_H

#include "gnu/gprof/symspec.h"
#include "profile/analysis/attribution.h"

/* Units of two bytes per bin of a histogram. */
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

#endif
