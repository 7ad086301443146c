/* Choosing what to stop, and what a sample weighs.
 *
 * Looks come at random times, one every `period_ns` on average, with exponential distances: no
 * rhythm of the program can fall in step with them. A look reads the state of all threads; where
 * there are many, of some that are chosen at random, more of those that ran lately. Of those that
 * run it stops a few, chosen at random.
 *
 * A sample weighs the CPU time of its thread since the sample before. That leaves over what each
 * thread has after its last sample, all that short threads have. Looks being exponential, a sum
 * that is right on average, whatever the length of the threads, comes from letting the first sample
 * of a thread weigh one mean interval more than the time since the start (if f is the weight of a
 * first sample at age h, and T the thread's life, then the mean of the sum is T for all T if and
 * only if f(h) = h + interval). That more is taken from what was left over. The sum of all weights
 * so stays the CPU time that was measured; what is left over in the end is reported.
 *
 * It refuses to place CPU time by any other rule. */
#include "record/ptrace_private.h"

#include <sys/ptrace.h>

enum {
    LOOKS = 48,           /* threads to look at, of either kind */
    STOPS = 2,            /* threads to stop */
    QUIET_AFTER = 3,      /* looks without any activity */
    MOST_FILES_OPEN = 200 /* threads whose files in /proc stay open */
};

static bool sampling_keeps_files(const struct ptrace_source *s, const struct ptrace_thread *t)
{
    return s->threads.at.len <= MOST_FILES_OPEN || t->files.schedstat >= 0 ||
           (t->quiet_looks < QUIET_AFTER && s->active <= MOST_FILES_OPEN / 2);
}

static double sampling_chance(uint32_t wanted, uint32_t of)
{
    return of <= wanted ? 1.0 : (double)wanted / of;
}

/* Whether the thread runs now. */
static bool sampling_look_at(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times;
    bool keep = sampling_keeps_files(s, t);
    pid_t pid = t->process->pid;
    bool runs = proc_thread_runs(&t->files, pid, t->tid, keep);
    if (!proc_thread_times(&t->files, pid, t->tid, keep, &times))
        return false;
    if (runs || times.cpu_ns > t->seen_ns)
        t->quiet_looks = 0;
    else if (t->quiet_looks < QUIET_AFTER)
        t->quiet_looks++;
    if (t->quiet_looks >= QUIET_AFTER && s->threads.at.len > MOST_FILES_OPEN)
        proc_thread_deinit(&t->files);
    t->seen_ns = times.cpu_ns;
    return runs;
}

/* Fills s->running. */
static void sampling_look_at_all(struct ptrace_source *s)
{
    double chance[2] = {sampling_chance(LOOKS, s->active), sampling_chance(LOOKS, s->quiet)};
    s->running.len = 0;
    s->active = s->quiet = 0;
    s->unplaced_ns = 0;
    for (size_t i = 0; i < s->threads.at.len; i++) {
        struct ptrace_thread *t = &s->threads.at.at[i];
        bool is_quiet = t->quiet_looks >= QUIET_AFTER;
        s->active += !is_quiet;
        s->quiet += is_quiet;
        s->unplaced_ns += t->seen_ns > t->placed_ns ? t->seen_ns - t->placed_ns : 0;
        if (t->is_asked || t->is_ending || t->is_held || !t->process->has_executed)
            continue;
        if (chance[is_quiet] < 1 && ptrace_random(s) > chance[is_quiet])
            continue;
        if (!sampling_look_at(s, t))
            continue;
        t->interval_ns = (uint64_t)((double)s->period_ns / chance[is_quiet]);
        vec_push(&s->running, t->tid);
    }
}

/* The state is read again: between a look and a stop, a thread must not have gone to sleep. */
static void sampling_ask(struct ptrace_thread *t, double chance)
{
    bool keep = t->files.syscall >= 0;
    if (!proc_thread_runs(&t->files, t->process->pid, t->tid, keep) ||
        ptrace(PTRACE_INTERRUPT, t->tid, 0, 0))
        return;
    t->is_asked = true;
    t->interval_ns = (uint64_t)((double)t->interval_ns / chance);
}

