/* Stacks as trees: the frames of a recording's nodes, the tree of calls by function, and rows of
 * it.
 *
 * named_frames_make() finds the frames, call_tree_init() merges the nodes, call_rows_make() walks
 * the tree. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_CALL_TREE_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_CALL_TREE_H

#include "base/arena.h"
#include "profile/analysis/functions.h"
#include "profile/model/recording.h"

/* --- the tree ----------------------------------------------------------------------------------
 *
 * The tree of call stacks, frame by frame: what ran below what, as it was seen.
 *
 * A recording's nodes are addresses; here calls from several places of one function are one, and a
 * node whose code was inlined is several frames. Each way from the root is a stack that was
 * recorded, and nothing else is. Frames are numbers here; their names are the caller's. */

/* The frames that the nodes of a run stand for: one, or several where code was inlined, or none for
 * the root. A frame is the number of a function; equal functions have equal numbers, inlined and
 * not inlined ones different ones. */
struct call_frames {
    const uint32_t *place; /* per node of the run: nodes with equal frames may share a place */
    const uint32_t *start; /* per place: its frames are frame[start[p]] up to frame[start[p + 1]] */
    const uint32_t *frame; /* outermost first */
    uint32_t functions;    /* all numbers are below this */
    const bool *is_piece; /* per node: code that was split out of its function, which may call it: a
                           * frame of that one after another is the same frame; NULL: none is */
    const bool *is_left_out; /* per function: its frames are not in the tree, and their time is
                                their callers'; NULL: none is */
    bool folds_recursion;    /* a function that is on its own stack goes on where it was first */
    const uint32_t *function_of; /* per number: the function it is of, where the numbers are those
                                    of lines; NULL: they are functions */
};

/* One function in one context. Node 0 is the root, of no function; parents precede their
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

/* --- frames ------------------------------------------------------------------------------------
 *
 * The functions that the nodes of a run stand for, those among them whose code was inlined.
 *
 * What is called what outside of inlining is decided elsewhere (functions of objects, kernel,
 * generated code, why a stack is cut): callers bring one function for each node. Here the chains of
 * inlined functions join, as the objects' debug information has them. */

struct call_frames_input {
    const struct recording *recording;
    const struct functions *functions;
    const uint32_t *function;    /* per node of the run; NO_FUNCTION: it has no frame */
    struct object *const *files; /* per object of the run, whose debug information has inlined code;
                                  * NULL: leave it out. So has the whole list */
    const bool *is_piece;        /* per node, as in struct call_frames; NULL: none is */
    bool merges_inlined;         /* inlined code is its function's: files are for lines alone */
    bool has_lines;              /* `lines` is wanted */
};

/* A line on which a function was found, running or calling. */
struct call_line {
    const char *file; /* as debug information has it; NULL: not known */
    uint32_t function, line;
    uint32_t object;  /* of the recording: the code's */
    uint64_t address; /* in it, one of those where this was */
};

struct named_frames {
    struct call_frames frames;
    struct functions functions;    /* the same ones with the same numbers, followed by inlined ones:
                                    * for names, not for functions_find() */
    uint32_t first_inlined;        /* functions from this number on have no code of their own there:
                                    * all of it was inlined. One with both is one of the table */
    const struct call_line *lines; /* as frames.frame, of which there are lines_len; NULL: not
                                    * asked for */
    uint32_t lines_len;
};

/* Asks each object once for each address. All lives in the arena; strings in objects and `in`. */
void named_frames_make(struct named_frames *out, const struct call_frames_input *in,
                       struct arena *a);

/* Numbers the frames by function and line in place of functions alone: what frames of a tree that
 * is made then stand for is the list that is returned, by their numbers. Needs `lines`. */
const struct call_line *named_frames_by_line(struct named_frames *n, struct arena *a);

/* --- rows --------------------------------------------------------------------------------------
 *
 * A tree of calls as rows to print: from the outermost frames inwards, below one function, or from
 * one function outwards.
 *
 * Of a stack with several calls of the function, the outermost one counts: so each stack counts
 * once, and the root has the function's inclusive time. Further calls of it stand where they were
 * seen.
 *
 * The law: a row's total is its self plus the totals of the rows below it by one level, those that
 * stand for several included. (Rows are missing only where `is_cut` says so.) */

enum call_direction {
    CALLS_FROM_ROOT, /* all stacks, from outside to inside */
    CALLS_BELOW,     /* what the function called, and what those called */
    CALLS_OUTWARDS   /* who called the function, and who called those */
};

struct call_query {
    enum call_direction direction;
    uint32_t function;       /* the requested one; not used by CALLS_FROM_ROOT */
    uint32_t depth;          /* levels below the first one */
    uint64_t limit;          /* rows */
    double min_percent;      /* of all stacks; what has less is folded */
    bool is_percent_of_rows; /* or: of those that have the function */
};

struct call_row {
    uint32_t function; /* of a row for several: that of the largest */
    uint32_t folded;   /* 0; or: the row stands for so many that are too small, or too deep */
    uint32_t depth;    /* 0: outermost frames, or the requested function */
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

/* How many rows from `at` on lie between two others on a path without branches: each alone goes on
 * from the row above, and one alone from it. `self` gets their time together, which is at most
 * `most`: a row with time of its own is worth a look, and ends them. */
size_t call_rows_chain(const struct call_rows *rows, size_t at, double most, double *self);

#endif
