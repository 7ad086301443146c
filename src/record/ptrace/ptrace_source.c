/* Recording by ptrace: its beginning and end, the rounds between them, and the answers to stops.
 *
 * Every thread of the program is seized (PTRACE_SEIZE), and all that it starts after that is traced
 * from birth. A round looks at the threads when it is time to, and asks one that runs to stop
 * (ptrace_sampling.c); the answer comes as a stop, through waitpid() of the monitor.
 *
 * Stops are answered so that the program runs as it would alone: ptrace(2), "Stopped states" and
 * "PTRACE_SEIZE". Every stop is answered once: signals are passed on as they came, group stops last
 * until SIGCONT, all others end at once.
 *
 *     SIGTRAP|0x80           a system call: the rest of one that was cut, or a watched program's
 *     PTRACE_EVENT_STOP      we requested it, a new thread's first stop, a group stop
 *     PTRACE_EVENT_EXEC      another program: what is known of the old one ends
 *     PTRACE_EVENT_EXIT      the thread ends: its clock can still be read
 *     PTRACE_EVENT_CLONE ... it has made another one
 *     any other signal       on its way to the program
 *
 * No signal is held, changed or dropped. */
#include "record/ptrace/ptrace_source.h"

#include "record/clocks.h"
#include "record/ptrace/ptrace_private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum { ATTACH_ROUNDS = 100, REST_ROUNDS = 100, REST_NAP_NS = 1000 * 1000 };

/* --- stops ------------------------------------------------------------------------------------ */

/* A thread that is traced from now on. `parent` is 0 for an attached one, whose process may have
 * been reported before. */
static struct ptrace_thread *stops_follow(struct ptrace_source *s, pid_t tid, pid_t pid,
                                          pid_t parent)
{
    struct ptrace_thread *first = tid == pid ? NULL : ptrace_threads_of(&s->threads, pid);
    struct ptrace_thread *above = ptrace_threads_find(&s->threads, parent);
    bool is_watched = above && above->process->is_watched;
    bool is_forked = !above || above->process->has_executed;
    struct ptrace_maps maps = above ? above->process->maps : (struct ptrace_maps){0};
    if (parent || first || !collector_has_process(s->collector, pid))
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
    stops_follow(s, tid, is_thread ? pid : tid, pid);
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
    uint64_t cpu = ptrace_leave_over(s, t);
    if (t->process->has_executed)
        collector_thread_cpu(s->collector, pid, t->tid, cpu - t->base_ns);
    t->base_ns = cpu; /* the program's own begins here */
    t->is_asked = false;
    t->has_name = true;
    t->process->has_executed = true;
    t->process->is_watched = false;
    proc_thread_name(pid, pid, t->process->name);
    collector_exec(s->collector, pid, t->process->name, clock_now());
    labels_exec(s->labels, pid);
    t->process->maps = (struct ptrace_maps){0};
    ptrace_refresh_maps(s, t->process);
    return !ptrace_leave_if_needed(s, t);
}

/* The last that is seen of a thread: it is gone, or about to be. */
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
    labels_exit(s->labels, pid, t->tid);
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

/* Whether a stop at a call is the one after it. */
static bool stops_behind_call(pid_t tid)
{
    struct __ptrace_syscall_info call;
    return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof call, &call) > 0 &&
           call.op == PTRACE_SYSCALL_INFO_EXIT;
}

/* A thread that is to go goes, unless it makes the rest of a call that was cut for that first.
 * Where a tracer waits for it, that one's own stop would have cut the call as well. */
static bool stops_let_go(struct ptrace_source *s, struct ptrace_thread *t, int event, int number)
{
    bool is_cut = t->wanted_by == NONE_WAITS && event == PTRACE_EVENT_STOP && number == SIGTRAP;
    if (is_cut && !ptrace_thread_rests(t))
        stops_complete(s, t, 0);
    return !ptrace_thread_rests(t) && ptrace_watch_wanted(s, t, event, number);
}

/* Where calls are watched, a stop at one may stand for the requested stop: the kernel takes the
 * request back, but a call that was cut for it stays cut. */
