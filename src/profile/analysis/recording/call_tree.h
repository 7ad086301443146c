/* The tree of call stacks, frame by frame: what ran below what, as it was seen.
 *
 * A recording's nodes are addresses; here calls from several places of one function are one, and a
 * node whose code was inlined is several frames. Each way from the root is a stack that was
 * recorded, and nothing else is. What a frame is called is not this file's business: callers bring
 * the frames of each node. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_CALL_TREE_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_CALL_TREE_H

#include "base/arena.h"
#include "profile/model/recording.h"

/* The frames that the nodes of a run stand for: one, or several where code was inlined, or none for
 * the root. A frame is the number of a function; equal functions have equal numbers, inlined and
 * not inlined ones different ones. */
struct call_frames {
    const uint32_t *place; /* per node of the run: nodes with equal frames may share a place */
    const uint32_t *start; /* per place: its frames are frame[start[p]] up to frame[start[p + 1]] */
    const uint32_t *frame; /* outermost first */
    uint32_t functions;    /* all numbers are below this */
    const bool *is_piece; /* per node: code that was split out of its function, which may call it: a
                             frame of that one behind another is the same frame; NULL: none is */
};

/* One function in one context. Node 0 is the root, of no function; parents stand before their
 * children. */
struct call_node {
    uint32_t parent, function;
    uint32_t first_child, next; /* 0: none */
    double self;                /* samples that hit it */
    double total;               /* and those further in */
};

/* The law: total == self + the children's total, at each node. */
struct call_tree {
    struct call_node *nodes;
    uint32_t len;
    uint32_t functions; /* numbers of functions are below this */
};

/* `samples` has one number for each node of the run: its own ones, not those further in, each by
 * its weight. The tree lives until call_tree_deinit(). */
void call_tree_init(struct call_tree *t, const struct recording *recording, const double *samples,
                    const struct call_frames *frames);

/* The same, and which node of the tree each node of the run became: `merged` has room for all. */
void call_tree_init_merged(struct call_tree *t, const struct recording *recording,
                           const double *samples, const struct call_frames *frames,
                           uint32_t *merged);
void call_tree_deinit(struct call_tree *t);

/* Time of each function with all that it called: in `inclusive`, one number a function. A stack
 * counts once, however often the function is on it. */
void call_tree_inclusive(const struct call_tree *t, double *inclusive);

#endif
