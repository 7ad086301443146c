/* Callers or callees of one function as a tree, level by level.
 *
 * The call graph holds pairs, not paths: what is deeper than one level is the model's estimate,
 * made by splitting time by call counts again at each step, and may never have run. (What ran is in
 * profile/analysis/recording/call_tree.h, where there are stacks.) The graph is one by calls, not a
 * measured one. Cycles are one node, so that every branch ends. */
#ifndef MONARC_PROFILE_ANALYSIS_TREE_H
#define MONARC_PROFILE_ANALYSIS_TREE_H

#include "profile/analysis/entries.h"

struct tree_row {
    uint32_t node; /* NO_NODE: callers outside of the program's functions */
    uint32_t depth;
    uint64_t calls; /* between this node and the one above it, from everywhere; of the root all */
    double samples; /* of the root's time, what flows through here */
    bool is_static; /* the calls stand in the code, and none was recorded */
    uint32_t cut;   /* callers or callees that are not shown: too deep, or too small */
};

struct tree {
    const struct summary *summary;
    const struct graph *graph;
    uint32_t function; /* that was asked for; the root is its cycle, where it is in one */
    bool is_upward;
    bool has_paths; /* it may be deeper than the pairs that were recorded: the model's estimate */
    struct tree_row *rows;
    size_t len;
    bool is_cut; /* the limit of rows was reached */
};

struct tree_rules {
    uint32_t depth;     /* levels below the root */
    uint64_t limit;     /* rows */
    double min_percent; /* of all samples */
};

void tree_make(struct tree *t, const struct summary *s, const struct graph *g, uint32_t function,
               bool is_upward, const struct tree_rules *rules, struct arena *a);

/* Functions of that name: the demangled one, with or without parameters, its short form, or the
 * linkage name. */
struct function_list {
    VEC(uint32_t) all;
};
void functions_named(const char *name, struct names *names, struct function_list *found);

#endif
