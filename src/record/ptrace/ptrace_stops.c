/* Answers to the stops of traced threads, so that the program runs as it would alone: ptrace(2),
 * "Stopped states" and "PTRACE_SEIZE".
 *
 * Every stop is answered once: signals are passed on as they came, group stops last until SIGCONT,
 * all others end at once. It refuses to hold, change or drop a signal. */
#include "record/ptrace/ptrace_leave.h"
#include "record/ptrace/ptrace_private.h"
#include "record/ptrace/ptrace_watch.h"
#include "record/clocks.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

struct ptrace_thread *ptrace_follow(struct ptrace_source *s, pid_t tid, pid_t pid, pid_t parent)
{
    struct ptrace_thread *first = tid == pid ? NULL : ptrace_threads_find(&s->threads, pid);
    struct ptrace_thread *above = ptrace_threads_find(&s->threads, parent);
    bool is_watched = above && above->process->is_watched;
    bool is_forked = !above || above->process->has_executed;
    struct ptrace_maps maps = above ? above->process->maps : (struct ptrace_maps){0};
    collector_fork(s->collector, pid, tid, tid == pid ? parent : pid, clock_now());
    struct ptrace_thread *t = ptrace_threads_add(&s->threads, tid, first ? first->process : NULL);
    if (!first) {
        t->process->pid = pid;
        t->process->has_executed = is_forked;
        t->process->is_watched = is_watched;
        t->process->maps = maps; /* the same as the parent's, until it changes them */
    }
    if (s->waits && parent && t->process->has_executed)
        waits_fork(s->waits, pid, tid, clock_now());
    return t;
}

/* A child may stop before its parent's event tells of it; /proc says whose child it is. */
static struct ptrace_thread *stops_find(struct ptrace_source *s, pid_t tid)
{
    pid_t pid, parent;
    struct ptrace_thread *t = ptrace_threads_find(&s->threads, tid);
    if (t || !proc_of_thread(tid, &pid, &parent))
        return t;
    return ptrace_follow(s, tid, pid, parent);
}

/* A traced thread has made another one. */
static void stops_born(struct ptrace_source *s, pid_t by, int event)
{
    unsigned long message = 0;
    if (ptrace(PTRACE_GETEVENTMSG, by, 0, &message) || !message)
        return;
    pid_t tid = (pid_t)message;
    const struct ptrace_thread *t = ptrace_threads_find(&s->threads, by);
    if (!t || ptrace_threads_find(&s->threads, tid))
        return;
    pid_t pid = t->process->pid;
    bool is_thread = event == PTRACE_EVENT_CLONE && proc_has_thread(pid, tid);
    ptrace_follow(s, tid, is_thread ? pid : tid, pid);
}

/* Another program; its process has one thread, which may have had another number before. Returns
 * whether it is traced on. */
static bool stops_executed(struct ptrace_source *s, pid_t pid)
{
    unsigned long before = 0;
    ptrace(PTRACE_GETEVENTMSG, pid, 0, &before);
    struct ptrace_thread *t = ptrace_threads_rename(&s->threads, before ? (pid_t)before : pid, pid);
    if (!t)
        return true;
    ptrace_threads_remove_others(&s->threads, pid, pid);
    t = ptrace_threads_find(&s->threads, pid);
    ptrace_leave_over(s, t);
    t->is_asked = false;
    t->has_name = true;
    t->process->has_executed = true;
    t->process->is_watched = false;
    proc_thread_name(pid, pid, t->process->name);
    collector_exec(s->collector, pid, t->process->name, clock_now());
    t->process->maps = (struct ptrace_maps){0};
    ptrace_refresh_maps(s, t->process);
    return !ptrace_leave_if_needed(s, t);
}

static void stops_ending(struct ptrace_source *s, struct ptrace_thread *t)
{
    pid_t pid = t->process->pid;
    uint64_t cpu = ptrace_leave_over(s, t);
    ptrace_observe_end(s, t);
    t->is_ending = true;
    if (t->rest)
        t->rest->tid = 0;
    proc_thread_deinit(&t->files);
    if (!t->process->has_executed)
        return;
    collector_thread_cpu(s->collector, pid, t->tid, cpu - t->base_ns);
    collector_exit(s->collector, pid, t->tid, clock_now());
}

/* A thread is gone; so are all of the process with its first one. */
static bool stops_ended(struct ptrace_source *s, pid_t tid)
{
    struct ptrace_thread *t = ptrace_threads_find(&s->threads, tid);
    if (!t)
        return false;
    bool is_thread = t->process->pid != tid;
    ptrace_watch_ended(t);
    if (!t->is_ending) /* killed without notice: what the last look saw is all we know */
        stops_ending(s, t);
    if (is_thread)
        ptrace_threads_remove(&s->threads, t);
    else
        ptrace_threads_remove_others(&s->threads, tid, 0);
    return is_thread;
}

