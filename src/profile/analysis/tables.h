/* The tables that reports print of a profile: flat rows, shares, entries of the call graph, trees,
 * lines.
 *
 * Each table is plain data: what it points to lives in the arena given to its X_make(), in the
 * summary and in the names; nothing here fails. Amounts of time are in samples; summary_time() and
 * summary_share() make seconds and shares of them. What rules and limits leave out is summed up in
 * `omitted`, so that every form of a report can say what it does not show. */
#ifndef MONARC_PROFILE_ANALYSIS_TABLES_H
#define MONARC_PROFILE_ANALYSIS_TABLES_H

#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/summary.h"

/* --- the flat profile --------------------------------------------------------------------------
 *
 * The flat profile: one row a function, as a plain table that every report prints.
 *
 * The law: self of all rows + omitted.self + unattributed == samples of the summary, and likewise
 * for calls: rows + omitted + unknown callees == calls read. Amounts of time are in samples. */

struct flat_row {
    uint32_t function;
    bool is_profiler; /* mcount and its kind: the cost of measuring */
    double self;
    double running; /* self of this row and all above it */
    double total;   /* with callees: samples in whose stack it is, where there are stacks; else as
                       `model` */
    double model;   /* self and callees', by the model of the call graph; of a member of a cycle,
                       without what the other members' callees took */
    uint64_t calls, recursive_calls; /* all calls; those of them by itself */
    struct interval interval;        /* of self's share of the samples */
    const char *file;                /* flat_locate(): where the source defines it; NULL: unknown */
    uint32_t line;
};

enum { FLAT_OWN = 5 };

/* What filters and limits kept out. */
struct flat_rest {
    uint32_t functions; /* that have time or calls */
    uint32_t idle;      /* those of them that rules.idle_percent alone keeps out */
    double self;
    uint64_t calls;
};

struct flat {
    const struct summary *summary;
    struct flat_row *rows;
    uint32_t len;
    struct flat_rest omitted;
    /* Where waits are set apart: their rows come last, `running` begins anew with them, `total` of
     * the others is time on the CPU, `omitted` has none of them. */
    double off;      /* samples off the CPU, of all functions; 0: nothing is set apart */
    uint32_t on_len; /* rows before those of waits; all rows if nothing is set apart */
    struct flat_rest omitted_waits;
    bool has_fractions; /* some self is not a whole number of samples */
    bool shows_model;
    uint32_t own[FLAT_OWN]; /* flat_find_own(): functions of the project, most total time first */
    uint32_t own_len;
};

/* What rows are sorted by; ties go to self time, calls, then name. */
enum view_sort { BY_SELF, BY_TOTAL, BY_CALLS, BY_NAME };

/* What of a table is wanted, and in which order; for the flat profile and the graph. */
struct view_rules {
    enum view_sort sort;
    bool has_sort;
    bool shows_all;        /* functions without time and calls, too */
    uint64_t limit;        /* rows; 0: all */
    double min_percent;    /* of all samples: the self share of a row, the total of an entry */
    double idle_percent;   /* flat: so much self time is as good as none in a row without calls */
    bool shows_model;      /* results of the call graph's model, beside measured totals */
    bool sets_waits_apart; /* flat: where there is time on the CPU as well */
    bool is_short;         /* flat: without the table of the project's own functions */
    const struct filter *filter;
};

/* Rows of all functions of the graph that pass the filter, sorted, and cut at the limit. */
void flat_make(struct flat *t, const struct summary *s, const struct graph *g, struct names *names,
               const struct view_rules *rules, struct arena *a);

/* function_program_place() of as many rows as a person reads. */
void flat_locate(struct flat *t, const struct functions *f, struct object *const *objects);

/* A function's samples with callees, of those on the CPU where waits are set apart. For recordings
 * with stacks. */
double flat_total(const struct flat *t, uint32_t function);

/* Finds the project's own functions with the most total time, if the first row is of other code.
 * Those that all but all samples went through, as main(), say nothing, and are left out. */
void flat_find_own(struct flat *t, const struct functions *f, struct object *const *objects);

/* Per call, in samples; negative: there were no calls, or no samples. Recursion is divided out of
 * the total, since it is inclusive. */
static inline double flat_self_per_call(const struct flat_row *r)
{
    return r->calls ? r->self / (double)r->calls : -1;
}

