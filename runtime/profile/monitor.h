/* Reports to `monarc run` from inside the program: see control.h. Without it, nothing. */
#ifndef MONARC_PROFILE_MONITOR_H
#define MONARC_PROFILE_MONITOR_H

#include "control.h"
#include "process.h"

/* Reads MONARC_CONTROL, after config_read. A program whose monitor has ended is not recorded; where
 * the monitor's file cannot be had for another reason, calls are counted and nothing is
 * reported. */
void monitor_read_config(void);

/* One record of this process (NULL: an unstarted child of the sealed one) at this moment, in any
 * context, without a system call once the thread has reported one. False if it could not be
 * reported. */
bool monitor_tell(const struct process *p, enum monarc_control_kind kind, const char *text);

#endif
