/* Two sides compared, function by function: a plain table that every report prints.
 *
 * Calls are exact; shares of time come with the probability that chance alone makes them differ as
 * much, corrected for the number of functions that were asked about. Totals that a model of
 * the call graph estimates have no such probability. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_COMPARISON_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_COMPARISON_H

#include "profile/analysis/compare/match.h"
#include "profile/analysis/compare/side.h"
#include "profile/analysis/filter.h"
#include "profile/analysis/flat.h"

/* How a function of one build stands to the other build. */
enum change_kind { CHANGE_KEPT, CHANGE_NEW, CHANGE_GONE, CHANGE_MOVED, CHANGE_RENAMED };
extern const char *const change_kind_names[];

struct share_change {
    double old, new; /* 0 to 1 */
    double chance;   /* adjusted; negative: not known */
    bool is_meant;   /* chance is small enough, and the change large enough */
};

struct change {
    uint32_t old, new; /* functions of the sides; NO_FUNCTION: not there */
    enum change_kind kind;
    struct share_change self, total;
    double old_calls, new_calls; /* of an average run */
    bool calls_differ;
};

struct comparison_rules {
    double confidence; /* 0 to 1 */
    double least;      /* change of a share that matters, 0 to 1 */
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
    uint32_t unchanged, limited; /* measured functions that are in no row, and why */
    uint32_t changed;            /* of all: rows or limited */
    uint32_t by_kind[CHANGE_RENAMED + 1], calls_changed, self_changed, total_changed;
    bool compares_samples, compares_calls;
    bool has_renames; /* renamed functions were looked for */
};

/* Everything lives in the arena. */
void comparison_make(struct comparison *c, const struct side *old, const struct side *new,
                     const struct comparison_rules *rules, struct arena *a);

static inline bool change_is_any(const struct change *c)
{
    return c->kind != CHANGE_KEPT || c->calls_differ || c->self.is_meant || c->total.is_meant;
}

/* What a row is about: the new build's function, or the old one's. */
const struct identity *change_identity(const struct comparison *c, const struct change *row);
const char *change_name(const struct comparison *c, const struct change *row);

/* Calls in parts of the old ones: 0.03 are 3 % more. INFINITY where there were none. */
double change_calls_growth(const struct change *row);

#endif
