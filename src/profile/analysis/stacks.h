/* Self and inclusive times as measured: in how many samples did a function run, and in how many was
 * it anywhere on the stack?
 *
 * The latter is what gprof's model estimates from call counts. Recursion counts once; the members
 * of a cycle have times of their own. Callers that are not known are functions of their own
 * (space_is_cut_function()), which have inclusive times and calls, and no self time. */
#ifndef MONARC_PROFILE_ANALYSIS_STACKS_H
#define MONARC_PROFILE_ANALYSIS_STACKS_H

#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/recording/recording_choice.h"
#include "profile/analysis/space.h"

/* Samples in whose stack the caller's frame is the callee's next one out; `self`: those of them
 * that hit the callee itself. However often the pair is on a stack, that counts once. */
struct stack_call {
    uint32_t caller, callee;
    double inclusive, self;
};

/* What of a function's inclusive samples came from callers that are not known, by reason. */
struct stack_cut {
    double samples[RECORDING_CUTS];
};

struct stacks {
    double *self, *inclusive;             /* per function, in samples */
    double *self_error, *inclusive_error; /* standard errors of these by this run's sampling; 0: the
                                             time was measured exactly, or there is none; NULL: not
                                             known: all samples are as good as drawn alone */
    double *self_between;                 /* of a series: half of the 95 % interval of the sum of
                                             `self` over its runs, by how they differ; NULL: none */
    struct stack_call *calls;             /* by caller, then callee */
    size_t calls_len;
    struct stack_cut *cut; /* per function; NULL: all callers are known */
    double samples;        /* of all stacks */
    double unplaced;       /* of them, those in no function */
    bool has_callers;      /* there are stacks deeper than one frame */
};

/* `weights`: per node, in samples. `frames`: the functions that each node stands for, of which
 * inlined ones have their own times and are called by what is around them; NULL: inlined code is
 * part of the function that it is in. */
void stacks_measure(struct stacks *t, const struct space *s, const struct functions *f,
                    const struct call_frames *frames, const double *weights, struct arena *a);

/* Adds the errors: `weights` are those of the choice, from which nodes may have been taken out. */
void stacks_measure_errors(struct stacks *t, const struct space *s, const struct functions *f,
                           const struct call_frames *frames, const struct recording_choice *c,
                           const double *weights, struct arena *a);

/* Of a series of runs: the errors are those of their mean, by how they differ. Before, they are
 * those of sampling. Of one run nothing changes. */
void stacks_measure_between(struct stacks *t, const struct space *s, const struct functions *f,
                            const struct call_frames *frames, const struct recording_choice *c,
                            const double *weights, struct arena *a);

#endif
