/* The call graph: calls that stand in the code, arcs that were counted, cycles, and times passed
 * from callees to callers, by gprof's model or as stacks measured them. */
#ifndef MONARC_PROFILE_ANALYSIS_GRAPH_GRAPH_H
#define MONARC_PROFILE_ANALYSIS_GRAPH_GRAPH_H

#include "base/vec.h"
#include "objfile/object.h"
#include "profile/analysis/attribution.h"
#include "profile/analysis/functions.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/model/profile.h"

/* --- static calls ------------------------------------------------------------------------------
 *
 * The static call graph: calls that stand in the code, whether or not they were made.
 *
 * They are direct calls, and direct jumps to the entry of another function (tail calls), anywhere
 * in the program; other rules may take less. */

struct static_call {
    uint32_t caller, callee;
};

/* By caller in address order, then by call site; the same pair may occur again. `unread` is why
 * unusual instructions were passed over, so that calls may be missing; NULL: none were. */
struct static_calls {
    struct static_call *at;
    size_t len;
    const char *unread;
};

/* False, with no calls, where the machine's code cannot be read. */
MUST_CHECK bool static_calls_native(struct static_calls *calls, const struct functions *f,
                                    struct object *o, struct arena *a);

/* Which code is read, and which of its branches are calls. */
struct static_call_rules {
    const struct code_range *ranges;  /* of each function, what is read; an empty one is not */
    const struct code_range *targets; /* a call must go into one of them; NULL: anywhere */
    size_t targets_len;
    bool takes_jumps;     /* direct jumps to the entry of a function count as calls */
    bool takes_own_entry; /* those to the entry of the function they are in, too */
};

/* The same by rules. Several threads decode; the result does not depend on how many. */
MUST_CHECK bool static_calls_find(struct static_calls *calls, const struct functions *f,
                                  struct object *o, const struct static_call_rules *rules,
                                  struct arena *a);

/* --- the graph ---------------------------------------------------------------------------------
 *
 * The call graph: arcs between functions, cycles, and time passed from callees to callers.
 *
 * gprof's model: a callee's time is split among its callers by how often each called it. Members of
 * a cycle (functions that call each other around) share one entry to which outside callers attach;
 * nothing flows between members. Amounts of time are in samples.
 *
 * Nodes 0 .. functions-1 are the functions of the table; node functions+c-1 is cycle c. Everything
 * lives in the arena given to graph_build(). */

#define NO_NODE UINT32_MAX

/* Calls from one function to another, all call sites together. */
struct graph_arc {
    uint32_t caller, callee;
    uint64_t count;
    double self, children; /* the callee's time, and its callees', that flow along this arc */
};

/* A function, or a cycle. */
struct graph_node {
    uint64_t calls;      /* from other functions; of a cycle: from outside it */
    uint64_t self_calls; /* from itself; of a cycle: between its members */
    double self;         /* own samples; of a cycle: its members' */
    double children;     /* what flows up from callees */
    double fraction;     /* part of this node's time that is passed on (a filter reduces it) */
    double shown_self, shown_children; /* the two above times `fraction` */
    uint32_t cycle;                    /* number from 1, or 0: in none */
    uint32_t head;                     /* the node that stands for it: itself, or its cycle's */
    uint32_t next_member;              /* in its cycle; of a cycle: the first; NO_NODE ends */
    uint32_t order;                    /* topological: callees have lower numbers than callers */
    uint32_t rank;                     /* from 1: the number in brackets */
    bool is_shown;
};

/* The arcs come first in the order in which the profile has their pairs, then static ones. */
struct graph {
    const struct functions *functions;
    struct graph_node *nodes;
    uint32_t len, cycles; /* len counts functions and cycles */
    struct graph_arc *arcs;
    uint32_t arcs_len;
    uint32_t measured_len; /* arcs after these are in the code alone: their count is 0 */
    struct graph_lists {
        uint32_t *start;      /* of each function's list; one more for the end of the last */
        uint32_t *arc;        /* newest first */
    } callers, callees;       /* arcs by callee, and by caller */
    uint32_t *cycle_of;       /* nodes[].cycle of the functions, close together */
    uint32_t *ranked;         /* nodes in order of rank */
    double shown_total;       /* sum of shown_self: what percentages refer to */
    bool is_measured;         /* by stacks: see below */
    uint64_t unknown_callers; /* calls whose caller lies in no function */
    uint64_t inner_calls;     /* from a function to a piece of itself; they are in no node either */
    uint64_t unknown_callees; /* calls to no function; they are in no node */
};

/* A function that is called from outside of the graph, and the node before which it is met. */
struct graph_root {
    uint32_t before, callee;
};

/* What a graph leaves out. Functions are asked about from the outermost callers inwards. */
struct graph_filter {
    const void *context; /* what all three get */
    bool (*admits_arc)(const void *context, uint32_t caller, uint32_t callee);
    /* Whether the function is shown, if one of its callers is (`is_inherited`) or none. */
    bool (*shows)(const void *context, uint32_t function, bool is_inherited);
    /* Whether it passes its time on: as large a part as its callers do, or, if they do not
     * (`is_inherited` is false), all of it. */
    bool (*passes_time)(const void *context, uint32_t function, bool is_inherited);
};

