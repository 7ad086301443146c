/* `--base OLD` of reports on a profile. */
#ifndef MONARC_CLI_COMPARE_BASE_H
#define MONARC_CLI_COMPARE_BASE_H

#include "cli/view.h"
#include "profile/analysis/compare/comparison.h"

struct base_names {
    VEC(char *) names; /* values of the option */
};

/* Fills a zeroed *b: the base that is named beside a session that was opened with `o`.
 * baseline_deinit() after failure, too. */
MUST_CHECK bool base_open(struct baseline *b, const struct base_names *names, struct session *s,
                          const struct session_options *o, struct err *e);

/* clang-format off */
#define BASE_OPTION {0, "base", "OLD", "show an older profile or recording beside (may be repeated)"}
/* clang-format on */

#endif
