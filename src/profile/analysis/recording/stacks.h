/* Recorded stacks: which samples are meant, the one address space that all objects share, and the
 * times that stacks have.
 *
 * The order of use: a choice of samples, weighed (recording_weigh); a space, laid out over the
 * recording (space_lay_out), with files where they are to be had, and its functions
 * (space_functions); then times (stacks_measure) and how sure they are. Everything lives in the
 * arenas given, and points into the recording, which may not change meanwhile. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_STACKS_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_STACKS_H

#include "base/arena.h"
#include "profile/analysis/functions.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/model/recording.h"

#include <stdint.h>

/* --- which samples are meant -------------------------------------------------------------------
 *
 * Which samples of a run are meant: an event, threads, windows of time; and their weights. */

/* A stretch of the run's time. */
struct recording_window {
    uint64_t from_ns, to_ns;
    uint32_t process; /* RECORDING_NONE: all */
};

/* Which samples: of one event, and where threads or windows are given, of these alone. */
struct recording_choice {
    uint32_t event;
    const bool *threads; /* per thread of the run; NULL: all */
    const bool *labels;  /* per set of labels, 0 being none; NULL: all */
    const struct recording_window *windows;
    size_t windows_len; /* 0: all of the time */
};

/* A slice belongs to a window if its middle does: windows are as coarse as slices. */
bool recording_choice_admits(const struct recording_choice *c, const struct recording *r,
                             const struct recording_sample *s);

/* Which sets of labels have all of these values; `asked` are keys and values. */
const bool *recording_choose_labels(const struct recording *r, const struct recording_label *asked,
                                    size_t len, struct arena *a);

/* Of each set of labels the first one with the same keys and values: spans are ignored. */
const uint32_t *recording_label_groups(const struct recording *r, struct arena *a);

/* Gives each stack an outermost frame that is named by the value of a label, as "KEY=VALUE", so
 * that all that works on stacks separates values. Samples without one keep theirs. */
void recording_add_label_frames(struct recording *r, const char *key);

/* Chosen weights in units of the event's period, as if each sample had weighed that. */
struct recording_weights {
    double *node; /* per node */
    double total;
    double effective; /* as many samples of equal weight would be as certain */
    uint64_t weight;  /* total in ns, or events */
    uint64_t taken;   /* samples; waits are none */
    double aside;     /* taken out of `node` and `total`: of code that only counts calls for us */
};

/* Weighs the chosen samples of all nodes. Waits are in `node` and `total`, but are not samples. */
void recording_weigh(struct recording_weights *w, const struct recording *r,
                     const struct recording_choice *c, struct arena *a);

/* --- the space of all objects ------------------------------------------------------------------
 *
 * The objects of a run side by side, in one address space of ours, and the functions in it.
 *
 * Each object file gets a range of its own, the main program that of its link addresses. So all
 * functions are in one table, and whatever reads a profile of one program reads that of a whole
 * tree of processes. What stands for no file (kernel, waits, generated code, ends of incomplete
 * stacks) has functions as well, by name. Places depend on the objects alone, not on where the
 * system put them. */

struct space_object {
    const struct recording_object *recorded;
    struct object *file;     /* NULL: not to be had, or needed for nothing */
    const char *label;       /* NULL: the main program */
    uint64_t low, high;      /* link addresses of its functions */
    uint64_t base;           /* place = link address + base */
    bool is_used;            /* there is a stack or call in it */
    bool is_other;           /* no file: another one is in its place */
    const char *why_missing; /* no file: what opening it said; NULL: nothing */
};

struct space {
    const struct recording *recording;
    struct space_object *objects; /* as in the run */
    uint32_t len;
    uint32_t main;     /* the main program, or RECORDING_NONE */
    uint64_t end;      /* all objects lie below */
    bool keeps_pieces; /* as functions of their own: .cold, .part */
    /* By space_functions(): */
    uint32_t *function; /* per node of the run */
    bool *is_piece;     /* per node: it is in a piece of its function, not where that begins */
    uint32_t cut[RECORDING_CUTS]; /* functions that stand for unknown callers, or NO_FUNCTION */
};

/* Lays out the objects of a run, without files; fails if they are too large to be true. Everything
 * lives in the arena, and points into the run, which must not grow any more. */
MUST_CHECK bool space_lay_out(struct space *s, const struct recording *r, struct arena *a,
                              struct err *e);

/* The path of a file, or what stands for it. */
const char *space_object_name(const struct space *s, uint32_t object);