void ptrace_look(struct ptrace_source *s)
{
    sampling_look_at_all(s);
    size_t n = s->running.len, wanted = n < STOPS ? n : STOPS;
    for (size_t i = 0; i < wanted; i++) {
        size_t other = i + (size_t)((1 - ptrace_random(s)) * (double)(n - i));
        pid_t tid = s->running.at[other];
        s->running.at[other] = s->running.at[i];
        struct ptrace_thread *t = ptrace_threads_find(&s->threads, tid);
        if (t)
            sampling_ask(t, sampling_chance(STOPS, (uint32_t)n));
    }
}

void ptrace_refresh_maps(struct ptrace_source *s, struct ptrace_process *p)
{
    uint64_t now = ptrace_clock();
    if (ptrace_maps_changed(&p->maps, p->pid, now))
        collector_read_maps(s->collector, p->pid, now);
}

/* What the first sample of a thread weighs more: an interval in CPU time, as far as there is that
 * much that no sample has taken. */
static uint64_t sampling_first_extra(struct ptrace_source *s, const struct ptrace_thread *t,
                                     const struct proc_times *times)
{
    double ready = (double)(times->cpu_ns + times->ready_ns);
    double share = ready > 0 ? (double)times->cpu_ns / ready : 1;
    int64_t extra = (int64_t)((double)t->interval_ns * share);
    int64_t most = s->ends_ns + (int64_t)s->unplaced_ns;
    if (extra > most)
        extra = most > 0 ? most : 0;
    s->ends_ns -= extra;
    return (uint64_t)extra;
}

static void sampling_name(struct ptrace_source *s, struct ptrace_thread *t, uint64_t now)
{
    char name[PROC_NAME_BYTES];
    t->has_name = true;
    proc_thread_name(t->process->pid, t->tid, name);
    if (name[0])
        collector_name(s->collector, t->process->pid, t->tid, name, now);
}

static void sampling_put(struct ptrace_source *s, const struct ptrace_thread *t, uint64_t weight)
{
    struct ptrace_registers r;
    struct collector_sample sample = {
        .pid = t->process->pid,
        .tid = t->tid,
        .at_ns = ptrace_clock(),
        .weight = weight,
        .event = s->event,
        .where = COLLECTOR_IN_USER,
        .syscall = -2,
        .is_live = true,
    };
    if (ptrace_registers_read(t->tid, &r)) {
        sample.registers = &r.user;
        sample.where = r.syscall >= 0 ? COLLECTOR_IN_KERNEL : COLLECTOR_IN_USER;
        sample.syscall = r.syscall >= 0 ? r.syscall : -2;
        if (!s->no_stacks)
            sample.stack = (struct bytes){
                s->stack, ptrace_read_stack(t->tid, r.sp, s->stack, sizeof s->stack)};
    }
    collector_sample(s->collector, &sample);
}

void ptrace_sample(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times;
    bool keep = t->files.schedstat >= 0;
    t->is_asked = false;
    if (s->is_finished || !proc_thread_times(&t->files, t->process->pid, t->tid, keep, &times) ||
        times.cpu_ns <= t->placed_ns)
        return;
    uint64_t weight = times.cpu_ns - t->placed_ns;
    if (t->is_young)
        weight += sampling_first_extra(s, t, &times);
    t->is_young = false;
    t->placed_ns = t->seen_ns = times.cpu_ns;
    ptrace_refresh_maps(s, t->process);
    if (!t->has_name)
        sampling_name(s, t, ptrace_clock());
    sampling_put(s, t, weight);
}

uint64_t ptrace_leave_over(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times = {.cpu_ns = t->seen_ns};
    bool keep = t->files.schedstat >= 0;
    proc_thread_times(&t->files, t->process->pid, t->tid, keep, &times);
    if (t->process->has_executed && times.cpu_ns > t->placed_ns)
        s->ends_ns += (int64_t)(times.cpu_ns - t->placed_ns);
    t->placed_ns = t->seen_ns = times.cpu_ns;
    t->is_young = true;
    return times.cpu_ns;
}
