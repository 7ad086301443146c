/* Comparing: functions of two builds matched, runs of each added up, and what changed between them.
 *
 * run_set_add() adds a run to the old or the new set; comparison_make() compares both. Sets copy
 * what they need, so the runs may be closed. docs/comparing.md explains the model for readers. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_COMPARISON_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_COMPARISON_H

#include "base/map.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/functions.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "profile/analysis/tables.h"

/* --- identities --------------------------------------------------------------------------------
 *
 * What a function is known by, whichever build it is of: the basis of every comparison. */

struct identity {
    const char *name;   /* linkage name */
    const char *object; /* label; NULL: the executable */
    const char *file;   /* as debug information has it; NULL: unknown */
    uint32_t line;      /* where it begins; 0: unknown */
    uint64_t size;      /* bytes of code */
    int64_t within;     /* of lines: distance from the function's first line; else 0 */
    bool is_made;       /* stands for code without a symbol, or for none */
    bool is_inlined;    /* its code in the functions that it was inlined into */
    uint64_t build;     /* what its name is an address in; 0: it has a name of its own */
};

struct identities {
    struct identity *at;
    uint32_t len;
};

/* Of all functions of a table; texts are the table's. `objects` are by function.object, with NULL
 * elements; NULL: files are not wanted. */
void identities_of(struct identities *ids, const struct functions *f, struct object *const *objects,
                   struct arena *a);

/* --- matches -----------------------------------------------------------------------------------
 *
 * Which function of an old build is which of a new one.
 *
 * Functions are the same if their linkage names, objects and source files are; of several that
 * share a name those in files whose paths end alike. One whose name is left alone in another file
 * or object has moved. What remains may have been renamed: see match.c.
 */

enum match_kind { MATCH_NONE, MATCH_SAME, MATCH_MOVED, MATCH_RENAMED };

struct match {
    uint32_t *old_of; /* per new function, or NO_FUNCTION */
    uint32_t *new_of; /* per old function, likewise */
    uint8_t *kind;    /* per new function: enum match_kind */
};

/* Matches by name alone; match_similar() goes on where that leaves functions of both builds. */
void match_identities(struct match *m, const struct identities *old, const struct identities *new,
                      struct arena *a);

/* --- sets of runs ------------------------------------------------------------------------------
 *
 * One side of a comparison: what one or several runs measured, added up function by function and
 * copied, so that nothing of the runs need stay open. */

/* Values of runs, added up. */
struct run_sums {
    double sum, squares;
    double variance; /* that sampling explains, of all runs together */
};

/* A time over the runs. */
struct run_times {
    double samples, hits; /* hits: samples of equal weight that would be as certain */
    struct run_sums time, share;
};

struct run_set_function {
    const char *shown; /* the demangled name; NULL: nothing of it was measured */
    bool is_profiler;
    struct run_times self, total;
    uint64_t calls, least_calls, most_calls; /* of all runs; of one */
    uint32_t runs;                           /* that know the function */
};

enum total_unit { TOTAL_SECONDS, TOTAL_BYTES, TOTAL_COUNT };

/* When a run began, in ns of the system's clock (0: not known), and a total of it. */
struct run_value {
    uint64_t start_ns;
    double value;
};

/* Totals of whole runs, by name: "cpu_time", "elapsed_time", "peak_memory", "processes", or an
 * event's name. */
struct run_total {
    const char *name;
    enum total_unit unit;
    struct run_sums values;
    double least, most;         /* of one run */
    uint32_t runs;              /* that know it */
    VEC(struct run_value) each; /* of each of them */
};

/* How runs were made. Texts are the side's; "" and 0: not known. */
struct run_facts {
    const char *program, *command, *event, *processor;
    uint16_t machine; /* EM_... */
    uint32_t method, rate, cpus;
    bool is_part; /* of a process that ran before and goes on */
};

/* Calls from one function to another, of all runs. */
struct run_set_arc {
    uint32_t caller, callee;
    uint64_t calls;
};

struct run_set {
    struct arena arena;
    struct identities ids;              /* functions without measurements, too */
    struct run_set_function *functions; /* parallel */
    VEC(struct run_set_arc) arcs;
    struct map arc_of; /* (caller, callee) -> index */
    VEC(struct run_total) totals;
    VEC(struct run_facts) facts; /* of the recordings among the runs */
    VEC(const char *) profiles;
    const char *program, *dimension;
    uint32_t runs;
    double samples, effective; /* of all runs */
    double rate;               /* samples per unit; 0: unknown, or of the runs not the same */
    struct run_sums none; /* time of a function without samples: how sure is it that it has none? */
    struct run_sums none_share;
    double time; /* of all runs, in units of the dimension */
    uint64_t calls;
    bool has_time; /* samples are worth a known amount of it, in all runs */
    bool has_samples;
    bool has_stacks; /* totals are measured, in all runs */
    bool has_calls;
    bool is_of_lines;  /* `functions` are lines: see run_set.c */
    struct err unread; /* the first file of the runs that could not be read; "": none */
};

