/* What does not work while somebody traces it is left alone: threads that a debugger wants
 * (ptrace_watch.h), programs with rights of their own, programs with a leak checker. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_LEAVE_H
#define MONARC_RECORD_PTRACE_PTRACE_LEAVE_H

#include "record/ptrace/ptrace_private.h"

/* Lets a stopped thread go, with a signal or 0; `t` is gone. */
void ptrace_leave_now(struct ptrace_source *s, struct ptrace_thread *t, enum ptrace_conflict why,
                      int number);

/* Right after an exec. true: it is not traced any more, and `t` is gone.
 * A program that may trace others is watched from now on. */
bool ptrace_leave_if_needed(struct ptrace_source *s, struct ptrace_thread *t);

/* Reads the CPU time of what was left, now and then; at the end for the last time, and reports it.
 */
void ptrace_look_at_left(struct ptrace_source *s, uint64_t now_ns);
void ptrace_report_left(struct ptrace_source *s);

#endif
