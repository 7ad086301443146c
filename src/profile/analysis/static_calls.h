/* The static call graph: calls that stand in the code, whether or not they were made.
 *
 * They are direct calls, and direct jumps to the entry of another function (tail calls), anywhere
 * in the program; other rules may take less. */
#ifndef MONARC_PROFILE_ANALYSIS_STATIC_CALLS_H
#define MONARC_PROFILE_ANALYSIS_STATIC_CALLS_H

#include "profile/analysis/functions.h"
#include "objfile/code/calls.h"

struct static_call {
    uint32_t caller, callee;
};

/* By caller in address order, then by call site; the same pair may occur again. */
struct static_calls {
    struct static_call *at;
    size_t len;
};

/* False, with no calls, where the machine's code cannot be read. */
MUST_CHECK bool static_calls_native(struct static_calls *calls, const struct functions *f,
                                    struct object *o, struct arena *a);

struct static_call_rules {
    const struct code_range *ranges;  /* of each function, what is read; an empty one is not */
    const struct code_range *targets; /* a call must go into one of them; NULL: anywhere */
    size_t targets_len;
    bool takes_jumps;     /* direct jumps to the entry of a function count as calls */
    bool takes_own_entry; /* those to the entry of the function they are in, too */
};

MUST_CHECK bool static_calls_find(struct static_calls *calls, const struct functions *f,
                                  struct object *o, const struct static_call_rules *rules,
                                  struct arena *a);

#endif
