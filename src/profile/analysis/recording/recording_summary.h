/* What a run amounts to before it is split up: how much of the CPU time that was used is accounted
 * for, where the rest is, and which programs took it. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_RECORDING_SUMMARY_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_RECORDING_SUMMARY_H

#include "profile/analysis/recording/recording_choice.h"

struct recording_program {
    uint32_t object; /* of the run, or RUN_NONE: not known */
    const char *name;
    uint32_t processes;
    double samples;
};

/* A figure over the runs of a series: the mean, half of its 95 % interval (Student's t, from what
 * the runs differ by), the standard deviation of a run, and the extremes. */
struct recording_spread {
    double mean, half, deviation, least, most;
};

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
    struct recording_program *programs; /* those with samples, most first */
    uint32_t programs_len, processes;   /* processes: pids that there were */
    struct recording_spread elapsed, cpu; /* seconds; of a series of two runs and more */
};

/* Of `len` figures; with one, all but the mean and the extremes is 0. */
struct recording_spread recording_spread_of(const double *values, size_t len);

/* `chosen` says that `w` is of a part of the run. */
void recording_summarize(struct recording_summary *s, const struct recording *r,
                         const struct recording_choice *c, const struct recording_weights *w,
                         const char *chosen, struct arena *a);

/* Samples of each process of the run. */
double *recording_process_samples(const struct recording *r, const struct recording_choice *c,
                                  struct arena *a);

/* What an event is counted in: "seconds", 's', or its own name. NULL has seconds. */
void recording_dimension(const struct recording_event *event, const char **dimension,
                         char *abbreviation);

/* What a program is called: the last part of its path, or the command's name. */
const char *recording_program_name(const struct recording *r, const struct recording_process *p);

#endif
