/* What the writers of this room print: finished tables, of which a row of profile/report/reports.h
 * says which one it needs; the others may be NULL. */
#ifndef MONARC_PROFILE_REPORT_INPUT_H
#define MONARC_PROFILE_REPORT_INPUT_H

#include "output/text.h"

struct report_input {
    struct text_style style; /* of text */
    struct names *names;
    const struct summary *summary;

    const struct flat *flat;
    const struct shares *shares;
    size_t shown_functions; /* of a thread, by text */
    const struct entries *entries;
    const struct tree *trees; /* of one profile: they make one report */
    size_t trees_len;         /* at least 1 */
    const struct call_report *call_trees;
    struct lines_table *lines;
    const struct line_paths *paths;
    const struct annotated *annotated;
    const struct source_lines *source_lines;
    const struct counts_rules *counts;
    const struct diagnosis *diagnosis;
    const struct diagnosis_input *diagnosed;
    const struct layout *layout;
    const struct layout_gain *gain;
    const char *layout_path; /* where it went */
    const struct flame *flame;
    const struct comparison *comparison;
    const struct baseline *base; /* an older measurement beside the table; or NULL */
};

typedef void report_writer(struct out *out, const struct report_input *in);

#endif
