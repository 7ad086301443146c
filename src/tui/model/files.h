/* The table of source files, with their time and their coverage. */
#ifndef MONARC_TUI_MODEL_FILES_H
#define MONARC_TUI_MODEL_FILES_H

#include "bridge/measured_sources.h"

enum file_sort {
    SORT_FILES_SELF,
    SORT_FILES_MISSED,
    SORT_FILES_PERCENT,
    SORT_FILES_NAME,
    SORT_FILES
};

struct files_input {
    const struct measured_sources *sources;
    const struct coverage_result *coverage, *base; /* NULL: none */
    bool has_time;                                 /* the sources have `self` */
    const char *filter; /* a regular expression, of what to leave out behind a `!` */
};

struct files_table {
    struct files_input in;
    VEC(uint32_t) rows; /* numbers of sources */
    enum file_sort sort;
    size_t hidden;
};

/* As functions_table_make(). */
MUST_CHECK bool files_table_make(struct files_table *t, const struct files_input *in,
                                 enum file_sort sort, struct err *e);
void files_table_deinit(struct files_table *t);

bool files_table_can_sort(const struct files_input *in, enum file_sort sort);

const struct measured_source *files_table_row(const struct files_table *t, size_t row);

/* What of the source is covered, now and in the base; NULL: it is not in there. */
const struct coverage_ratios *files_table_sums(const struct files_table *t, size_t row);
const struct coverage_ratios *files_table_old_sums(const struct files_table *t, size_t row);

#endif
