/* Trees of recorded stacks as text, JSON (docs/schema/call_tree.schema.json) and CSV. */
#ifndef MONARC_PROFILE_REPORT_CALL_TREE_H
#define MONARC_PROFILE_REPORT_CALL_TREE_H

#include "profile/analysis/recording/call_tree.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

/* One tree, or one for each function that was asked for; `len` is at least 1. */
struct call_report {
    const struct summary *summary;
    const struct named_frames *frames;
    struct names *names; /* of the functions of `frames` */
    const struct call_rows *trees;
    const uint32_t *functions; /* per tree: whose it is; of all stacks NO_FUNCTION */
    size_t len;
    double min_percent; /* what was folded */
    bool is_percent_of_rows;
};

void call_tree_text(struct out *out, const struct report_input *in);
void call_tree_json(struct out *out, const struct report_input *in);
void call_tree_csv(struct out *out, const struct report_input *in);

#endif
