#include "sample.h"
#include "thread.h"
void sample_init(struct process *p)
{
    (void)p;
}
void sample_thread_start(struct process *p, struct thread *t)
{
    (void)p;
    (void)t;
}
void sample_thread_stop(struct process *p, struct thread *t)
{
    (void)p;
    (void)t;
}
void sample_stop_for_exec(void)
{
}
struct sample_totals sample_totals(struct process *p)
{
    (void)p;
    return (struct sample_totals){.rate = 100};
}
