/* Which functions a view shows, by regular expressions on their names.
 *
 * POSIX extended expressions (regex(7)), tried on the demangled and on the linkage name; a match of
 * either counts. A function is shown if it matches one of `focus` (or there are none) and none of
 * `ignore`. */
#ifndef MONARC_ANALYSIS_FILTER_H
#define MONARC_ANALYSIS_FILTER_H

#include "profile/analysis/names.h"
#include "base/vec.h"

#include <regex.h>

struct filter {
    VEC(regex_t) focus, ignore;
};

/* Fails with a message that quotes the expression. */
MUST_CHECK bool filter_add(struct filter *f, const char *expression, bool is_ignore, struct err *e);
void filter_deinit(struct filter *f);

bool filter_admits(const struct filter *f, struct names *names, uint32_t function);

#endif
