/* One side of a comparison: what one or several runs measured, added up function by function and
 * copied, so that nothing of the runs need stay open. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_SIDE_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_SIDE_H

#include "base/map.h"
#include "profile/analysis/compare/identity.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"

/* Values of runs, added up. */
struct side_sums {
    double sum, squares;
    double variance; /* that sampling explains, of all runs together */
};

/* A time over the runs. */
struct side_time {
    double samples, hits; /* hits: samples of equal weight that would be as certain */
    struct side_sums time, share;
};

struct side_function {
    const char *shown; /* the demangled name; NULL: nothing of it was measured */
    bool is_profiler;
    struct side_time self, total;
    uint64_t calls, least_calls, most_calls; /* of all runs; of one */
    uint32_t runs;                           /* that know the function */
};

enum total_unit { TOTAL_SECONDS, TOTAL_BYTES, TOTAL_COUNT };

/* What is known of runs as a whole, by name: "cpu_time", "elapsed_time", "peak_memory",
 * "processes", or an event's name. */
struct side_total {
    const char *name;
    enum total_unit unit;
    struct side_sums values;
    double least, most; /* of one run */
    uint32_t runs;      /* that know it */
};

/* How runs were made. Texts are the side's; "" and 0: not known. */
struct side_facts {
    const char *program, *command, *event, *processor;
    uint16_t machine; /* EM_... */
    uint32_t method, rate, cpus;
    bool is_part; /* of a process that ran before and goes on */
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
    VEC(struct side_total) totals;
    VEC(struct side_facts) facts; /* of the recordings among the runs */
    VEC(const char *) profiles;
    const char *program, *dimension;
    uint32_t runs;
    double samples, effective; /* of all runs */
    double rate;               /* samples per unit; 0: unknown, or of the runs not the same */
    struct side_sums
        none; /* time of a function without samples: how sure is it that it has none? */
    struct side_sums none_share;
    double time; /* of all runs, in units of the dimension */
    uint64_t calls;
    bool has_time; /* samples are worth a known amount of it, in all runs */
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

/* A function's self or total time, or share, of an average run, as the tests want it; zero for
 * NO_FUNCTION. */
enum side_measure { SIDE_SELF, SIDE_TOTAL };
struct amount side_time_of(const struct side *s, uint32_t function, enum side_measure m);
struct amount side_share_of(const struct side *s, uint32_t function, enum side_measure m);

/* Of a name, or NULL. */
const struct side_total *side_total_of(const struct side *s, const char *name);

/* Calls of an average run. */
double side_calls(const struct side *s, uint32_t function);

#endif
