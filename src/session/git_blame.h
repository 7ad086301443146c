/* Running `git blame` for sources. git decides what belongs to whom; what it prints is input like
 * any other. */
#ifndef MONARC_SESSION_GIT_BLAME_H
#define MONARC_SESSION_GIT_BLAME_H

#include "source/blame.h"

/* Into a zeroed *out. False if git is not there, or knows nothing of the file: *out has no lines
 * then. */
MUST_CHECK bool git_blame(const char *path, struct blame *out, struct err *e);

#endif
