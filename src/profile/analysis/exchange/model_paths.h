/* Call paths made of a call graph that knows pairs alone: gprof's model carried on from the roots.
 *
 * A function's time is split among its callees as the graph splits it, whoever called it; so each
 * function's self time, summed over all paths, is what was measured, and so are the times along
 * arcs. A path is certain only while every function on it has one caller. Functions that call each
 * other around are one frame, with their own times below it. What is too small to be seen is put
 * together, so that totals hold. */
#ifndef MONARC_PROFILE_ANALYSIS_EXCHANGE_MODEL_PATHS_H
#define MONARC_PROFILE_ANALYSIS_EXCHANGE_MODEL_PATHS_H

#include "base/vec.h"
#include "profile/analysis/graph/graph.h"

enum { MODEL_SMALL = UINT32_MAX }; /* instead of a node: many that are too small */

struct model_frame {
    uint32_t parent; /* frame 0 is the root, of no function */
    uint32_t node;   /* of the graph: a function, a cycle, or MODEL_SMALL */
    double self;
    bool is_estimate;
};

struct model_paths {
    VEC(struct model_frame) frames; /* parents stand before their children */
};

/* `least`: in samples; what has less is put together. */
void model_paths_make(struct model_paths *p, const struct graph *g, double least);
void model_paths_deinit(struct model_paths *p);

#endif