static void stops_at_call(struct ptrace_source *s, struct ptrace_thread *t)
{
    bool is_asked = t->is_asked || t->wanted_by == NONE_WAITS;
    if (t->is_asked)
        ptrace_sample(s, t);
    if (is_asked && stops_behind_call(t->tid))
        stops_complete(s, t, 0);
    if (!stops_let_go(s, t, 0, AT_CALL) && (ptrace_thread_rests(t) || !ptrace_watch_call(s, t)))
        stops_go_on(s, t, t->tid, 0);
}

/* PTRACE_EVENT_STOP: ours, a new thread's first one, or a group stop and its end. */
static void stops_plain(struct ptrace_source *s, struct ptrace_thread *t, int number, bool is_ours)
{
    t->is_held = number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
    if (t->is_held) /* that is a wait */
        t->stops--;
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
    if (is_at_call && is_ignored) {
        /* How long it has slept in that call, if this is the first time that it was woken: from the
         * first look that saw it asleep there. */
        struct proc_times times;
        pid_t pid = t->process->pid;
        uint64_t now = clock_now(), slept_ns = 0;
        bool keep = t->files.schedstat >= 0;
        if (t->asleep_ns && proc_thread_times(&t->files, pid, tid, keep, &times) &&
            times.runs <= t->turns + 1 &&
            proc_thread_call(&t->files, pid, tid, keep) == t->asleep_in)
            slept_ns = now - t->asleep_ns;
        stops_complete(s, t, slept_ns);
    } else if (is_in_rest && !is_ignored)
        ptrace_rest_undo(t->rest);
    if (t)
        t->asleep_ns = 0;
    stops_go_on(s, t, tid, number);
}

