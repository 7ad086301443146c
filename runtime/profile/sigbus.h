/* Survives a live file that another program cuts short. Its mapped pages are then gone, and to
 * touch one is SIGBUS: the handler here puts an empty page in its place, counts that as lost, and
 * lets the program go on. The program's own action for SIGBUS is kept and takes its course for
 * every other. A thread that blocks SIGBUS itself cannot be helped: the kernel ends the process. */
#ifndef MONARC_PROFILE_SIGBUS_H
#define MONARC_PROFILE_SIGBUS_H

#include "process.h"

#include <signal.h>

/* `bytes` at `at` are mapped from the live file. False without memory. Lock held. */
bool cut_watch(struct process *p, void *at, size_t bytes);
/* Says so, once, if the live file, open as fd, is shorter than its created size. */
bool cut_check(struct process *p, int fd);
/* What the program would have done with this signal, if that is SIGBUS and the handler is there. */
struct sigaction *cut_programs_action(int signal);

#endif