/* A finished analysis of one run. */
struct analysed_run {
    const struct summary *summary;
    const struct graph *graph;
    struct names *names;
    struct object *const *objects; /* by function.object; NULL elements: not to be had */
    const char *const *shown;      /* by function; NULL: `names` */
};

/* Adds a run. `s` is zeroed before the first one; nothing of the run is needed afterwards. */
void run_set_add(struct run_set *s, const struct analysed_run *run);
void run_set_deinit(struct run_set *s);

/* A function's self or total time, or share, of an average run, as the tests want it; zero for
 * NO_FUNCTION. */
enum time_kind { TIME_SELF, TIME_TOTAL };
struct amount run_set_time(const struct run_set *s, uint32_t function, enum time_kind m);
struct amount run_set_share(const struct run_set *s, uint32_t function, enum time_kind m);

/* Of a name, or NULL. */
const struct run_total *run_set_total(const struct run_set *s, const char *name);

/* Calls of an average run. */
static inline double run_set_calls(const struct run_set *s, uint32_t function)
{
    bool is_there = s->runs && function != NO_FUNCTION;
    return is_there ? (double)s->functions[function].calls / s->runs : 0;
}

/* --- lines -------------------------------------------------------------------------------------
 *
 * Runs added to a side line by line: its rows are places in the source instead of functions. */

/* `table` has all lines that were measured, and was made with inlines: what a line took in total is
 * its own time and that of the code that was inlined there. A line is known by its function and its
 * distance from the function's first line, so that what changed above the function does not matter;
 * of functions that have no code of their own by its number. Calls are those made from the line. */
void run_set_add_lines(struct run_set *s, struct lines_table *table,
                       const struct lines_input *from);

/* --- renamed functions -------------------------------------------------------------------------
 *
 * Functions that have another name now: of those that are gone and those that are new, the pairs
 * that resemble each other in name, size, file, calls and in whom they call and are called by. */

/* Books pairs into `m`. False: there are too many to compare each with each, and none was booked
 * but clones that differ in the compiler's suffix. */
bool match_similar(struct match *m, const struct run_set *old, const struct run_set *new);

/* --- the comparison ----------------------------------------------------------------------------
 *
 * Two sides compared, the whole first, then function by function: plain tables that every report
 * prints.
 *
 * Calls are exact. Times and shares come with the probability that chance alone makes them differ
 * as much, by the model of docs/comparing.md, corrected for the number of functions that were asked
 * about. Totals that a model of the call graph estimates have no such probability. */

/* How a function of one build stands to the other build. */
enum change_kind { CHANGE_KEPT, CHANGE_NEW, CHANGE_GONE, CHANGE_MOVED, CHANGE_RENAMED };
extern const char *const change_kind_names[];

/* A function's time of an average run, or its share of it (0 to 1). */
struct measured_change {
    double old, new;
    double margin; /* of the difference, with the rules' confidence; negative: not known */
    double chance; /* adjusted; negative: not known */
    bool is_meant; /* chance is small enough, and the change large enough */
};

struct change {
    uint32_t old, new; /* functions of the sides; NO_FUNCTION: not there */
    enum change_kind kind;
    struct measured_change self_time, total_time; /* where comparison.compares_time */
    struct measured_change self, total;           /* shares */
    double old_calls, new_calls;                  /* of an average run */
    const char *file; /* end of its source's path, where another row has its name; else NULL */
    bool calls_differ;
    bool is_found; /* the row is a finding: time, or calls, changed */
};

/* ---- the runs as a whole */

enum total_verdict {
    TOTAL_SAME,     /* exactly */
    TOTAL_UNSEEN,   /* no change beyond the variation of runs */
    TOTAL_MORE,     /* slower, more */
    TOTAL_LESS,     /* faster, less */
    TOTAL_UNJUDGED, /* there are too few runs */
};
extern const char *const total_verdict_names[];

struct total_change {
    const struct run_total *of_old, *of_new;
    const char *name;  /* "cpu_time" */
    const char *label; /* "CPU time" */
    enum total_unit unit;
    double old, new; /* of an average run */
    struct difference difference;
    double chance; /* of so large a difference; negative: exact, or not judged */
    enum total_verdict verdict;
    bool is_found;    /* it changed, and by enough to matter */
    const char *text; /* the verdict in words */
};

/* How it is judged, and what is shown. */
struct comparison_rules {
    double confidence; /* 0 to 1 */
    double least;      /* change that matters, as a part of the old side's whole, 0 to 1 */
    double noise;      /* what two runs are taken to differ by: NOISE_OF_RUNS */
    bool by_share;     /* judge and print shares in place of times */
    enum view_sort sort;
    bool has_sort;
    bool shows_all;              /* functions that did not change, too */
    uint64_t limit;              /* rows; 0: all */
    const struct filter *filter; /* of the rows, by name; NULL: all */
};

