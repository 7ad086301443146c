/* Two results on coverage compared, source by source.
 *
 * Sources are the same if their shown paths are; those that are left if the ends of their paths
 * are, and no others' are. Lines are compared where they are sure to be the
 * same ones: in functions of one linkage name whose lines with code lie alike from the first one
 * on, wherever the function stands by now; and in sources whose lines with code have not changed.
 * Lines elsewhere count in the sums alone. */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_CHANGE_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_CHANGE_H

#include "coverage/analysis/coverage_result.h"

#define NO_SOURCE UINT32_MAX

/* A line, in the new source, that ran on one side alone. */
struct changed_line {
    uint32_t line, old_line;
};

struct source_change {
    const char *path;
    uint32_t old, new; /* sources of the results; NO_SOURCE: not there */
    struct coverage_ratios old_sums, new_sums;
    uint32_t first_lost, lost;     /* slices of the arrays below */
    uint32_t first_gained, gained; /* likewise */
    uint64_t compared;             /* lines that were */
};

struct coverage_change {
    VEC(struct source_change) sources; /* by path; all that are on either side */
    VEC(struct changed_line) lost, gained;
    struct coverage_ratios old_sums, new_sums;
};

/* Into a zeroed *c; names stay the results'. */
void coverage_change_make(struct coverage_change *c, const struct coverage_result *old,
                          const struct coverage_result *new);
void coverage_change_deinit(struct coverage_change *c);

/* A source's lines that no longer run, and those that do now: as many as it says, NULL for none. */
static inline struct changed_line *source_lost(const struct coverage_change *c,
                                               const struct source_change *s)
{
    return s->lost ? &c->lost.at[s->first_lost] : NULL;
}

static inline struct changed_line *source_gained(const struct coverage_change *c,
                                                 const struct source_change *s)
{
    return s->gained ? &c->gained.at[s->first_gained] : NULL;
}

/* Whether anything of the source's sums or lines differs. */
bool source_change_is_any(const struct source_change *s);

/* Points by which the share of lines that ran is higher now; 0 where there is nothing to compare.
 */
double source_change_points(const struct source_change *s);

#endif
