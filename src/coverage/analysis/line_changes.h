/* What became of the lines of a source between two measurements: lcov 2's differential classes,
 * named in words.
 *
 * A patch from the old source to the new one says which line was which; without one, line numbers
 * are taken to mean the same, and what was not there counts as newly counted, never as new. Lines
 * of which either count is unknown have no class. */
#ifndef MONARC_COVERAGE_ANALYSIS_LINE_CHANGES_H
#define MONARC_COVERAGE_ANALYSIS_LINE_CHANGES_H

#include "coverage/analysis/coverage_result.h"
#include "coverage/model/patch.h"

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

/* Told of each line that has a class, in no order: its number, of deleted lines the old one. */
typedef void line_change_taker(uint32_t line, enum line_change change, void *context);

/* `now` and `then`: the same source in two results; either may be NULL. */
void line_changes_each(const struct coverage_result *now_result, const struct result_source *now,
                       const struct coverage_result *then_result, const struct result_source *then,
                       const struct patched_source *p, line_change_taker *take, void *context);

/* The number that an old line has in the new file; 0: the patch removes it. */
uint32_t patch_new_line(const struct patched_source *p, uint32_t old);

#endif
