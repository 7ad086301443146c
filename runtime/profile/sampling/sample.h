/* Statistical samples: a clock per thread, a signal handler, whole call stacks. */
#ifndef MONARC_PROFILE_SAMPLE_H
#define MONARC_PROFILE_SAMPLE_H

#include "../process.h"

#include <signal.h>

struct thread;

struct sample_totals {
    uint64_t samples, ns; /* CPU time of the sampled threads */
    uint64_t millihertz;  /* measured */
    uint32_t rate;        /* measured, for gmon.out: at least 1 */
    uint32_t clock;       /* enum sample_clock in use; 0 none */
};

/* Chooses a clock and installs the handler; run once, outside signal handlers. */
void sample_init(struct process *p);
/* A thread begins or ends to be sampled. Any context; called by the thread itself. */
void sample_thread_start(struct process *p, struct thread *t);
void sample_thread_stop(struct process *p, struct thread *t);
/* A call was counted that was not known before: once functions note their entries, stacks are made
 * of these, not of the frames that the kernel follows. Any context; called by the thread itself. */
void sample_entered(struct process *p, struct thread *t);
/* Before exec: what survives one must not fire any more; and if it failed. */
void sample_suspend(void);
void sample_resume(void);
/* In a forked child: gives up the descriptors of its parent's clocks. */
void sample_forget(void);
/* What the program would have done with a signal that the clocks use; NULL: it is the program's. */
struct sigaction *sample_programs_action(int signal);
struct sample_totals sample_totals(struct process *p);
/* While no sample is kept, time is not among what samples stand for: of one thread, by itself, or
 * of all. */
bool sample_pause(struct thread *t);
void sample_continue(struct thread *t);
void sample_pause_all(struct process *p);
void sample_continue_all(struct process *p);

#endif
