/* The command line of a recorded program, without the secrets that it may hold. */
#ifndef MONARC_RECORD_ARGUMENTS_H
#define MONARC_RECORD_ARGUMENTS_H

#include "base/arena.h"

#include <sys/types.h>

/* An argument as it is recorded: a copy in `a`, or with "***" in place of what is probably a
 * secret. `before`: the argument in front of it, or NULL. */
const char *argument_without_secrets(const char *argument, const char *before, struct arena *a);

/* The command line of a process that has just executed the program `name`, as the kernel calls it:
 * a text in `a`, with spaces between the arguments; NULL if it is gone, or runs another one by now.
 */
const char *arguments_of_process(pid_t pid, const char *name, struct arena *a);

#endif
