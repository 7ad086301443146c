/* Writes all files of the recording. */
#ifndef MONARC_PROFILE_DUMP_H
#define MONARC_PROFILE_DUMP_H

#include "sidecar.h"

enum dump_flags {
    DUMP_FINAL = 1, /* the process ends: the live file goes once everything is written */
    DUMP_ASYNC = 2  /* inside a signal handler: do not ask the loader for the load map */
};

/* Into `folder`, made if need be, or the recording's own when NULL. False, counted, if any file
 * could not be written. In a vfork child, does nothing. Async-signal-safe with DUMP_ASYNC. */
bool dump(uint32_t written, int flags, const char *folder);

#endif
