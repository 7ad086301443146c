/* Execution counts of basic blocks, by line or one by one, in three forms of one table. */
#ifndef MONARC_PROFILE_REPORT_COUNTS_H
#define MONARC_PROFILE_REPORT_COUNTS_H

#include "profile/analysis/source_lines.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

struct counts_rules {
    uint64_t limit;  /* rows of the table for people; 0: all */
    bool by_place;   /* sorted by file and line, not by executions */
    bool has_blocks; /* each block, not each line */
    bool only_never; /* only what was never executed */
};

void counts_text(struct out *out, const struct report_input *in);
void counts_json(struct out *out, const struct report_input *in);
void counts_csv(struct out *out, const struct report_input *in);

#endif
