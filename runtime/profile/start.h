/* Starts the recorder: at the first constructor, at the first call that is counted if that comes
 * before, and again in each forked child. */
#ifndef MONARC_PROFILE_START_H
#define MONARC_PROFILE_START_H

#include "process.h"

/* This process's state, started if need be; NULL when the recorder is off for good. */
struct process *process_get(void);

#endif
