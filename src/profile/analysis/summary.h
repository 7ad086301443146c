/* What a profile amounts to before it is split up: the head of every native report.
 *
 * The law: functions + unattributed == samples, where `functions` is the self time of all
 * functions, the profiler's own among them. */
#ifndef MONARC_PROFILE_ANALYSIS_SUMMARY_H
#define MONARC_PROFILE_ANALYSIS_SUMMARY_H

#include "profile/analysis/graph/graph.h"
#include "profile/analysis/other_measure.h"
#include "profile/analysis/recording/recording_summary.h"
#include "profile/analysis/sharing.h"
#include "profile/analysis/stacks.h"

struct summary {
    const char *program;
    const char *const *profiles;
    size_t profiles_len;
    bool was_forced; /* program and profile do not belong together: `mismatch` says why */
    const char *mismatch;

    const char *const *notes; /* sentences on what the recording lacks; without full stop */
    size_t notes_len;

    bool has_samples; /* there is a histogram */
    double samples, unattributed;
    double profiler;               /* of `samples`; of a whole run besides them */
    const struct stacks *stacks;   /* NULL: none were recorded */
    const struct stacks *measured; /* the times of a recording, and their errors; NULL: none */
    const struct recording_summary *run; /* NULL: no recording */
    const struct sharing *sharing;       /* of bins among functions; NULL: no bins */
    uint32_t inlined; /* functions that were met inlined and have figures of their own */
    bool has_hosts;   /* inlined code counts as the function's that it is in, as asked */
    double effective; /* samples of equal weight that would be as certain; 0: all weigh the same */
    double rate;      /* samples per unit; 0: unknown */
    const char *dimension;
    char abbreviation;

    struct other_measures others; /* than these samples */

    uint64_t arcs, calls;
    uint64_t unknown_callers; /* of `calls`: from outside any function of the program */
    uint64_t unknown_callees; /* of `calls`: to no function; in no row */
};

/* The rest of a summary whose names are filled in. */
void summary_count(struct summary *s, const struct profile *p, const struct attribution *t,
                   const struct graph *g);

/* Whether the function is part of the profiler: mcount under its many names and its helpers. */
bool is_profiler(const char *linkage_name);
bool function_is_profiler(const struct functions *f, uint32_t function);

/* Takes out of a run's weights what code that counts calls spent, and what it called: it is no part
 * of the program, whose shares are of the rest. */
void summary_set_profiler_aside(struct recording_weights *w, const struct space *s,
                                const struct functions *f);

/* Samples in the unit of the dimension; 0 if the rate is not known. */
static inline double summary_time(const struct summary *s, double samples)
{
    return s->rate > 0 ? samples / s->rate : 0;
}

/* A share of all samples, 0 to 1. */
static inline double summary_share(const struct summary *s, double samples)
{
    return s->samples > 0 ? samples / s->samples : 0;
}

/* What glibc's mcount takes for one call on a machine of today: between 4 and 10. */
enum { MCOUNT_NANOSECONDS = 7 };

/* Seconds spent on counting calls, at that price; 0 if time was not measured in seconds. */
double summary_mcount_estimate(const struct summary *s);

/* Where the true share lies with 95 % confidence (Wilson's score interval), each 0 to 1: of samples
 * that are each drawn alone. */
struct interval {
    double low, high;
};
struct interval share_interval(double hits, double samples);

/* The same of a share with a standard error: as many samples drawn alone as have that error. 0: it
 * is exact. */
struct interval share_interval_of(double share, double error);

/* The same of a part of all samples of which nothing else is known. */
struct interval summary_interval(const struct summary *s, double samples);

/* The same where bins leave open how many samples are meant: what sampling leaves open below the
 * least of them and above the most. */
struct interval summary_interval_between(const struct summary *s, double least, double most);

/* Of a function's self time, its total time as stacks have it, or of a line's of it, whose samples
 * are drawn among the function's. All reports print these. */
struct interval summary_self_interval(const struct summary *s, uint32_t function, double self);
struct interval summary_total_interval(const struct summary *s, uint32_t function, double total);
struct interval summary_line_interval(const struct summary *s, uint32_t function, double self);

#endif
