/* The static call graph: calls that stand in the code, whether or not they were made.
 *
 * Ours: direct calls, and direct jumps to the entry of another function (tail calls), anywhere in
 * the program. GNU gprof's -c: of x86, AArch64, MIPS and SPARC; calls (on AArch64 also jumps)
 * within .text whose two ends both lie in what the histograms cover. */
#ifndef MONARC_ANALYSIS_STATIC_CALLS_H
#define MONARC_ANALYSIS_STATIC_CALLS_H

#include "profile/analysis/functions.h"
#include "profile/model/profile.h"

struct static_call {
    uint32_t caller, callee;
};

/* By caller in address order, then by call site; the same pair may occur again. */
struct static_calls {
    struct static_call *at;
    size_t len;
};

/* False, with no calls, where the machine's code cannot be read (GNU's: by GNU gprof). */
MUST_CHECK bool static_calls_native(struct static_calls *calls, const struct functions *f,
                                    struct object *o, struct arena *a);
MUST_CHECK bool static_calls_gnu(struct static_calls *calls, const struct functions *f,
                                 struct object *o, const struct profile *p, struct arena *a);

#endif
