/* Inclusive times as measured: in how many samples was a function anywhere on the stack?
 *
 * This is what gprof's model estimates from call counts. Recursion counts once; the members of a
 * cycle have times of their own. */
#ifndef MONARC_ANALYSIS_STACKS_H
#define MONARC_ANALYSIS_STACKS_H

#include "analysis/space.h"

/* Samples in whose stack the caller's frame is the callee's next one out; `self`: those of them
 * that hit the callee itself. However often the pair is on a stack, that counts once. */
struct stack_call {
    uint32_t caller, callee;
    double inclusive, self;
};

/* A function's samples in one thread. */
struct thread_share {
    uint32_t thread; /* in the recording's list */
    uint32_t function;
    double self, total;
};

struct stacks {
    double *inclusive;        /* per function, in samples */
    struct stack_call *calls; /* by caller, then callee */
    size_t calls_len;
    struct thread_share *shares; /* by thread, then self, most first */
    size_t shares_len;
    double samples;   /* of all stacks */
    bool has_callers; /* most stacks are deeper than one frame */
};

/* Nodes that no path leads to from the outermost frame are left out, and their samples. */
void stacks_measure(struct stacks *t, const struct recording *r, const struct space *s,
                    const struct functions *f, struct arena *a);

#endif
