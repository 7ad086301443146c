/* What recorded processes tell the monitor through the control file, passed on to the collector. */
#ifndef MONARC_RECORD_CONTROL_EVENTS_H
#define MONARC_RECORD_CONTROL_EVENTS_H

#include "record/collector.h"
#include "record/control.h"

/* A program wants what was recorded so far in a folder of its own; "": in the recording. */
typedef void told_dump(void *context, const char *folder);

/* Takes what was told until now; at the end, when all writers have ended, everything. */
void control_dispatch(struct control *control, struct collector *c, uint64_t now_ns, bool is_end,
                      told_dump *dump, void *context);

#endif
