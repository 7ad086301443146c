/* The table of functions: those of a profile, those of coverage, and, in a comparison, those that
 * are gone. Its figures are the flat profile's and the coverage result's. */
#ifndef MONARC_TUI_MODEL_FUNCTIONS_H
#define MONARC_TUI_MODEL_FUNCTIONS_H

#include "coverage/analysis/coverage_result.h"
#include "tui/model/measurement.h"
#include "tui/model/older.h"

enum function_sort {
    SORT_FUNCTIONS_SELF,
    SORT_FUNCTIONS_TOTAL,
    SORT_FUNCTIONS_CALLS,
    SORT_FUNCTIONS_CHANGE, /* of self's share, whichever way */
    SORT_FUNCTIONS_RUNS,   /* what never ran first */
    SORT_FUNCTIONS_NAME,
    SORT_FUNCTIONS
};

/* Any of the three may be missing, not all. */
struct function_row {
    const struct flat_row *flat, *old;
    uint32_t covered; /* function of the coverage result, or UINT32_MAX */
};

struct functions_input {
    struct measurement *measured; /* NULL: there is no profile */
    const struct coverage_result *coverage;
    const struct older *base; /* NULL: nothing to compare with */
    const char *object;       /* only functions in it; NULL: all */
    const char *filter;       /* a regular expression, of what to leave out behind a `!` */
};

struct functions_table {
    struct functions_input in;
    struct arena arena;
    struct flat flat;
    VEC(struct function_row) rows;
    enum function_sort sort;
    uint32_t hidden; /* rows that the filter and the object leave out */
};

/* Makes the rows anew for what is in `in` and `sort`, in a table that is zeroed or was made before.
 * False, and the rows as they were, if the filter is not a regular expression. */
MUST_CHECK bool functions_table_make(struct functions_table *t, const struct functions_input *in,
                                     enum function_sort sort, struct err *e);
void functions_table_deinit(struct functions_table *t);

/* Whether there is something to sort by. */
bool functions_table_can_sort(const struct functions_input *in, enum function_sort sort);

const char *function_row_name(const struct functions_table *t, const struct function_row *r);

/* The label of the object that the function is in, or NULL. */
const char *function_row_object(const struct functions_table *t, const struct function_row *r);

/* Shares of all samples, now and then; their difference. */
double function_row_share(const struct functions_table *t, const struct function_row *r);
double function_row_old_share(const struct functions_table *t, const struct function_row *r);

/* Whether the share has changed by more than chance explains. */
bool function_row_is_meant(const struct functions_table *t, const struct function_row *r);

/* How a row stands to the base: "new", "gone" (no function of that name is there any more), "idle"
 * (it is there, and was not met), or NULL: it is in both. */
const char *function_row_change(const struct functions_table *t, const struct function_row *r);

#endif