/* The recorder's own library: no part of the program, and other code after an upgrade. */
bool space_is_recorder(const struct space_object *o);

/* All functions of all objects, by place, and which of them each node is in. Files that are there
 * must stay open. Code that no symbol names is in `[no symbol] (OBJECT)`. */
void space_functions(struct space *s, struct functions *f, struct arena *a);

/* The function of a node, or NO_FUNCTION: the root. */
static inline uint32_t space_function_of(const struct space *s, uint32_t node)
{
    return s->function[node];
}

/* Whether the node stands for callers that are not known. */
static inline bool space_is_cut(const struct space *s, uint32_t node)
{
    uint32_t object = node ? s->recording->nodes.at[node].object : RECORDING_NONE;
    return object != RECORDING_NONE &&
           s->recording->objects.at[object].kind == RECORDING_OBJECT_CUT;
}

/* Our place of a link address; 0 for no object. */
uint64_t space_place(const struct space *s, uint32_t object, uint64_t address);

struct profile;

/* The calls and blocks of the run, at their places; ends that are in no object as 0. */
void space_add_calls(const struct space *s, struct profile *p);

/* --- times of stacks ---------------------------------------------------------------------------
 *
 * Self and inclusive times as measured: in how many samples did a function run, and in how many was
 * it anywhere on the stack?
 *
 * The latter is what gprof's model estimates from call counts. Recursion counts once; the members
 * of a cycle have times of their own. Callers that are not known are functions of their own
 * (space_is_cut()), which have inclusive times and calls, and no self time. */

/* Samples in whose stack the caller's frame is the callee's next one out; `self`: those of them
 * that hit the callee itself. However often the pair is on a stack, that counts once. */
struct stack_call {
    uint32_t caller, callee;
    double inclusive, self;
};

/* What of a function's inclusive samples came from callers that are not known, by reason. */
struct stack_cut {
    double samples[RECORDING_CUTS];
};

struct stacks {
    double *self, *inclusive;             /* per function, in samples */
    double *self_error, *inclusive_error; /* standard errors of these by this run's sampling; 0: the
                                             time was measured exactly, or there is none; NULL: not
                                             known: all samples are as good as drawn alone */
    bool *waits;       /* per function: it was seen waiting, or what it called; NULL: not known */
    bool *is_wait;     /* per function: it stands for waits itself, [waiting] poll; NULL as well */
    double *off_below; /* per function, of `inclusive`: off the CPU; NULL: not known */
    double *ready_below;      /* of these: no CPU was free; NULL as well */
    double unplaced_waits;    /* in samples: waits of which nothing says where, perhaps in these */
    double *self_between;     /* of a series: half of the 95 % interval of the sum of
                                 `self` over its runs, by how they differ; NULL: none */
    struct stack_call *calls; /* by caller, then callee */
    size_t calls_len;
    struct stack_cut *cut; /* per function; NULL: all callers are known */
    double samples;        /* of all stacks */
    double unplaced;       /* of them, those in no function */
    double with_callers;   /* samples whose stacks are deeper than one frame */
};

/* Whether next to no sample has a known caller: a few may, of code that is not the program's. */
static inline bool stacks_lack_callers(const struct stacks *s)
{
    return s->with_callers <= s->samples / 20;
}

/* `weights`: per node, in samples. `frames`: the functions that each node stands for, of which
 * inlined ones have their own times and are called by what is around them; NULL: inlined code is
 * part of the function that it is in. */
void stacks_measure(struct stacks *t, const struct space *s, const struct functions *f,
                    const struct call_frames *frames, const double *weights, struct arena *a);

/* Adds the errors: `weights` are those of the choice, from which nodes may have been taken out. */
void stacks_measure_errors(struct stacks *t, const struct space *s, const struct functions *f,
                           const struct call_frames *frames, const struct recording_choice *c,
                           const double *weights, struct arena *a);

/* The two above, at once. */
void stacks_measure_both(struct stacks *t, const struct space *s, const struct functions *f,
                         const struct call_frames *frames, const struct recording_choice *c,
                         const double *weights, struct arena *a);

/* Of a series of runs: the errors are those of their mean, by how they differ. Before, they are
 * those of sampling. Of one run nothing changes. */
void stacks_measure_between(struct stacks *t, const struct space *s, const struct functions *f,
                            const struct call_frames *frames, const struct recording_choice *c,
                            const double *weights, struct arena *a);

#endif