static inline double flat_total_per_call(const struct flat_row *r)
{
    uint64_t entered = r->calls - r->recursive_calls;
    return entered ? r->total / (double)entered : -1;
}

/* --- shares ------------------------------------------------------------------------------------
 *
 * How the samples of a recording are shared among its objects, threads, processes, or the values of
 * a label. */

/* A function's samples in one thread, or with one value. */
struct thread_share {
    uint32_t function;
    double self, total;
};

/* An object, a thread, a process or a value; of which the other fields are 0. */
struct share_row {
    const char *name;
    double samples;
    uint64_t calls;                /* objects: of their functions */
    uint32_t thread, pid;          /* threads: the system's numbers; thread 0: several together */
    uint64_t cpu_ns, recording_ns; /* threads: CPU time, and time from start to end or writing */
    const struct thread_share *functions; /* threads, values: what ran, most samples first */
    size_t functions_len;
    const struct recording_process *process; /* processes */
    bool is_none;                            /* of samples without the label */
};

enum shares_kind { SHARES_OBJECTS, SHARES_THREADS, SHARES_PROCESSES, SHARES_LABELS };

/* Rows by samples, most first; processes as they started. What is in no row is unattributed. */
struct shares {
    const struct summary *summary;
    enum shares_kind kind;
    const char *key; /* SHARES_LABELS: of which label */
    struct share_row *rows;
    uint32_t len;
    double rest;
};

/* By label: the samples with each value of a key, and what ran; one row is of those without it.
 *
 * By object: self samples and calls of its functions. By thread: its samples, and what it ran. By
 * process: its samples and CPU time. `frames` as in stacks_measure(). */
void shares_by_object(struct shares *t, const struct summary *s, const struct space *space,
                      const struct graph *g, struct arena *a);
void shares_by_thread(struct shares *t, const struct summary *s, const struct space *space,
                      const struct functions *f, const struct call_frames *frames,
                      const struct recording_choice *c, struct arena *a);
void shares_by_label(struct shares *t, const struct summary *s, const struct space *space,
                     const struct functions *f, const struct call_frames *frames,
                     const struct recording_choice *c, const char *key, struct arena *a);
void shares_by_process(struct shares *t, const struct summary *s, const struct recording_choice *c,
                       struct arena *a);

/* --- entries of the call graph -----------------------------------------------------------------
 *
 * The call graph as entries: a function or a cycle, its callers above, its callees below.
 *
 * Amounts of time are in samples. Times along arcs are measured (graph_build_measured()) or the
 * model's estimate: a callee's time is split among its callers by call counts, and what flows in is
 * what flows out. The callers of an entry, with LINE_SPONTANEOUS and LINE_UNKNOWN, account for all
 * its time and calls. */

/* What a line of an entry stands for. */
enum line_kind {
    LINE_ARC,
    LINE_INTERNAL,    /* recursive calls or calls within the cycle: no time flows along them */
    LINE_SPONTANEOUS, /* no call was recorded: the start, signal handlers, callers without -pg */
    LINE_UNKNOWN,     /* called from no function of the program */
    LINE_MEMBER,      /* of the cycle that the entry is */
};

/* A line of an entry: one caller, callee or member. */
struct entry_line {
    enum line_kind kind;
    bool is_static;           /* the call stands in the code, and none was recorded */
    bool is_seen;             /* on stacks; it was not counted */
    uint32_t node;            /* NO_NODE for LINE_SPONTANEOUS and LINE_UNKNOWN */
    uint64_t calls, of;       /* along this arc; all calls of the callee or its cycle */
    uint64_t recursive_calls; /* of LINE_MEMBER */
    double self, children;
};

struct entry_lines {
    VEC(struct entry_line) all;
};

/* One entry. Reuse it for the next; entry_deinit() frees its lists. */
struct entry {
    uint32_t node, number; /* number: in brackets, from 1 */
    bool is_cycle;
    double self, children;
    uint64_t calls, recursive_calls;   /* calls from others; by itself or within the cycle */
    struct entry_lines callers, below; /* below: callees; of a cycle its members */
    struct arc_list scratch;
};

/* Which entries there are, in order. */
struct entries {
    const struct summary *summary;
    struct graph *graph;
    uint32_t *shown; /* nodes */
    uint32_t len;
    uint32_t
        *number; /* of all nodes that have time or calls; filters and limits do not change it */
    uint32_t omitted;
};

