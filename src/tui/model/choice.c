/* What columns are called. */
#include "tui/model/choice.h"

static const char *const FUNCTIONS[FUNCTION_COLUMNS] = {
    [FUNCTION_SELF_SHARE] = "self%    share of samples, of the function itself",
    [FUNCTION_MARGIN] = "+-       by how much chance may have moved that share",
    [FUNCTION_OLD_SHARE] = "base%    the share in the base",
    [FUNCTION_CHANGE] = "change   the difference of both, in points",
    [FUNCTION_SELF] = "self     time of the function itself",
    [FUNCTION_TOTAL_SHARE] = "total%   share of samples, with callees",
    [FUNCTION_TOTAL] = "total    time with callees",
    [FUNCTION_CALLS] = "calls    how often it was called, as the profile has it",
    [FUNCTION_RUNS] = "runs     how often it ran, as coverage has it",
};

static const char *const SOURCE[SOURCE_COLUMNS] = {
    [SOURCE_SHARE] = "self%    share of samples",
    [SOURCE_OLD_SHARE] = "base%    the share in the base",
    [SOURCE_CHANGE] = "change   the difference of both, in points",
    [SOURCE_CALLS] = "calls    of functions that begin on the line",
    [SOURCE_COUNT] = "count    how often its blocks ran, as the profile has it",
    [SOURCE_COVERED] = "ran      how often it ran, as coverage has it",
    [SOURCE_SINCE] = "since    whether it ran in the base: lost, gained",
    [SOURCE_BRANCHES] = "branch   branches taken, of all",
    [SOURCE_CONDITIONS] = "cond     outcomes of conditions seen, of all",
    [SOURCE_LINE] = "line     its number",
};

static const char *const FILES[FILE_COLUMNS] = {
    [FILE_SELF_SHARE] = "self%    share of samples",
    [FILE_LINES] = "lines%   lines that ran, of all",
    [FILE_BASE] = "base%    the same in the base",
    [FILE_MISSED] = "missed   lines that never ran",
    [FILE_OF] = "of       lines with code",
    [FILE_BRANCHES] = "branch%  branches taken, of all",
    [FILE_FUNCTIONS] = "func%    functions that ran, of all",
};

const struct column_list function_columns = {FUNCTIONS, FUNCTION_COLUMNS};
const struct column_list source_columns = {SOURCE, SOURCE_COLUMNS};
const struct column_list file_columns = {FILES, FILE_COLUMNS};
