/* Inclusive times as measured: in how many samples was a function anywhere on the stack?
 *
 * This is what gprof's model estimates from call counts. Recursion counts once; the members of a
 * cycle have times of their own. */
#ifndef MONARC_ANALYSIS_STACKS_H
#define MONARC_ANALYSIS_STACKS_H

#include "analysis/space.h"

struct stacks {
    double *inclusive; /* per function, in samples */
    double samples;    /* of all stacks */
    bool has_callers;  /* most stacks are deeper than one frame */
};

/* Nodes that no path leads to from the outermost frame are left out, and their samples. */
void stacks_measure(struct stacks *t, const struct recording *r, const struct space *s,
                    const struct functions *f, struct arena *a);

/* One function called another in so many samples: the frames of the tree that have a caller. Pairs
 * appear once for each context, recursion included. */
struct stack_call {
    uint32_t caller, callee;
    double samples;
};

struct stack_calls {
    struct stack_call *at;
    uint32_t len;
};

void stacks_calls(struct stack_calls *t, const struct recording *r, const struct space *s,
                  const struct functions *f, struct arena *a);

#endif
