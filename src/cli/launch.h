/* Running a program and waiting for it, as a shell would. */
#ifndef MONARC_CLI_LAUNCH_H
#define MONARC_CLI_LAUNCH_H

#include "base/err.h"

#include <sys/types.h>

enum { STATUS_CANNOT_RUN = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

/* Runs argv[0], looked up in PATH, to its end, in our environment. Signals that would end us are
 * passed to it, except those that the terminal has sent to both already. Returns its exit status,
 * or STATUS_SIGNAL + n; if it could not be started, one of the other two, with `e` set and *pid 0.
 */
int launch_run(char **argv, pid_t *pid, struct err *e);

#endif