/* Entries without any measurement that have ranks and are no nodes, `count` of them from `start`
 * on. They have the name of the last function that starts there or before. */
struct unlisted_entries {
    uint64_t start;
    uint32_t count;
};

struct graph_rules {
    const struct graph_filter *filter; /* NULL: all is shown, and all time passed on */
    const struct static_calls *calls;  /* arcs to add where none was measured; NULL: none */
    const struct graph_root *roots;    /* by `before` */
    size_t roots_len;
    const struct unlisted_entries *unlisted; /* by address */
    uint32_t unlisted_len;
    bool labels_are_inside;       /* calls to untyped labels go to the function before */
    bool ignores_unknown_callers; /* calls from no function are not counted as calls */
    bool is_unranked; /* ranks are not requested: `ranked` and the nodes' `rank` stay empty */
};

/* Builds the graph in two steps: arcs and numbers of calls; then cycles, times and ranks. `t` may
 * be of a profile without histograms. The functions' names must be in order. */
void graph_connect(struct graph *g, const struct functions *f, const struct profile *p,
                   const struct attribution *t, struct graph_rules rules, struct arena *a);
void graph_propagate(struct graph *g, struct graph_rules rules, struct arena *a);

/* Numbers the nodes, and what the rules name as unlisted, by time. */
void graph_rank(struct graph *g, struct graph_rules rules, struct arena *a);

/* Both steps, and the names. */
void graph_build(struct graph *g, struct functions *f, const struct profile *p,
                 const struct attribution *t, struct graph_rules rules, struct arena *a);

/* The arcs of function f are lists->arc[i], i from lists->start[f] to before lists->start[f + 1].
 */
static inline bool graph_has_callers(const struct graph *g, uint32_t function)
{
    return g->callers.start[function] != g->callers.start[function + 1];
}

/* Whether the arc stands in the code, but no such call was recorded. */
static inline bool graph_arc_is_static(const struct graph *g, const struct graph_arc *arc)
{
    return (size_t)(arc - g->arcs) >= g->measured_len;
}

/* From the least important. */
enum arc_class { CALLS_ITSELF, CALLS_WITHIN_CYCLE, CALLS };

/* A list of arcs of its own, for sorting. */
struct sortable_arc {
    uint32_t arc, class;
    double time;
    uint64_t count;
};

struct arc_list {
    VEC(struct sortable_arc) all;
    VEC(struct sortable_arc) copy; /* for sorting long lists */
    VEC(uint32_t) order;
};

void arc_list_deinit(struct arc_list *list);

/* Fills `list` with the callers of a function in ascending, or its callees in descending order of
 * importance: calls to itself, calls within the cycle by count, then others by time and count. */
void graph_sort_callers(const struct graph *g, uint32_t function, struct arc_list *list);
void graph_sort_callees(const struct graph *g, uint32_t function, struct arc_list *list);

/* Puts the members of a cycle in descending order of time, then of calls, recursive ones
 * included. */
void graph_sort_members(struct graph *g, uint32_t cycle_node);

/* What reports call the node of a cycle, by its number. */
#define GRAPH_CYCLE_NAME "<cycle %" PRIu32 " as a whole>"

static inline bool graph_is_cycle(const struct graph *g, uint32_t node)
{
    return node >= g->functions->len;
}

/* The nodes in the order of a visit that has nothing to do with memory, the one at hand first; and
 * what a visitor reads of the other ends of a node's arcs: an array of one element a node. */
struct graph_visit {
    const uint32_t *next;
    uint32_t len; /* of `next`, with the one at hand */
    int step;     /* from one to the next: 1 or -1 */
    const void *ends;
    size_t end_bytes; /* of one element */
};

/* Brings nearer what the visits that follow will read: each stage relies on what the one before it
 * brought some visits earlier. Of 100,000 functions and 400,000 arcs GNU's call graph takes a
 * seventh less time. */
void graph_look_ahead(const struct graph *g, const struct graph_visit *visit);

/* Whether the arc joins two members of one cycle or a function with itself. */
static inline bool graph_arc_is_internal(const struct graph *g, const struct graph_arc *arc)
{
    uint32_t cycle = g->cycle_of[arc->caller];
    return arc->caller == arc->callee || (cycle && cycle == g->cycle_of[arc->callee]);
}

/* --- times of stacks ---------------------------------------------------------------------------
 *
 * The call graph with times that were measured: whole call stacks say how much of a function's time
 * belongs to which of its callers, so that nothing is split by call counts and functions that call
 * each other around keep times of their own.
 *
 * Calls that only the stacks know, of functions compiled without -pg, have arcs of count 0, as
 * static ones have. A caller that is on a stack further out as well counts once; so the times of a
 * function's callers add up to more than its own where there is recursion among them. */

/* In place of graph_build(), without ranks. No nodes are cycles. */
void graph_build_measured(struct graph *g, struct functions *f, const struct profile *p,
                          const struct attribution *t, const struct stacks *stacks,
                          struct arena *a);

#endif
