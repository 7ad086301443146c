/* An older profile beside the one that is shown: which of its functions is which, and what of a
 * change is more than chance. */
#ifndef MONARC_TUI_MODEL_OLDER_H
#define MONARC_TUI_MODEL_OLDER_H

#include "profile/analysis/compare/match.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/flat.h"
#include "tui/model/measurement.h"

struct older {
    struct arena arena;
    struct measurement *measured; /* NULL: there is nothing to compare with */
    struct flat flat;
    struct match match;
    uint32_t *row_of;    /* per function of it: its row in `flat`, or UINT32_MAX */
    bool *is_meant_now;  /* per function of the newer one: self's share has changed beyond chance */
    bool *is_meant_then; /* per row of `flat` */
};

/* Into a zeroed *o. */
void older_make(struct older *o, struct measurement *old, const struct measurement *now);
void older_deinit(struct older *o);

/* The older row of a function of the newer profile, or NULL. */
const struct flat_row *older_row(const struct older *o, uint32_t function);

/* A share of a measurement as tests of significance take it. */
struct measured_share older_share(const struct summary *s, double self);

/* Whether chance does not explain a change, by its probability, adjusted for the number of tests.
 */
bool older_is_meant(double chance);

#endif
