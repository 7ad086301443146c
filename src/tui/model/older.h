/* An older profile beside the one that is shown: which of its functions is which, and what of a
 * change is more than chance. */
#ifndef MONARC_TUI_MODEL_OLDER_H
#define MONARC_TUI_MODEL_OLDER_H

#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/tables.h"
#include "tui/model/measurement.h"

struct older {
    struct arena arena;
    struct measurement *measured; /* NULL: there is nothing to compare with */
    struct flat flat;
    struct match match;
    uint32_t *row_of;    /* per function of it: its row in `flat`, or UINT32_MAX */
    bool *is_meant_now;  /* per function of the newer one: self time has changed beyond chance */
    bool *is_meant_then; /* per row of `flat` */
};

/* Into a zeroed *o. */
void older_make(struct older *o, struct measurement *old, const struct measurement *now);
void older_deinit(struct older *o);

/* The older row of a function of the newer profile, or NULL. */
const struct flat_row *older_row(const struct older *o, uint32_t function);

/* The probability that two runs of one program differ as much in a row's samples, by chance and by
 * what runs differ by. `name` may be NULL: not the kernel's. */
double older_chance(const struct summary *then, double before, const struct summary *now,
                    double after, const char *name);

/* Whether chance does not explain a change, by its probability, adjusted for the number of tests.
 */
bool older_is_meant(double chance);

#endif
