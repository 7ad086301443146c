/* A source beside the base: the share of each line then, and lines that coverage lost or gained.
 *
 * Lines are compared where they are sure to be the same ones. If the file is older than the base's
 * measurement, all of them are. Otherwise those in functions of one name whose lines with code lie
 * alike from the first one on, wherever the function stands by now. */
#ifndef MONARC_TUI_MODEL_SOURCE_OLDER_H
#define MONARC_TUI_MODEL_SOURCE_OLDER_H

#include "coverage/analysis/coverage_change.h"
#include "tui/model/older.h"
#include "tui/model/source.h"

struct source_older_input {
    const struct measurement *now;
    const struct older *older;            /* NULL: no profile to compare with, or without lines */
    int64_t older_at;                     /* when it was measured; seconds since 1970, 0: unknown */
    const struct coverage_change *change; /* NULL: no coverage to compare with */
    struct measured_sources *sources;
};

/* After source_table_open(). */
void source_table_compare(struct source_table *t, const struct source_older_input *in);

#endif
