/* Trees of recorded stacks, from a run to the report. */
#ifndef MONARC_CLI_CALL_TREES_H
#define MONARC_CLI_CALL_TREES_H

#include "profile/analysis/recording/call_frames.h"
#include "profile/analysis/recording/call_rows.h"
#include "output/out.h"
#include "cli/view.h"

/* What the trees are made of. */
struct call_trees_input {
    struct call_frames_input frames;
    const double *samples; /* per node of the run, by weight */
    const struct summary *summary;
};

/* What is wanted. */
struct call_trees_request {
    enum call_direction direction;
    const char *function; /* a name as functions_named() takes it; NULL: all stacks */
    uint64_t depth;       /* levels; 0: all */
};

/* Prints them as `o` says. False, and nothing printed, if the function is not there. */
MUST_CHECK bool call_trees_print(const struct call_trees_input *in,
                                 const struct call_trees_request *q, const struct view_options *o,
                                 struct arena *a, struct out *out, struct err *e);

#endif