static bool stops_is_group_stop(int number)
{
    return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Goes on: into or out of the rest of a call or up to the next one, or where the recording is over,
 * without us. */
static void stops_go_on(const struct ptrace_source *s, const struct ptrace_thread *t, pid_t tid,
                        int number)
{
    const struct ptrace_thread *known = t ? t : ptrace_threads_find(&s->threads, tid);
    bool is_watched = known && known->process->is_watched && !s->is_finished;
    if (is_watched || (t && ptrace_thread_rests(t)))
        ptrace(PTRACE_SYSCALL, tid, 0, (long)number);
    else
        ptrace(s->is_finished ? PTRACE_DETACH : PTRACE_CONT, tid, 0, (long)number);
}

/* How long a thread that has been woken once has slept in the call that it is in: from the first
 * look that saw it asleep there. 0: no look has. */
static uint64_t stops_slept_ns(struct ptrace_thread *t, uint64_t now)
{
    struct proc_times times;
    bool keep = t->files.schedstat >= 0;
    if (!t->asleep_ns || !proc_thread_times(&t->files, t->process->pid, t->tid, keep, &times) ||
        times.runs > t->turns + 1 ||
        proc_thread_call(&t->files, t->process->pid, t->tid, keep) != t->asleep_in)
        return 0;
    return now - t->asleep_ns;
}

/* Has a call that was cut made to its end. */
static void stops_complete(const struct ptrace_source *s, struct ptrace_thread *t,
                           uint64_t since_ns)
{
    if (!t->rest)
        t->rest = calloc(1, sizeof *t->rest);
    if (!t->rest)
        memory_exhausted(sizeof *t->rest);
    const struct ptrace_cut cut = {t->process->pid, t->tid, since_ns, s->is_finished};
    (void)ptrace_rest_begin(t->rest, &cut); /* stops_go_on() asks whether it has */
}

/* PTRACE_EVENT_STOP: ours, a new thread's first one, or a group stop and its end. */
static void stops_plain(struct ptrace_source *s, struct ptrace_thread *t, int number, bool is_ours)
{
    t->is_held = stops_is_group_stop(number);
    if (is_ours && !t->is_held && !ptrace_thread_rests(t))
        stops_complete(s, t, 0);
    if (t->is_held && !s->is_finished)
        ptrace(PTRACE_LISTEN, t->tid, 0, 0);
    else
        stops_go_on(s, t, t->tid, 0);
}

/* Without us, the kernel would not even wake a thread for a signal that it ignores. One that it
 * takes ends a call where it is. */
static void stops_signal(struct ptrace_source *s, struct ptrace_thread *t, pid_t tid, int number)
{
    struct ptrace_call call;
    bool is_in_rest = t && ptrace_thread_rests(t);
    bool is_at_call = t && !is_in_rest && ptrace_call_read(tid, &call) && form_find(&call);
    bool is_ignored = (is_in_rest || is_at_call) && proc_ignores_signal(tid, number);
    if (is_at_call && is_ignored)
        stops_complete(s, t, stops_slept_ns(t, clock_now()));
    else if (is_in_rest && !is_ignored)
        ptrace_rest_undo(t->rest);
    if (t)
        t->asleep_ns = 0;
    stops_go_on(s, t, tid, number);
}

bool ptrace_stopped(struct source *source, pid_t pid, int status)
{
    struct ptrace_source *s = (struct ptrace_source *)source;
    s->has_answered = true;
    if (!WIFSTOPPED(status))
        return stops_ended(s, pid);
    int event = status >> 16, number = WSTOPSIG(status);
    struct ptrace_thread *t = stops_find(s, pid);
    if (t && (event || number == (SIGTRAP | 0x80)))
        t->asleep_ns = 0; /* stopped is not asleep */
    if (t && ptrace_thread_rests(t) && ptrace_rest_stopped(t->rest, status)) {
        stops_go_on(s, t, pid, 0);
        return true;
    }
    if (t && ptrace_watch_wanted(s, t, event, number))
        return true;
    if (t && event == 0 && number == (SIGTRAP | 0x80)) {
        if (!ptrace_watch_call(s, t)) /* a stop that was asked for comes later */
            stops_go_on(s, t, pid, 0);
        return true;
    }
    bool is_ours = t && t->is_asked;
    if (is_ours && event != PTRACE_EVENT_EXEC)
        ptrace_sample(s, t);
    if (event == PTRACE_EVENT_STOP && t) {
        stops_plain(s, t, number, is_ours || s->is_finished);
    } else if (event == 0) {
        stops_signal(s, t, pid, number);
    } else {
        bool is_traced = true;
        if (event == PTRACE_EVENT_EXEC)
            is_traced = stops_executed(s, pid);
        else if (event == PTRACE_EVENT_EXIT && t)
            stops_ending(s, t);
        else if (event != PTRACE_EVENT_EXIT && event != PTRACE_EVENT_STOP)
            stops_born(s, pid, event);
        if (is_traced)
            stops_go_on(s, NULL, pid, 0);
    }
    return true;
}
