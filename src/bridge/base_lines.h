/* Lines of an older measurement, the base, under the numbers that they have today. */
#ifndef MONARC_BRIDGE_BASE_LINES_H
#define MONARC_BRIDGE_BASE_LINES_H

#include "bridge/bridge.h"
#include "coverage/analysis/coverage_change.h"

struct base_line {
    uint32_t line;
    double self, now; /* samples, of the base and of today */
    uint64_t calls;   /* of the base */
    bool is_meant;    /* its time has changed by more than chance explains, and by enough */
};

/* One source: lines of which it is sure what they were, as far as either side measured them, and
 * the rest of what the base measured in the source. */
struct base_source {
    VEC(struct base_line) lines; /* ascending */
    double elsewhere;
};

struct base_lines {
    struct arena arena;
    struct base_source *of; /* by number of the source; NULL: there is no base */
    size_t len;
};

/* Both sides have extents. */
struct base_lines_input {
    const struct source_lines *now, *then;
    const struct summary *summary, *old_summary;
    struct measured_sources *files;       /* of today */
    const struct patched_source *patched; /* by source, `now` NULL: not touched; or NULL */
    const bool *is_unchanged; /* by source: the base was compiled from the same text; or NULL */
};

void base_lines_make(struct base_lines *b, const struct base_lines_input *in);
void base_lines_deinit(struct base_lines *b);

#endif
