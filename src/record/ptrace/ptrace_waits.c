/* Waits of traced threads: what their clocks show between stops. Nothing is stopped for it.
 *
 * The threads' clocks are read as often as a twentieth of the monitor's CPU allows: each
 * millisecond at the most, and less often where all threads run, or go on to wait as they did. */
#include "record/ptrace/ptrace_private.h"
#include "record/clocks.h"

enum {
    LEAST_PAUSE_NS = 4 * 1000 * 1000,
    SHORT_PAUSE_NS = 1000 * 1000, /* where a thread waits */
    PAUSE_TO_WORK = 20,
};

void ptrace_observe(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times;
    pid_t pid = t->process->pid;
    bool keep = t->files.schedstat >= 0;
    if (!s->waits || !t->process->has_executed)
        return;
    bool is_running = proc_thread_runs(&t->files, pid, t->tid, keep); /* before its clock is read */
    if (!proc_thread_times(&t->files, pid, t->tid, keep, &times))
        return;
    s->has_waiting |= !is_running && times.runs != t->observed_runs;
    t->observed_runs = times.runs;
    const struct waits_clock clock = {times.cpu_ns, times.ready_ns, times.runs, is_running};
    waits_observe(s->waits, pid, t->tid, clock_now(), &clock);
}

void ptrace_observe_all(struct ptrace_source *s)
{
    uint64_t begin = clock_now();
    if (!s->waits || begin < s->next_observed_ns)
        return;
    s->has_waiting = false;
    for (size_t i = 0; i < s->threads.at.len; i++)
        if (!s->threads.at.at[i].is_ending)
            ptrace_observe(s, &s->threads.at.at[i]);
    uint64_t now = clock_now(), pause = (now - begin) * PAUSE_TO_WORK;
    uint64_t least = s->has_waiting ? SHORT_PAUSE_NS : LEAST_PAUSE_NS;
    s->next_observed_ns = now + (pause > least ? pause : least);
}

void ptrace_observe_end(struct ptrace_source *s, struct ptrace_thread *t)
{
    if (!s->waits)
        return;
    ptrace_observe(s, t);
    waits_exit(s->waits, t->process->pid, t->tid, clock_now());
}
