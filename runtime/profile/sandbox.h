/* When the program sandboxes itself (seccomp), the system calls of the recorder would be its death:
 * before that happens what further counting needs is reserved, and from then on the recorder makes
 * no system call at all. Tables do not grow any more; when the reserve is full, calls are lost and
 * counted. Sampling from inside ends, and no file is written at the end: `monarc recover` makes
 * them.
 *
 * Known by prctl(2) and syscall(2) of libc; a filter that is installed by another way is not. */
#ifndef MONARC_PROFILE_SANDBOX_H
#define MONARC_PROFILE_SANDBOX_H

#include "process.h"

/* Before the filter is installed, or strict mode, which takes the processor's clock as well. False:
 * nothing changed. */
bool seal_begin(bool is_strict);
/* It was not installed. */
void seal_undo(void);

#endif
