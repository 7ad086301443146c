/* The flat profile: one row a function, as a plain table that every report prints.
 *
 * The law: self of all rows + omitted.self + unattributed == samples of the summary, and likewise
 * for calls: rows + omitted + unknown callees == calls read. Amounts of time are in samples. */
#ifndef MONARC_PROFILE_ANALYSIS_FLAT_H
#define MONARC_PROFILE_ANALYSIS_FLAT_H

#include "profile/analysis/filter.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/summary.h"

struct flat_row {
    uint32_t function;
    bool is_profiler; /* mcount and its kind: the cost of measuring */
    double self;
    double running; /* self of this row and all above it */
    double total;   /* with callees: samples in whose stack it is, where there are stacks; else as
                       `model` */
    double model;   /* self and callees', by the model of the call graph; of a member of a cycle,
                       without what the other members' callees took */
    uint64_t calls, recursive_calls; /* all calls; those of them by itself */
    struct interval interval;        /* of self's share of the samples */
};

struct flat {
    const struct summary *summary;
    struct flat_row *rows;
    uint32_t len;
    struct {
        uint32_t functions; /* that have time or calls, kept out by filters and limits */
        double self;
        uint64_t calls;
    } omitted;
    bool has_fractions; /* some self is no whole number of samples */
    bool shows_model;
};

enum view_sort { BY_SELF, BY_TOTAL, BY_CALLS, BY_NAME };

/* What of a table is wanted, and in which order; for the flat profile and the graph. */
struct view_rules {
    enum view_sort sort;
    bool has_sort;
    bool shows_all;     /* functions without time and calls, too */
    uint64_t limit;     /* rows; 0: all */
    double min_percent; /* of all samples: the self share of a row, the total of an entry */
    bool shows_model;   /* what the model of the call graph says, beside measured totals */
    const struct filter *filter;
};

void flat_make(struct flat *t, const struct summary *s, const struct graph *g, struct names *names,
               const struct view_rules *rules, struct arena *a);

/* Per call, in samples; negative: there were no calls, or no samples. Recursion is divided out of
 * the total, since it is inclusive. */
static inline double flat_self_per_call(const struct flat_row *r)
{
    return r->calls ? r->self / (double)r->calls : -1;
}

static inline double flat_total_per_call(const struct flat_row *r)
{
    uint64_t entered = r->calls - r->recursive_calls;
    return entered ? r->total / (double)entered : -1;
}

#endif
