/* The clocks that tick for one thread. */
#ifndef MONARC_PROFILE_CLOCKS_H
#define MONARC_PROFILE_CLOCKS_H

#include "../thread.h"

#include <signal.h>

#ifdef SIGSTKFLT
#define SAMPLE_SIGNAL SIGSTKFLT
#else
#define SAMPLE_SIGNAL SIGPROF
#endif

/* False, counted, where it is not allowed or not there. Called by the thread itself. */
bool clock_perf_start(struct process *p, struct thread *t);
void clock_perf_stop(struct process *p, struct thread *t);
/* In a forked child: closes the descriptors of its parent's clocks. */
void clock_perf_forget(void);

bool clock_timer_start(struct thread *t);
void clock_timer_stop(struct thread *t);

/* The process's ITIMER_PROF. */
bool clock_itimer_start(void);

/* Draws the period of a clock that has signalled, or, from time to time, of a ring that was just
 * emptied. Called by the clock's thread, in its signal handler. */
void clock_redraw(struct thread *t, const siginfo_t *info);
void clock_redraw_ring(struct process *p, struct thread *t);

#endif
