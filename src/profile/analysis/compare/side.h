/* One side of a comparison: what one or several runs measured, added up function by function and
 * copied, so that nothing of the runs need stay open. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_SIDE_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_SIDE_H

#include "base/map.h"
#include "profile/analysis/compare/identity.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"

/* A time over the runs: samples, and the sum of shares and of their squares. */
struct side_time {
    double samples, shares, squares;
};

struct side_function {
    const char *shown; /* the demangled name; NULL: nothing of it was measured */
    bool is_profiler;
    struct side_time self, total;
    uint64_t calls, least_calls, most_calls; /* of all runs; of one */
    uint32_t runs;                           /* that know the function */
};

/* Calls from one function to another, of all runs. */
struct side_arc {
    uint32_t caller, callee;
    uint64_t calls;
};

struct side {
    struct arena arena;
    struct identities ids;           /* functions without measurements, too */
    struct side_function *functions; /* parallel */
    VEC(struct side_arc) arcs;
    struct map arc_of; /* (caller, callee) -> index */
    VEC(const char *) profiles;
    const char *program, *dimension;
    uint32_t runs;
    double samples, effective; /* of all runs */
    double rate;               /* samples per unit; 0: unknown, or of the runs not the same */
    uint64_t calls;
    bool has_samples;
    bool has_stacks; /* totals are measured, in all runs */
    bool has_calls;
    bool is_of_lines; /* `functions` are lines: see side_lines.h */
};

/* A finished analysis of one run. */
struct side_run {
    const struct summary *summary;
    const struct graph *graph;
    struct names *names;
    struct object *const *objects; /* by function.object; NULL elements: not to be had */
    const char *const *shown;      /* by function; NULL: `names` */
};

/* `s` is zeroed before the first run. */
void side_add(struct side *s, const struct side_run *run);
/* The same of functions whose identities are known; `objects` are not looked at. */
void side_add_known(struct side *s, const struct side_run *run, const struct identities *ids);
void side_deinit(struct side *s);

/* A share as the tests want it; zero for NO_FUNCTION. */
struct measured_share side_self(const struct side *s, uint32_t function);
struct measured_share side_total(const struct side *s, uint32_t function);

/* Calls of an average run. */
double side_calls(const struct side *s, uint32_t function);

#endif
