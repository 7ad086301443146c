/* What a profile amounts to before it is split up: the head of every native report.
 *
 * The law: functions + unattributed == samples, where `functions` is the self time of all
 * functions, the profiler's own among them.
 *
 * Shares are parts of `samples`, 0 to 1. Times are in the unit of the dimension: seconds, or
 * events. Every interval is one of 95 %, and all reports print those made here, so that they agree.
 */
#ifndef MONARC_PROFILE_ANALYSIS_SUMMARY_H
#define MONARC_PROFILE_ANALYSIS_SUMMARY_H

#include "profile/analysis/attribution.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/recording/stacks.h"

#include <stddef.h>
#include <stdint.h>

/* --- other measures ----------------------------------------------------------------------------
 *
 * What was measured besides: another event of a recording, another dimension of a profile. Reports
 * show it in columns beside what was chosen. */

struct other_measure {
    const char *name;
    double *self;   /* per function, in samples */
    double *totals; /* per node of the graph, with callees; NULL if not requested */
    double samples; /* of all */

    /* Of dimensions of a profile alone. */
    double unattributed; /* of `samples` */
    double rate;         /* samples per unit; 0: unknown */
    char abbreviation;
    const struct graph *graph; /* of these samples; NULL if not requested */
};

/* `all`: the graph of what was chosen and of the others together, each with the same weight. What
 * has anything of one of them has something there. NULL where there are no graphs of others. */
struct other_measures {
    struct other_measure *at;
    size_t len;
    const struct graph *all;
    double all_samples; /* the number of measures, nearly */
};

static inline double other_share(const struct other_measure *other, double samples)
{
    return other->samples > 0 ? samples / other->samples : 0;
}

/* --- a recording as a whole --------------------------------------------------------------------
 *
 * What a run amounts to before it is split up: how much of the CPU time that was used is accounted
 * for, where the rest is, and which programs took it. */

struct recording_program {
    uint32_t object; /* of the run, or RECORDING_NONE: not known */
    const char *name;
    uint32_t processes;
    double samples, off; /* off: those of them that are time off the CPU */
};

/* A figure over the runs of a series: the mean, half of its 95 % interval (Student's t, from what
 * the runs differ by), the standard deviation of a run, and the extremes. */
struct recording_spread {
    double mean, half, deviation, least, most;
};

/* The event whose samples are parts of the wall time (recording/parallelism.h). */
#define SUMMARY_LATENCY "latency"

struct parallelism;

struct recording_summary {
    const struct recording *recording;
    const struct recording_event *event; /* the chosen one; NULL: the run has none */
    const struct recording_weights *weights;
    const char *command;                /* arguments, with spaces between them; "" if not known */
    const char *path;                   /* of the main program */
    const char *chosen;                 /* which part of the run is meant, as a phrase; NULL: all */
    bool has_cpu;                       /* the two are known, of the whole run */
    uint64_t accounted_ns, cpu_ns;      /* samples that ran, of all CPU time of the tree */
    double whole;                       /* share of stacks that are whole; negative: not known */
    double complete;                    /* share of what was measured that is in such stacks, or
                                           `whole` where no node says where stacks are cut */
    struct recording_program *programs; /* those with samples, most first */
    uint32_t programs_len, processes;   /* processes: pids that there were */
    const struct parallelism *parallelism; /* where samples were weighed by it; else NULL */
    struct recording_spread elapsed, cpu;  /* seconds; of a series of two runs and more */
};

static inline bool recording_is_of_time(const struct recording_summary *s)
{
    return s->event && s->event->unit == RECORDING_UNIT_NS;
}

/* `chosen` says that `w` is of a part of the run. */
void recording_summarize(struct recording_summary *s, const struct recording *r,
                         const struct recording_choice *c, const struct recording_weights *w,
                         const char *chosen, struct arena *a);

/* Samples of each process of the run. */
double *recording_process_samples(const struct recording *r, const struct recording_choice *c,
                                  bool off_cpu, struct arena *a);

/* The program with the most CPU time; NULL: none has any. */
const struct recording_program *recording_leading_program(const struct recording_summary *s);

