/* The call graph as entries: a function or a cycle, its callers above, its callees below.
 *
 * Amounts of time are in samples. Times along arcs are measured (graph_measured.h) or the model's
 * estimate: a callee's time is split among its callers by call counts, and what flows in is what
 * flows out. The callers of an entry, with LINE_SPONTANEOUS and LINE_UNKNOWN, account for all its
 * time and calls. */
#ifndef MONARC_PROFILE_ANALYSIS_ENTRIES_H
#define MONARC_PROFILE_ANALYSIS_ENTRIES_H

#include "profile/analysis/flat.h"

enum line_kind {
    LINE_ARC,
    LINE_INTERNAL,    /* calls of itself or within the cycle: no time flows along them */
    LINE_SPONTANEOUS, /* no call was recorded: the start, signal handlers, callers without -pg */
    LINE_UNKNOWN,     /* called from no function of the program */
    LINE_MEMBER,      /* of the cycle that the entry is */
};

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

/* Ranks the graph's nodes if nobody has. */
void entries_make(struct entries *t, const struct summary *s, struct graph *g, struct names *names,
                  const struct view_rules *rules, struct arena *a);

void entry_make(const struct entries *t, uint32_t node, struct entry *e);
void entry_deinit(struct entry *e);

/* Calls of a function whose callers are in no function of the program. */
uint64_t graph_unknown_calls(const struct graph *g, uint32_t function);

#endif
