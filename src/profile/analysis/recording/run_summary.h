/* What a run amounts to before it is split up: how much of the CPU time that was used is accounted
 * for, where the rest is, and which programs took it. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_RUN_SUMMARY_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_RUN_SUMMARY_H

#include "profile/analysis/recording/run_choice.h"

struct run_program {
    uint32_t object; /* of the run, or RUN_NONE: not known */
    const char *name;
    uint32_t processes;
    double samples;
};

/* A figure over the runs of a series: the mean, half of its 95 % interval (Student's t, from what
 * the runs differ by), the standard deviation of a run, and the extremes. */
struct run_spread {
    double mean, half, deviation, least, most;
};

struct run_summary {
    const struct run *run;
    const struct run_event *event; /* the chosen one; NULL: the run has none */
    const struct run_weights *weights;
    const char *command;              /* arguments, with spaces between them; "" if not known */
    const char *path;                 /* of the main program */
    const char *chosen;               /* which part of the run is meant, as a phrase; NULL: all */
    bool has_cpu;                     /* the two are known, of the whole run */
    uint64_t accounted_ns, cpu_ns;    /* samples that ran, of all CPU time of the tree */
    double whole;                     /* share of stacks that are whole; negative: not known */
    struct run_program *programs;     /* those with samples, most first */
    uint32_t programs_len, processes; /* processes: pids that there were */
    struct run_spread elapsed, cpu;   /* seconds; of a series of two runs and more */
};

/* Of `len` figures; with one, all but the mean and the extremes is 0. */
struct run_spread run_spread_of(const double *values, size_t len);

/* `chosen` says that `w` is of a part of the run. */
void run_summarize(struct run_summary *s, const struct run *r, const struct run_choice *c,
                   const struct run_weights *w, const char *chosen, struct arena *a);

/* Samples of each process of the run. */
double *run_process_samples(const struct run *r, const struct run_choice *c, struct arena *a);

/* What an event is counted in: "seconds", 's', or its own name. NULL has seconds. */
void run_dimension(const struct run_event *event, const char **dimension, char *abbreviation);

/* What a program is called: the last part of its path, or the command's name. */
const char *run_program_name(const struct run *r, const struct run_process *p);

#endif
