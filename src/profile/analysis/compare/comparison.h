/* Two sides compared, the whole first, then function by function: plain tables that every report
 * prints.
 *
 * Calls are exact. Times and shares come with the probability that chance alone makes them differ
 * as much, by the model of docs/comparing.md, corrected for the number of functions that were asked
 * about. Totals that a model of the call graph estimates have no such probability. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_COMPARISON_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_COMPARISON_H

#include "profile/analysis/compare/match.h"
#include "profile/analysis/compare/side.h"
#include "profile/analysis/filter.h"
#include "profile/analysis/flat.h"

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
    bool calls_differ;
    bool is_found; /* the row is a finding: time, or calls, changed */
};

/* ---- the runs as a whole */

enum total_verdict {
    TOTAL_SAME,     /* exactly */
    TOTAL_UNSEEN,   /* no change that can be told from what runs differ by */
    TOTAL_MORE,     /* slower, more */
    TOTAL_LESS,     /* faster, less */
    TOTAL_UNJUDGED, /* there are too few runs */
};
extern const char *const total_verdict_names[];

struct total_change {
    const struct side_total *of_old, *of_new;
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

struct comparison_rules {
    double confidence; /* 0 to 1 */
    double least;      /* change that matters, as a part of the old side's whole, 0 to 1 */
    double noise;      /* what two runs are taken to differ by: NOISE_OF_RUNS */
    bool by_share;     /* judge and print shares in place of times */
    enum view_sort sort;
    bool has_sort;
    bool shows_all; /* functions that did not change, too */
    uint64_t limit; /* rows; 0: all */
};

struct comparison {
    const struct side *old, *new;
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
    bool by_share;      /* as the rules say, or because times cannot be compared */
    bool is_assumed;    /* no side has several runs */
    struct noise times; /* of functions */
    bool has_renames;   /* renamed functions were looked for */
};

/* Everything but `totals` lives in the arena; comparison_deinit() frees those. */
void comparison_make(struct comparison *c, const struct side *old, const struct side *new,
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

#endif