/* Ranks the graph's nodes if that has not been done. */
void entries_make(struct entries *t, const struct summary *s, struct graph *g, struct names *names,
                  const struct view_rules *rules, struct arena *a);

/* Fills the entry of a node with its lines, in the order in which they are printed: callers from
 * the least important, callees from the most. */
void entry_make(const struct entries *t, uint32_t node, struct entry *e);
void entry_deinit(struct entry *e);

/* --- trees of the model ------------------------------------------------------------------------
 *
 * Callers or callees of one function as a tree, level by level.
 *
 * The call graph holds pairs, not paths: what is deeper than one level is the model's estimate,
 * made by splitting time by call counts again at each step, and may never have run. (What ran is in
 * profile/analysis/recording/call_tree.h, where there are stacks.) The graph is one by calls, not a
 * measured one. Cycles are one node, so that every branch ends. */

/* A node of a tree, which may stand in it several times. */
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
    uint32_t function; /* that was requested; the root is its cycle, where it is in one */
    bool is_upward;
    bool has_paths; /* it may be deeper than the pairs that were recorded: the model's estimate */
    struct tree_row *rows;
    size_t len;
    bool is_cut; /* the limit of rows was reached */
};

/* Where branches are cut. */
struct tree_rules {
    uint32_t depth;     /* levels below the root */
    uint64_t limit;     /* rows */
    double min_percent; /* of all samples */
};

/* Rows in the order in which they are printed: depth first, the most important branch first. */
void tree_make(struct tree *t, const struct summary *s, const struct graph *g, uint32_t function,
               bool is_upward, const struct tree_rules *rules, struct arena *a);

/* --- lines -------------------------------------------------------------------------------------
 *
 * The line profile: one row a (function, file, line) in which something was measured.
 *
 * The function is the one whose source the line is in: for inlined code the inlined one. Samples of
 * a bin are split among the code in it by bytes, exactly as among functions, so that the law is the
 * flat profile's: self of all rows + omitted.self + unattributed == samples of the summary. Code
 * without a line has a row for its function, without file. Amounts of time are in samples. */

/* A way in which the code of a row came to be where it is: frames[0] is the place it was inlined
 * into, and so on outwards. None: it stands in its own function. */
struct line_chain {
    const struct object_frame *frames;
    uint32_t len;
    double self;
};

/* One place: a function, file and line. */
struct lines_row {
    uint32_t function; /* index into `functions` of the table, which has file and line, too */
    bool is_profiler;
    double self;
    double running;   /* self of this row and all above it */
    double total;     /* self, that of code inlined here and of what was called from here; each
                       * sample once. Without stacks, calls are not in it */
    uint64_t calls;   /* made from here */
    uint64_t entered; /* calls of functions that begin here */
    struct interval interval;
    const struct line_chain *chains; /* most samples first; only with inlines */
    uint32_t chains_len;
};

struct lines_table {
    const struct summary *summary;
    struct sharing sharing;     /* of a profile's bins among lines, by entry of `functions` */
    struct stacks stacks;       /* of a recording's stacks, by the same */
    struct functions functions; /* one entry a row, before any were left out */
    struct names names;         /* of these */
    struct lines_row *rows;
    uint32_t len;
    struct {
        uint32_t lines;
        double self;
        bool are_with_all; /* no filter left them out: --all shows them */
    } omitted;
    double without_line;         /* samples in functions, but on no line; part of rows */
    const char *const *lineless; /* names of objects in which that is all there is */
    size_t lineless_len;
    bool has_fractions, has_inlines;
    bool has_totals; /* those of rows are more than their self times */
};

/* What is asked about; the table points into all of it. */
struct lines_input {
    const struct functions *functions; /* native */
    struct object *const *objects;     /* by function.object; NULL elements: not to be had */
    const char *const *object_names;
    uint32_t objects_len;
    const struct profile *profile;
    const struct summary *summary;
    const char *demangle;                   /* style, or NULL */
    bool has_inlines;                       /* chains */
    const struct stack_lines_input *stacks; /* of a recording; NULL: there are none */
};

/* Everything lives in the arena; strings also in the objects. `rules.min_percent` is of self, or
 * of totals, where there are. */
void lines_make(struct lines_table *t, const struct lines_input *in, const struct view_rules *rules,
                struct arena *a);

#endif
