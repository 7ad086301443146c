/* A result on coverage held against another one, or against a patch.
 *
 * Three questions: what changed between two results, source by source (struct coverage_change);
 * the class of each line of one source (line_changes_each); and which of the lines that a patch
 * adds or changes were run (struct patch_coverage). All three compare lines only where they are
 * sure to be the same, and keep what is unknown apart. */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_CHANGE_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_CHANGE_H

#include "coverage/analysis/coverage_result.h"
#include "coverage/model/coverage.h"

/* ---- two results
 *
 * Sources are the same if their shown paths are; those that are left, if the ends of their paths
 * are the same and no others' are. Lines are compared in functions of one linkage name whose lines
 * with code lie alike from the first one on, wherever the function stands by now, and in sources
 * whose lines with code have not changed. Lines elsewhere count in the sums alone. */

#define NO_SOURCE UINT32_MAX

/* A line, in the new source, that ran on one side alone. */
struct changed_line {
    uint32_t line, old_line;
};

/* One source on either side or on both. Slices are of the lists of the whole comparison. */
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

/* ---- changes of a source's lines: lcov 2's differential classes, named in words
 *
 * A patch from the old source to the new one says which line was which; without one, line numbers
 * are taken to mean the same, and what was not there counts as newly counted, never as new. Lines
 * of which either count is unknown have no class. */

enum line_change {
    CHANGE_NONE,
    CHANGE_STILL_RUNS,     /* in lcov's terms CBC: covered baseline code */
    CHANGE_STILL_MISSED,   /* UBC: uncovered baseline code */
    CHANGE_GAINED,         /* GBC: gained baseline coverage */
    CHANGE_LOST,           /* LBC: lost baseline coverage */
    CHANGE_NEW_RUNS,       /* GNC: gained coverage of new code */
    CHANGE_NEW_MISSED,     /* UNC: uncovered new code */
    CHANGE_COUNTED_RUNS,   /* GIC: gained coverage of included code, which was not counted before */
    CHANGE_COUNTED_MISSED, /* UIC: uncovered included code */
    CHANGE_DROPPED_RAN,    /* ECB: excluded code that was covered: there, but no longer counted */
    CHANGE_DROPPED_MISSED, /* EUB: excluded code that was not */
    CHANGE_DELETED_RAN,    /* DCB: deleted code that was covered */
    CHANGE_DELETED_MISSED, /* DUB: deleted code that was not */
    CHANGES
};

/* What a patch does to one source: its files of the new and of the old side, NULL where the patch
 * does not touch them. All NULL: the source is as it was. */
struct patched_source {
    const struct patch *patch;
    const struct patch_file *now;
    const struct patch_old_file *old;
};

/* Called for each line that has a class, in no order: its number, of deleted lines the old one. */
typedef void line_change_taker(uint32_t line, enum line_change change, void *context);

/* `now` and `then`: the same source in two results; either may be NULL. */
void line_changes_each(const struct coverage_result *now_result, const struct result_source *now,
                       const struct coverage_result *then_result, const struct result_source *then,
                       const struct patched_source *p, line_change_taker *take, void *context);

/* The number that an old line has in the new file; 0: the patch removes it. */
uint32_t patch_new_line(const struct patched_source *p, uint32_t old);

/* ---- coverage of the lines that a patch adds or changes */

/* One file of the patch, held against the result. */
struct diff_file {
    const char *path; /* of the source, or of the patch */
    uint32_t source;  /* in the result, or NO_INDEX: nothing is known of this file */
    uint64_t added;   /* lines of the patch, with and without code */
    struct coverage_ratio lines, branches;
    uint32_t first_line, len; /* slice of `lines`: those with code */
};

struct patch_coverage {
    VEC(struct diff_file) files;
    VEC(uint32_t) lines; /* in the result */
    struct coverage_ratio sum, branches;
    struct coverage_ratio judged; /* by the gate: with lines of sources that are not here, missed */
    uint64_t unknown_files;
};

/* Finds the sources of the patch's files by their whole names; where no file of the patch has one,
 * by the longest end of a path. A line that the patch has twice counts once. The patch and the
 * result must outlive *out. */
void patch_coverage_build(const struct coverage_result *r, const struct patch *p,
                          struct patch_coverage *out);

/* Whether a file of the patch, old or new, is a source by its whole name: then all its names are
 * whole, and what only ends like a source is another file. */
bool patch_has_whole_names(const struct coverage_result *r, const struct patch *p);

/* The source of a file of a patch, by its name without the side's folder and with it, or NO_INDEX.
 */
uint32_t patch_source(const struct coverage_result *r, const char *path, const char *whole_path,
                      bool is_whole);
void patch_coverage_deinit(struct patch_coverage *d);

#endif
