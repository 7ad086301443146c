/* A profile as other tools want it: functions, calls and call paths with whole numbers that meet.
 *
 * Paths are those of recorded stacks, or, where calls alone were counted, gprof's model carried on
 * (model_paths_make()): then `is_model` holds, and what is no certainty is marked. Amounts are
 * whole numbers of `unit`. They are rounded along the order of the frames, so that the sum of any
 * frame with all below it is off by less than one, however many there are.
 *
 * The laws: the frames' self amounts add up to `total`, and where threads are separate the parts of
 * a frame to its self amount; the calls of a function that is called cost its `total` together,
 * recursion or not (of a cycle of the model: that of the whole cycle).
 *
 * The order of use: exchange_thread_shares(), if threads are separate; exchange_make(); then
 * exchange_code_make(), for formats that have figures of lines or instructions. */
#ifndef MONARC_PROFILE_ANALYSIS_EXCHANGE_EXCHANGE_H
#define MONARC_PROFILE_ANALYSIS_EXCHANGE_EXCHANGE_H

#include "base/vec.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/analysis/summary.h"

struct exchange_code; /* below */

enum { EXCHANGE_NOWHERE = UINT32_MAX }; /* instead of an object: of what stands for no code */

struct exchange_object {
    const char *path;
    uint32_t kind; /* enum recording_object_kind */
    const uint8_t *build_id;
    size_t build_id_len; /* 0: none */
    uint64_t low, high;  /* of its functions' addresses */
};

struct exchange_function {
    const char *name, *linkage; /* as people write it; as the linker does */
    const char *file;           /* NULL: not known */
    uint32_t line;              /* 0: not known */
    uint32_t object;
    uint64_t address; /* where its object was laid out; 0: nowhere */
    bool is_inlined;
    uint64_t self, total; /* total: with all that it called */
};

/* A function, and the line in its own file that was found to run, or to call the next frame: that
 * where the function begins, if no other is known. */
struct exchange_place {
    uint32_t function, line;
    uint64_t address; /* one of the line's; 0: none of its own, as inlined code has none */
};

/* One function in one context, or if lines were asked for, one line of it. Frame 0 is the root, of
 * no function; the frames below a frame follow it directly. */
struct exchange_frame {
    uint32_t parent, depth, function;
    uint32_t place; /* of the exchange's */
    bool is_estimate;
    bool is_outermost; /* of those of its function on the path; unless it is a model */
    uint64_t self;
};

/* What one thread spent of a frame's self amount, in all or in one slice of the run's time, or with
 * one set of labels. */
struct exchange_part {
    uint32_t frame, thread, slice; /* of the summary's run; slice: 0 unless times are separate */
    uint32_t labels;               /* of the run's sets; 0: none, or they are merged */
    uint64_t self;
};

struct exchange_arc {
    uint32_t caller, callee;
    uint64_t calls; /* 0: known from stacks alone */
    uint64_t cost;  /* of `total` of the callee; 0 within a cycle of the model */
};

struct exchange {
    const struct summary *summary;
    const char *event; /* "cpu", "cycles", ... */
    const char *unit;  /* "nanoseconds", "bytes", "count", "samples", or a dimension of gmon.out */
    uint64_t period;   /* of one sample, in `unit`; 0: not known */
    uint64_t total;
    bool is_model, has_estimates, has_calls;
    VEC(struct exchange_object) objects;
    uint32_t program; /* of these, or EXCHANGE_NOWHERE */
    VEC(struct exchange_function) functions;
    VEC(struct exchange_frame) frames;
    VEC(struct exchange_place) places; /* first of all functions, by their numbers */
    VEC(struct exchange_part)
    parts;                         /* by frame, thread, slice, labels; none: threads are merged */
    VEC(struct exchange_arc) arcs; /* by caller, then callee */
    const uint32_t *function_of;   /* per function and cycle of the input, or EXCHANGE_NOWHERE */
    const uint32_t *frame_of;      /* per node of the tree, 0: none; NULL unless requested */
    const struct exchange_code *code; /* NULL unless exchange_code_make() was called, too */

    /* Other dimensions of the profile: each with the same objects and frames, and functions and
     * arcs by the same numbers and pairs, but the last function, [outside], which some may have. */
    struct exchange *others;
    size_t others_len;
};

/* Weight of one thread's samples that hit a node of the tree, in one slice if times are wanted. */
struct exchange_share {
    uint32_t node, thread, slice, labels;
    double weight;
};

struct exchange_input {
    const struct summary *summary;
    const struct graph *graph; /* by stacks, if `tree` is there */
    const struct graph *shape; /* of the same calls: functions and paths are those that have
                                * samples there; NULL: in `graph` */
    double shape_samples;      /* of `shape` */
    bool has_rest;             /* samples in no function have a row even if there are none here */
    struct names *names;       /* of all functions of the frames */
    const struct call_tree *tree;  /* recorded stacks; NULL: make a model */
    const struct call_line *lines; /* of the tree's numbers, if they are not of functions */
    uint32_t first_inlined;        /* of the names' functions */
    struct object *const *objects;
    uint32_t objects_len;
    const struct space *space; /* NULL: one program alone */
    const bool *selected;    /* by the names' functions: nothing but paths through one of them, and
                              * calls of and by them; NULL: everything */
    const bool *is_left_out; /* likewise: functions that the tree is shown without; NULL: none */
    const struct exchange_share *shares;
    size_t shares_len; /* 0: threads are merged */
    bool keeps_frames; /* frame_of is wanted */
    bool lacks_calls;  /* arcs and the amounts of functions are not: paths are all */
};

