/* The command line of a recorded program, without the secrets that it may hold. */
#ifndef MONARC_RECORD_ARGUMENTS_H
#define MONARC_RECORD_ARGUMENTS_H

#include "base/arena.h"

/* An argument as it is recorded: a copy in `a`, or with "***" in place of what is probably a
 * secret. `before`: the argument in front of it, or NULL. */
const char *argument_without_secrets(const char *argument, const char *before, struct arena *a);

#endif
