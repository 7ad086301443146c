/* What the arcs of arc-profiling notes mean: successors in order, calls, throws, exceptional code.
 *
 * The compiler marks only fake arcs and fall-throughs; the rest follows. A block with a fake arc
 * out of it is a call, the fake arc "did not return", and its other arcs that do not fall through
 * are throws. A single arc that is not fake is no branch. What only throws lead to is exceptional.
 * It needs no counters. */
#ifndef MONARC_COVERAGE_ANALYSIS_BLOCK_GRAPH_H
#define MONARC_COVERAGE_ANALYSIS_BLOCK_GRAPH_H

#include "coverage/model/coverage.h"

enum arc_kind {
    ARC_CALL = 1,          /* fake: a call that did not return */
    ARC_THROW = 2,         /* to a handler or clean-up */
    ARC_UNCONDITIONAL = 4, /* the only way on */
    ARC_NONLOCAL = 8,      /* fake, from the entry: where setjmp returns again */
};

enum block_kind {
    BLOCK_CALL = 1,        /* ends in a call */
    BLOCK_RETURN = 2,      /* only the rest of a call's block */
    BLOCK_EXCEPTIONAL = 4, /* reached by throws alone */
    BLOCK_NONLOCAL = 8,    /* where setjmp returns again */
    BLOCK_REPEATS = 16,    /* has an arc to itself */
    BLOCK_DECIDES = 32,    /* has arcs that are calls or branches */
};

struct block_graph {
    VEC(uint32_t) first_out; /* see block_graph_out(): one more per function than it has blocks */
    VEC(uint32_t)
    out;                    /* in notes->arcs: by source, then (but for clang's, whose order means
                               true and false) target, then place in the file */
    VEC(uint8_t) arc_kinds; /* beside notes->arcs */
    VEC(uint8_t) block_kinds;
    VEC(uint32_t) in_degree, queue; /* scratch */
};

/* Reuses the memory of *g. */
void block_graph_build(const struct notes *n, struct block_graph *g);
void block_graph_deinit(struct block_graph *g);

/* Where the arcs out of the blocks of a function (its index) begin in g->out: those of block `b`
 * are out[first[b]] to out[first[b + 1]]. */
static inline const uint32_t *block_graph_out(const struct block_graph *g, const struct notes *n,
                                              size_t function)
{
    return g->first_out.at + n->functions.at[function].first_block + function;
}

/* Whether an arc is a branch: neither a call nor the only way on. */
static inline bool block_graph_is_branch(const struct block_graph *g, uint32_t arc)
{
    return !(g->arc_kinds.at[arc] & (ARC_CALL | ARC_UNCONDITIONAL));
}

#endif