/* Finds the shares of the samples of a tree's run; `merged` is what call_tree_init_merged() says.
 */
struct exchange_samples {
    const struct recording *recording;
    const struct recording_choice *choice;
    const double *weights; /* per node of the run; what has none is left out */
    const uint32_t *merged;
    bool no_threads;   /* these are merged: all are thread 0 */
    bool tells_times;  /* shares of slices are separate, too */
    bool tells_labels; /* of sets of labels, too... */
    bool tells_spans;  /* and these by their spans as well */
};
void exchange_thread_shares(struct exchange_input *in, const struct exchange_samples *from,
                            struct arena *a);

/* Puts an exchange together; exchange_deinit() frees its lists. Texts live in the arena, the input
 * and the objects, which must outlive it. Cost: linear in frames, functions and arcs. */
void exchange_make(struct exchange *x, const struct exchange_input *in, struct arena *a);
void exchange_deinit(struct exchange *x);

/* Parts of an exchange whose frames are made, likewise for exchange.c alone. `frame_of`: per node
 * of the tree, 0 for none. */
void exchange_split(struct exchange *x, const struct exchange_input *in, const uint32_t *frame_of);

/* Self, total and calls of an exchange whose frames and functions are made: exchange.c alone calls
 * it. `of` has the function of each node of the graph, or EXCHANGE_NOWHERE; `rest` that of what is
 * in none. Measured: by the frames; of the model: by the graph. */
struct exchange_costs {
    struct exchange *x;
    const struct graph *graph;
    const uint32_t *of;
    uint32_t rest; /* or EXCHANGE_NOWHERE */
    double scale;
};
void exchange_measured_costs(const struct exchange_costs *c);
void exchange_model_costs(const struct exchange_costs *c);

/* --- paths of the model ------------------------------------------------------------------------
 *
 * Call paths made of a call graph that knows pairs alone: gprof's model carried on from the roots.
 *
 * A function's time is split among its callees as the graph splits it, whoever called it; so each
 * function's self time, summed over all paths, is what was measured, and so are the times along
 * arcs. A path is certain only while every function on it has one caller. Functions that call each
 * other around are one frame, with their own times below it. What is too small to be seen is put
 * together, so that totals hold. */

enum { MODEL_SMALL = UINT32_MAX }; /* instead of a node: many that are too small */

struct model_frame {
    uint32_t parent; /* frame 0 is the root, of no function */
    uint32_t node;   /* of the graph: a function, a cycle, or MODEL_SMALL */
    double self;
    bool is_estimate;
};

struct model_paths {
    VEC(struct model_frame) frames; /* parents precede their children */
};

/* `p` is zeroed before. `least`: in samples of `g`; what has less is put together, so there are no
 * more than samples / least frames at one depth. The frames' amounts are those of `amounts`, a
 * graph of the same calls with other samples, or `g` itself: the paths are the same for each. */
void model_paths_make(struct model_paths *p, const struct graph *g, const struct graph *amounts,
                      double least);
void model_paths_deinit(struct model_paths *p);

/* --- code --------------------------------------------------------------------------------------
 *
 * Where in the code the figures of an exchange come from: what functions spent, by instruction, and
 * calls, by the instruction that makes them. It stands beside an exchange, for those who ask.
 *
 * The laws: the spots of a function cost its `self` together, those of an arc its `cost`, and they
 * make its `calls`. Addresses are link addresses in the function's object. Calls that were counted
 * are on the instructions that they were counted at; what they cost is shared out by stacks, or, of
 * the model, by counts. Calls that were not counted are on those that stacks show. */

struct exchange_spot {
    uint64_t address; /* 0: in no file */
    uint64_t calls, cost;
    uint32_t line; /* in the function's own file; where that has none: the function's first */
};

/* Those of owner i are from first[i] up to first[i + 1], by address. */
struct exchange_spots {
    VEC(struct exchange_spot) all;
    uint32_t *first;
};

struct exchange_code {
    const char *why_no_code;     /* what could not be disassembled, as half a sentence; or NULL */
    uint64_t *entry;             /* per function; 0: not known */
    struct exchange_spots self;  /* per function */
    struct exchange_spots calls; /* per arc */
};

struct exchange_code_input {
    const struct exchange_input *from; /* of the exchange */
    const struct functions *functions; /* native */
    const struct profile *profile;     /* calls; and samples, if there is no run */
    const struct recording *recording; /* NULL: no recording */
    const double *weights;             /* per node of the run */
    const uint32_t *merged;            /* likewise: its node of the tree; NULL: of the model */
};

/* Of an exchange that exchange_make() made with `keeps_frames`. Disassembles the functions in which
 * anything was measured; without their files, everything is at the functions' entries. Where there
 * is a file and no disassembler for it, samples stay where they were met, and why_no_code says so.
 */
void exchange_code_make(struct exchange_code *c, const struct exchange *x,
                        const struct exchange_code_input *in, struct arena *a);
void exchange_code_deinit(struct exchange_code *c);

#endif