struct comparison {
    const struct run_set *old, *new;
    struct match match;
    struct comparison_rules rules;
    struct change *rows;
    uint32_t len;
    VEC(struct total_change) totals;
    uint32_t totals_changed;
    uint32_t unchanged, limited; /* measured functions that are in no row, and why */
    uint32_t changed;            /* of all: rows or limited */
    double found_time;           /* sum of the changes of self time that are meant */
    uint32_t by_kind[CHANGE_RENAMED + 1], calls_changed, self_changed, total_changed;
    bool compares_samples, compares_calls;
    bool compares_time; /* both sides' samples stand for times, or events, of one kind */
    bool one_waits;     /* waits were recorded on one side alone: only self times are compared */
    bool by_share;      /* as the rules say, or because times cannot be compared */
    bool is_assumed;    /* no side has several runs */
    struct noise times; /* of functions */
    bool has_renames;   /* renamed functions were looked for */
};

/* Everything but `totals` lives in the arena; comparison_deinit() frees those. */
void comparison_make(struct comparison *c, const struct run_set *old, const struct run_set *new,
                     const struct comparison_rules *rules, struct arena *a);

/* What is judged and sorted by: times, or shares. */
static inline const struct measured_change *change_self(const struct comparison *c,
                                                        const struct change *row)
{
    return c->by_share ? &row->self : &row->self_time;
}
static inline const struct measured_change *change_total(const struct comparison *c,
                                                         const struct change *row)
{
    return c->by_share ? &row->total : &row->total_time;
}

void comparison_deinit(struct comparison *c);

/* Whether the samples of a side hold waits (--off-cpu). */
bool comparison_waits(const struct run_set *s);

/* How many runs a side would show a change by `growth`, as margins shrink with the root of the
 * `runs` that there are; 0: as many as these, or more than one would make. */
double runs_needed(const struct difference *d, double runs, double growth);

/* Fills `totals`. */
void comparison_judge_totals(struct comparison *c, struct arena *a);

/* Whether something changed: a function, or the whole. */
static inline bool comparison_has_findings(const struct comparison *c)
{
    return c->changed || c->totals_changed;
}

/* Which kind of noise a function has. */
enum noise_kind comparison_noise_kind(const struct comparison *c, const struct change *row);

/* What a row is about: the new build's function, or the old one's. */
const struct identity *change_identity(const struct comparison *c, const struct change *row);
const char *change_name(const struct comparison *c, const struct change *row);

/* Calls in parts of the old ones: 0.03 are 3 % more. INFINITY where there were none. */
double change_calls_growth(const struct change *row);

/* --- in words ----------------------------------------------------------------------------------
 *
 * What every form of the report says alike. */

/* Times of a run with an attached recorder are of the stretch that was recorded. */
bool comparison_side_is_part(const struct run_set *s);

/* One sentence: how the CPU time changed, and where most. NULL: it is not known of both sides. */
const char *comparison_answer(const struct comparison *c, struct arena *a);

/* What a row is besides its name: "new", "was NAME", "was in FILE"; empty of what is where it was.
 */
const char *comparison_remark(const struct comparison *c, const struct change *row,
                              struct arena *a);

/* In what times, or numbers of events, are printed, so that the largest has few digits. */
struct amount_scale {
    double factor; /* amount times factor is printed */
    const char *unit;
    int digits;
};
/* Of the new side's dimension; both sides are printed in it. */
struct amount_scale comparison_scale(const struct comparison *c);

/* An old or new total with its unit, "1.234 s"; 32 bytes. */
void comparison_total_text(char *into, size_t size, const struct total_change *t, double value);

/* --- samples of single runs --------------------------------------------------------------------
 *
 * Of what no run_set has rows for, as the lines of one source. */

struct sample_change {
    double old, new; /* self samples */
    bool is_meant;   /* as in struct measured_change */
};
/* For all `len` together, by the rules of diff without options. */
void sample_changes_judge(struct sample_change *at, size_t len, const struct summary *old,
                          const struct summary *new);

/* --- a baseline --------------------------------------------------------------------------------
 *
 * A comparison looked up from its new side, for reports that show the old one beside their rows. */

struct baseline {
    struct run_set old, new;
    struct comparison comparison;
    const struct change **change_of; /* per function that is shown; NULL: nothing was measured */
    uint32_t len;
    struct arena arena;
};

/* When both sides are filled in; compared by the rules of diff without options, all rows. `shown`
 * are the functions of the report; NULL: the new side has a single run, whose numbers they have. */
void baseline_make(struct baseline *b, const struct identities *shown);
void baseline_deinit(struct baseline *b);

/* The row of a function that is shown; NULL: neither side measured it. */
const struct change *baseline_change(const struct baseline *b, uint32_t function);

/* Calls from one function to another in an average run of the base. */
double baseline_arc_calls(const struct baseline *b, uint32_t caller, uint32_t callee);

#endif
