/* A tree of calls as rows to print: from the outermost frames inwards, below one function, or from
 * one function outwards.
 *
 * Of a stack with several calls of the function, the outermost one counts: so each stack counts
 * once, and the root has the function's inclusive time. Further calls of it stand where they were
 * seen.
 *
 * The law: a row's total is its self plus the totals of the rows below it by one level, those that
 * stand for several included. (Rows are missing only where `is_cut` says so.) */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_CALL_ROWS_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_CALL_ROWS_H

#include "profile/analysis/recording/call_tree.h"

enum call_direction {
    CALLS_FROM_ROOT, /* all stacks, from outside to inside */
    CALLS_BELOW,     /* what the function called, and what those called */
    CALLS_OUTWARDS   /* who called the function, and who called those */
};

struct call_query {
    enum call_direction direction;
    const bool *is_wanted;   /* per number of a function: is the one asked for, inlined or not */
    uint32_t depth;          /* levels below the first one */
    uint64_t limit;          /* rows */
    double min_percent;      /* of all stacks; what has less is folded */
    bool is_percent_of_rows; /* or: of those that have the function */
};

struct call_row {
    uint32_t function; /* of a row for several: that of the largest */
    uint32_t folded;   /* 0; or: the row stands for so many that are too small, or too deep */
    uint32_t depth;    /* 0: outermost frames, or the function asked for */
    bool is_only;      /* no other row has the same parent, or only one for several */
    double total;
    double self; /* outwards: of stacks whose outermost frame this is; of folded rows all, since
                      nothing stands below them */
};

struct call_rows {
    enum call_direction direction;
    double whole;   /* samples of all stacks of the tree */
    double covered; /* of them: in the rows */
    struct call_row *rows;
    size_t len;
    bool is_cut; /* the limit was reached */
};

/* Rows live in the arena. There are none if no stack has the function. */
void call_rows_make(struct call_rows *out, const struct call_tree *t, const struct call_query *q,
                    struct arena *a);

#endif
