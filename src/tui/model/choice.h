/* Columns that one can choose: those that are hidden are not drawn, and leave room for others. */
#ifndef MONARC_TUI_MODEL_CHOICE_H
#define MONARC_TUI_MODEL_CHOICE_H

#include <stddef.h>
#include <stdint.h>

enum function_column {
    FUNCTION_SELF_SHARE,
    FUNCTION_MARGIN,
    FUNCTION_OLD_SHARE,
    FUNCTION_CHANGE,
    FUNCTION_SELF,
    FUNCTION_TOTAL_SHARE,
    FUNCTION_TOTAL,
    FUNCTION_CALLS,
    FUNCTION_RUNS,
    FUNCTION_COLUMNS
};

enum source_column {
    SOURCE_SHARE,
    SOURCE_OLD_SHARE,
    SOURCE_CHANGE,
    SOURCE_CALLS,
    SOURCE_COUNT,
    SOURCE_COVERED,
    SOURCE_SINCE,
    SOURCE_BRANCHES,
    SOURCE_CONDITIONS,
    SOURCE_LINE,
    SOURCE_COLUMNS
};

enum file_column {
    FILE_SELF_SHARE,
    FILE_LINES,
    FILE_BASE,
    FILE_MISSED,
    FILE_OF,
    FILE_BRANCHES,
    FILE_FUNCTIONS,
    FILE_COLUMNS
};

/* What columns are called where they are chosen, by their numbers. */
struct column_list {
    const char *const *names;
    size_t len; /* 0: a table without any to choose */
};

extern const struct column_list function_columns, source_columns, file_columns;

#endif
