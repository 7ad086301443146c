/* Deciding what is left alone, and keeping count of the CPU time that is not seen for it. */
#include "record/ptrace/ptrace_leave.h"

#include <sys/ptrace.h>

#define WATCHED                                                                                  \
    "a program with ptrace() in its code was stopped at each system call, to be let go when it " \
    "uses it: its calls took longer"

enum { LEFT_LOOK_NS = 250000000 };

/* The CPU time of a process is unseen once its last thread is. */
void ptrace_leave_now(struct ptrace_source *s, struct ptrace_thread *t, enum ptrace_conflict why,
                      int number)
{
    pid_t pid = t->process->pid;
    uint64_t cpu = ptrace_leave_over(s, t);
    if (t->process->has_executed)
        collector_thread_cpu(s->collector, pid, t->tid, cpu - t->base_ns);
    cpu = proc_process_cpu(pid);
    if (t->process->threads == 1)
        vec_push(&s->left, (struct ptrace_left){pid, ptrace_conflict_text(why), cpu, cpu});
    ptrace(PTRACE_DETACH, t->tid, 0, (long)number);
    ptrace_threads_remove(&s->threads, t);
}

bool ptrace_leave_if_needed(struct ptrace_source *s, struct ptrace_thread *t)
{
    pid_t pid = t->process->pid;
    enum ptrace_conflict why = ptrace_conflict(&s->files, pid);
    if (why == TRACED_TRACER) {
        t->process->is_watched = true;
        collector_lose(s->collector, RECORDING_LOST_OTHER, WATCHED, 1, 0);
    }
    if (why == TRACED_WELL || why == TRACED_TRACER)
        return false;
    uint64_t cpu = proc_process_cpu(pid);
    if (ptrace(PTRACE_DETACH, pid, 0, 0))
        return false;
    vec_push(&s->left, (struct ptrace_left){pid, ptrace_conflict_text(why), cpu, cpu});
    ptrace_threads_remove(&s->threads, t);
    return true;
}

static void left_look(struct ptrace_left *p)
{
    uint64_t cpu = proc_process_cpu(p->pid);
    if (cpu > p->cpu_ns)
        p->cpu_ns = cpu;
}

void ptrace_look_at_left(struct ptrace_source *s, uint64_t now_ns)
{
    if (now_ns < s->next_left_ns)
        return;
    s->next_left_ns = now_ns + LEFT_LOOK_NS;
    for (size_t i = 0; i < s->left.len; i++)
        left_look(&s->left.at[i]);
}

void ptrace_report_left(struct ptrace_source *s)
{
    for (size_t i = 0; i < s->left.len; i++) {
        struct ptrace_left *p = &s->left.at[i];
        left_look(p);
        collector_lose(s->collector, RECORDING_LOST_UNSEEN, p->why, 1, p->cpu_ns - p->start_ns);
    }
    s->left.len = 0;
}
