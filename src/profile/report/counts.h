/* Execution counts of basic blocks, by line or one by one, in three forms of one table. */
#ifndef MONARC_REPORT_COUNTS_H
#define MONARC_REPORT_COUNTS_H

#include "profile/analysis/source_lines.h"
#include "output/text.h"

struct counts_rules {
    uint64_t limit;  /* rows of the table for people; 0: all */
    bool by_place;   /* sorted by file and line, not by executions */
    bool has_blocks; /* each block, not each line */
    bool only_never; /* only what was never executed */
};

void counts_text(struct out *out, const struct source_lines *s, const struct summary *summary,
                 struct names *names, const struct counts_rules *rules);
void counts_json(struct out *out, const struct source_lines *s, const struct summary *summary,
                 struct names *names, const struct counts_rules *rules);
void counts_csv(struct out *out, const struct source_lines *s, struct names *names,
                const struct counts_rules *rules);

#endif
