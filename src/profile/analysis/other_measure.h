/* What was measured besides: another event of a recording, another dimension of a profile. Reports
 * show it in columns beside what was chosen. */
#ifndef MONARC_PROFILE_ANALYSIS_OTHER_MEASURE_H
#define MONARC_PROFILE_ANALYSIS_OTHER_MEASURE_H

#include <stddef.h>
#include <stdint.h>

struct other_measure {
    const char *name;
    double *self;   /* per function, in samples */
    double *totals; /* per node of the graph, with callees; NULL where that was not asked for */
    double samples; /* of all */
};

struct other_measures {
    struct other_measure *at;
    size_t len;
};

static inline double other_share(const struct other_measure *other, double samples)
{
    return other->samples > 0 ? samples / other->samples : 0;
}

#endif
