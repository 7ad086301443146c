/* Statistical samples: a clock per thread, a signal handler, whole call stacks. */
#ifndef MONARC_HOSTED_SAMPLE_H
#define MONARC_HOSTED_SAMPLE_H

#include "process.h"

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
/* Before exec, and in a forked child: no clock may fire any more. */
void sample_stop_for_exec(void);
struct sample_totals sample_totals(struct process *p);

#endif
