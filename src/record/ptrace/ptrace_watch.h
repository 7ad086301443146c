/* Looking out for calls of ptrace(), by programs that have it in their code. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_WATCH_H
#define MONARC_RECORD_PTRACE_PTRACE_WATCH_H

#include "record/ptrace/ptrace_private.h"

/* At any stop but those at calls: whether somebody wants to trace the thread, which is then let go;
 * `t` is gone. */
bool ptrace_watch_wanted(struct ptrace_source *s, struct ptrace_thread *t, int event, int number);

/* The thread is gone by itself. */
void ptrace_watch_ended(struct ptrace_thread *t);

/* At the beginning or end of a system call: false if the thread is to go on as ever. */
bool ptrace_watch_call(struct ptrace_source *s, struct ptrace_thread *t);

#endif