/* What an event is counted in: "seconds", 's', or its own name. NULL has seconds. */
void recording_dimension(const struct recording_event *event, const char **dimension,
                         char *abbreviation);

/* What a program is called: the last part of its path, or the command's name. */
const char *recording_program_name(const struct recording *r, const struct recording_process *p);

/* Filled in two steps: names, notes and what a recording has when the profile is opened; then, by
 * summary_count(), the totals. Nothing in it is owned. */
struct summary {
    const char *program;
    const char *const *profiles;
    size_t profiles_len;
    bool was_forced; /* program and profile do not belong together: `mismatch` says why */
    const char *mismatch;

    const char *answer; /* the sentence that reports open with; see answer.c */
    bool is_verbose;    /* heads say how it was measured, too */

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
    double taken;     /* samples, where each has a weight of its own in `samples`; else 0 */
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

/* "deadlock of g_cache, g_log; ", if threads waited in a circle, for locks of which some have
 * names; else "". First lines begin with it. */
const char *answer_deadlock(const struct recording *r, struct arena *a);

/* Then its answer, which lives in `a`. `objects` are by function.object, with NULL elements. */
struct names;
void summary_answer(struct summary *s, const struct attribution *t, struct names *names,
                    struct object *const *objects, struct arena *a);

/* The same profile's summary, with another dimension in place of the first. */
void summary_of_other(struct summary *s, const struct summary *first,
                      const struct other_measure *other);

/* Whether the function is part of the profiler: mcount under its many names and its helpers. */
bool function_is_profiler(const struct functions *f, uint32_t function);

/* Takes out of a run's weights what code that counts calls spent, and what it called: it is no part
 * of the program, whose shares are of the rest. */
void summary_set_profiler_aside(struct recording_weights *w, const struct space *s,
                                const struct functions *f);

/* What a recording's `profiler` did, "N more ...". A program that was compiled with -pg calls
 * mcount also where no calls were counted, and one that publishes labels has libmonarc_rt. */
static inline const char *summary_profiler_text(const struct summary *s)
{
    return s->arcs ? "while the recorder counted calls"
                   : "in the recorder inside the program (-pg or libmonarc_rt)";
}

/* Samples in the unit of the dimension; 0 if the rate is not known. */
static inline double summary_time(const struct summary *s, double samples)
{
    return s->rate > 0 ? samples / s->rate : 0;
}

/* How many runs the samples are of. */
uint32_t summary_runs(const struct summary *s);

/* Decimals of a column of times, so that one sample is never lost in rounding: 3 to 6. */
int summary_decimals(const struct summary *s);

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

/* Half its width, and whether that changes anything for a reader: there is something, and it is
 * more than a tenth of that. */
static inline double interval_half(struct interval i)
{
    return (i.high - i.low) / 2;
}
static inline bool interval_matters(struct interval i, double share)
{
    return share > 0 && interval_half(i) > share / 10;
}

struct interval share_interval(double hits, double samples);

/* The same of a share with a standard error: as many samples drawn alone as have that error. 0: it
 * is exact. */
struct interval share_interval_of(double share, double error);

/* The same of a part of all samples of which nothing else is known. */
struct interval summary_interval(const struct summary *s, double samples);

/* Half of that, with what is not known to be anywhere, for parts that are no function's: a row of
 * a call tree, what a report leaves out. */
double summary_error(const struct summary *s, double samples);

/* Of a function's self time, its total time as stacks have it, or of a line's of it, whose samples
 * are drawn among the function's. All reports print these. */
struct interval summary_self_interval(const struct summary *s, uint32_t function, double self);
struct interval summary_total_interval(const struct summary *s, uint32_t function, double total);

/* Of a kind of waiting, and of what of a function's total time is on the CPU, as shares of all
 * samples: waits were measured, but for those without a place, and are no CPU time without one. */
struct interval summary_wait_interval(const struct summary *s, uint32_t function, double self);
struct interval summary_cpu_interval(const struct summary *s, uint32_t function, double cpu);

#endif
