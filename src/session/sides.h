/* Opening the sides of a comparison, run by run. */
#ifndef MONARC_SESSION_SIDES_H
#define MONARC_SESSION_SIDES_H

#include "profile/analysis/compare/comparison.h"
#include "session/session.h"

/* Names as they are given: PROGRAM PROFILE..., PROFILE... of a program that is named apart, or
 * recordings. Each profile, and each recording, is a run of its own. */
struct side_names {
    const char *program; /* NULL: the first name is it */
    char *const *names;
    size_t len;
    bool by_lines; /* compare lines instead of functions */
};

/* Into a zeroed *s. `base` says how files are read; its operands are not looked at.
 * run_set_deinit() after failure, too. */
MUST_CHECK bool side_open(struct run_set *s, const struct session_options *base,
                          const struct side_names *names, struct err *e);

#endif