static bool stops_answer(struct ptrace_source *s, pid_t pid, int status)
{
    if (!WIFSTOPPED(status))
        return stops_ended(s, pid);
    int event = status >> 16, number = WSTOPSIG(status);
    struct ptrace_thread *t = ptrace_threads_find(&s->threads, pid);
    pid_t process, parent; /* a child may stop before its parent's event reports it */
    if (!t && proc_of_thread(pid, &process, &parent))
        t = stops_follow(s, pid, process, parent);
    if (t)
        t->stops++;
    if (t && (event || number == AT_CALL))
        t->asleep_ns = 0; /* stopped is not asleep */
    if (t && ptrace_thread_rests(t) && ptrace_rest_stopped(t->rest, status)) {
        if (!stops_let_go(s, t, event, number))
            stops_go_on(s, t, pid, 0);
        return true;
    }
    if (t && event == 0 && number == AT_CALL) {
        stops_at_call(s, t);
        return true;
    }
    if (t && stops_let_go(s, t, event, number))
        return true;
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

/* struct source: stopped() */
static bool source_stopped(struct source *source, pid_t pid, int status)
{
    struct ptrace_source *s = (struct ptrace_source *)source;
    uint64_t begin = s->waits ? clock_own_cpu() : 0; /* going on, it may take our CPU */
    s->has_answered = true;
    bool is_ours = stops_answer(s, pid, status);
    struct ptrace_thread *t = s->waits ? ptrace_threads_find(&s->threads, pid) : NULL;
    if (t)
        t->held_ns += clock_own_cpu() - begin;
    return is_ours;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* struct source: round(). Looks when it is time to, and reads clocks; returns when it is time next.
 */
static uint64_t source_round(struct source *base, uint64_t now)
{
    struct ptrace_source *s = (struct ptrace_source *)base;
    bool was_woken = s->has_answered;
    s->has_answered = false;
    if (s->is_finished)
        return SECOND;
    uint64_t wait = s->next_ns - now;
    if (now >= s->next_ns) {
        ptrace_look(s, !was_woken && ptrace_is_prompt(s, now));
        ptrace_observe_all(s);
        ptrace_look_at_left(s, now);
        wait = ptrace_plan_next(s);
    } else {
        ptrace_observe_all(s);
    }
    if (s->waits && s->next_observed_ns < s->next_ns)
        wait = s->next_observed_ns > now ? s->next_observed_ns - now : 0;
    s->asleep_cpu_ns = clock_own_cpu();
    return wait;
}

/* A thread that makes the rest of a call is not left in the middle of it, with the arguments that
 * are ours: it has a moment to come to the end, and is then woken with what it has done. */
static void source_end_rest(struct ptrace_source *s, pid_t tid)
{
    siginfo_t info;
    for (int i = 0; i < 2 * REST_ROUNDS; i++) {
        const struct ptrace_thread *t = ptrace_threads_find(&s->threads, tid);
        int status;
        if (!t || !ptrace_thread_rests(t))
            return;
        if (i == REST_ROUNDS)
            ptrace(PTRACE_INTERRUPT, tid, 0, 0);
        info.si_pid = 0;
        if (!waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) &&
            info.si_pid && info.si_code == CLD_TRAPPED) {
            if (waitpid(tid, &status, WNOHANG | __WALL) == tid)
                source_stopped(&s->base, tid, status);
        } else {
            nanosleep(&(struct timespec){0, REST_NAP_NS}, NULL);
        }
    }
}

/* Last samples and accounts, then all threads are let go. */
static void source_finish(struct source *base, uint64_t now)
{
    struct ptrace_source *s = (struct ptrace_source *)base;
    for (size_t i = 0; i < s->threads.at.len; i++) {
        struct ptrace_thread *t = &s->threads.at.at[i];
        if (t->is_ending)
            continue;
        uint64_t cpu = ptrace_leave_over(s, t);
        ptrace_observe(s, t);
        if (t->process->has_executed)
            collector_thread_cpu(s->collector, t->process->pid, t->tid, cpu - t->base_ns);
    }
    if (s->ends_ns > 0)
        collector_lose(s->collector, RECORDING_LOST_UNPLACED,
                       "CPU time of threads after their last sample, and of short ones", 1,
                       (uint64_t)s->ends_ns);
    s->ends_ns = 0;
    if (s->waits)
        waits_finish(s->waits, now);
    labels_finish(s->labels);
    ptrace_report_left(s);
    s->is_finished = true;
    sched_setaffinity(0, sizeof s->cpus, &s->cpus);
    struct proc_tids resting = {0}; /* ending one may change the list */
    for (size_t i = 0; i < s->threads.at.len; i++)
        if (ptrace_thread_rests(&s->threads.at.at[i]))
            vec_push(&resting.at, s->threads.at.at[i].tid);
    for (size_t i = 0; i < resting.at.len; i++)
        source_end_rest(s, resting.at.at[i]);
    vec_free(&resting.at);
    /* What runs is let go. Sleepers are not woken for it: they go on without us when the monitor
     * ends, or at their next stop. */
    for (size_t i = 0; i < s->threads.at.len; i++) {
        struct ptrace_thread *t = &s->threads.at.at[i];
        if (!t->is_ending && proc_thread_runs(&t->files, t->process->pid, t->tid, false))
            ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
    }
}

/* struct source: free() */
static void source_free(struct source *base)
{
    struct ptrace_source *s = (struct ptrace_source *)base;
    ptrace_threads_deinit(&s->threads);
    waits_free(s->waits);
    labels_free(s->labels);
    vec_free(&s->left);
    traced_files_deinit(&s->files);
    vec_free(&s->running);
    free(s);
}

/* Why a process cannot be traced. */
static bool source_refused(pid_t pid, int why, struct err *e)
{
    if (why == ESRCH)
        return err_set(e, "no such process: %d", (int)pid);
    return err_set(e,
                   "process %d may not be watched: it is traced already, belongs to another user, "
                   "or kernel.yama.ptrace_scope forbids it",
                   (int)pid);
}

/* Seizes all threads of a process: the list is read until a round finds none that is not traced
 * yet. Those that one of them has started since are traced from birth. */
static bool source_seize(struct ptrace_source *s, pid_t pid, struct err *e)
{
    struct proc_tids tids = {0};
    struct proc_times times;
    bool is_fresh = true, ok = true;
    for (int round = 0; ok && is_fresh && round < ATTACH_ROUNDS; round++) {
        is_fresh = false;
        if (!proc_list_threads(pid, &tids))
            ok = source_refused(pid, ESRCH, e);
        for (size_t i = 0; ok && i < tids.at.len; i++) {
            pid_t tid = tids.at.at[i];
            if (ptrace_threads_find(&s->threads, tid))
                continue;
            if (!ptrace(PTRACE_SEIZE, tid, 0, (long)s->wake_options)) {
                struct ptrace_thread *t = stops_follow(s, tid, pid, 0);
                if (proc_thread_times(&t->files, pid, tid, false, &times)) /* not recorded */
                    t->base_ns = t->placed_ns = t->seen_ns = times.cpu_ns;
                is_fresh = true;
            } else if (!ptrace_threads_of(&s->threads, pid) &&
                       (tid == pid || i + 1 == tids.at.len)) {
                ok = source_refused(pid, errno, e);
            }
        }
    }
    vec_free(&tids.at);
    return ok && (ptrace_threads_of(&s->threads, pid) || source_refused(pid, ESRCH, e));
}

/* What is known of a process that runs already. */
static void source_introduce(struct ptrace_source *s, pid_t pid)
{
    struct ptrace_process *process = ptrace_threads_of(&s->threads, pid)->process;
    process->has_executed = true;
    proc_thread_name(pid, pid, process->name);
    collector_name(s->collector, pid, pid, process->name, clock_now());
    ptrace_refresh_maps(s, process);
    if (proc_living(pid) != pid)
        collector_exit(s->collector, pid, pid, clock_now());
}

#define TRACED \
    "descendants of the attached process are not recorded, as another program traces them"

/* Of several processes, those that cannot be watched are left out, but for the first: a descendant
 * may have ended since it was listed, or be traced by its parent. Parents come before children, so
 * that each has one that is known. */
static bool source_attach(struct ptrace_source *s, const struct proc_tids *attached, struct err *e)
{
    struct err ignored = {0};
    for (size_t i = 0; i < attached->at.len; i++) {
        pid_t pid = attached->at.at[i], same, parent;
        if (proc_of_thread(pid, &same, &parent) && collector_has_process(s->collector, parent))
            collector_fork(s->collector, pid, pid, parent, clock_now());
        if (source_seize(s, pid, i ? &ignored : e))
            source_introduce(s, pid);
        else if (!i)
            return false;
        else if (!kill(pid, 0) || errno == EPERM)
            collector_lose(s->collector, RECORDING_LOST_UNSEEN, TRACED, 1, 0);
    }
    return true;
}

bool ptrace_source_new(struct source **out, struct collector *c, const struct source_options *o,
                       struct err *e)
{
    struct ptrace_source *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    s->base = (struct source){.round = source_round,
                              .stopped = source_stopped,
                              .finish = source_finish,
                              .free = source_free,
                              .wake_fd = -1};
    s->collector = c;
    s->no_stacks = o->no_stacks;
    s->no_follow = o->no_follow;
    s->wake_options =
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD;
    if (!o->no_follow)
        s->wake_options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    ptrace_init_looks(s, o->rate);
    ptrace_prepare_looks(s);
    ptrace_plan_next(s);
    s->labels = labels_new(c, o->arch);
    if (o->is_attached ? !source_attach(s, o->attached, e) : !source_seize(s, o->program, e)) {
        source_free(&s->base);
        return false;
    }
    if (!o->is_attached)
        ptrace_threads_of(&s->threads, o->program)->process->has_executed = false;
    const char *name = o->wants_waits ? "wall" : "cpu";
    s->event = collector_add_event(c, name, RECORDING_UNIT_NS, s->period_ns, false);
    if (o->wants_waits)
        s->waits = waits_new(
            c, &(struct waits_options){.event = s->event, .arch = o->arch, .labels = s->labels});
    *out = &s->base;
    return true;
}
