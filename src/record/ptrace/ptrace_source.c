/* Beginning and end of recording by ptrace, and the rounds between them. */
#include "record/ptrace/ptrace_source.h"

#include "record/ptrace/ptrace_leave.h"
#include "record/clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum { ATTACH_ROUNDS = 100, REST_ROUNDS = 100, REST_NAP_NS = 1000 * 1000 };

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

/* Lets go of what runs. Sleepers are not woken for it: they go on without us when the monitor ends,
 * or at their next stop. */
static void source_let_go(struct ptrace_source *s)
{
    for (size_t i = 0; i < s->threads.at.len; i++) {
        struct ptrace_thread *t = &s->threads.at.at[i];
        if (!t->is_ending && proc_thread_runs(&t->files, t->process->pid, t->tid, false))
            ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
    }
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
                ptrace_stopped(&s->base, tid, status);
        } else {
            nanosleep(&(struct timespec){0, REST_NAP_NS}, NULL);
        }
    }
}

static void source_end_rests(struct ptrace_source *s)
{
    struct proc_tids tids = {0};
    for (size_t i = 0; i < s->threads.at.len; i++)
        if (ptrace_thread_rests(&s->threads.at.at[i]))
            vec_push(&tids.at, s->threads.at.at[i].tid);
    for (size_t i = 0; i < tids.at.len; i++)
        source_end_rest(s, tids.at.at[i]);
    vec_free(&tids.at);
}

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
    ptrace_report_left(s);
    s->is_finished = true;
    sched_setaffinity(0, sizeof s->cpus, &s->cpus);
    source_end_rests(s);
    source_let_go(s);
}

static void source_free(struct source *base)
{
    struct ptrace_source *s = (struct ptrace_source *)base;
    ptrace_threads_deinit(&s->threads);
    waits_free(s->waits);
    vec_free(&s->left);
    traced_files_deinit(&s->files);
    vec_free(&s->running);
    free(s);
}

static bool source_refused(pid_t pid, int why, struct err *e)
{
    if (why == ESRCH)
        return err_set(e, "there is no process %d", (int)pid);
    return err_set(e,
                   "process %d may not be watched: it is traced already, belongs to somebody else, "
                   "or kernel.yama.ptrace_scope forbids it",
                   (int)pid);
}

/* A thread that is ours now. What it has done before is not part of the recording. */
static void source_begin_thread(struct ptrace_source *s, pid_t tid, pid_t pid)
{
    struct proc_times times;
    struct ptrace_thread *t = ptrace_follow(s, tid, pid, 0);
    if (proc_thread_times(&t->files, pid, tid, false, &times))
        t->base_ns = t->placed_ns = t->seen_ns = times.cpu_ns;
}

/* Seizes the threads of the list that are not traced yet; *fresh says how many that were. Those
 * that one of them has started since are traced from birth. */
static bool source_seize(struct ptrace_source *s, pid_t pid, const struct proc_tids *tids,
                         size_t *fresh, struct err *e)
{
    *fresh = 0;
    for (size_t i = 0; i < tids->at.len; i++) {
        pid_t tid = tids->at.at[i];
        if (ptrace_threads_find(&s->threads, tid))
            continue;
        if (!ptrace(PTRACE_SEIZE, tid, 0, (long)s->wake_options)) {
            source_begin_thread(s, tid, pid);
            ++*fresh;
        } else if (!s->threads.at.len && tid == pid) {
            return source_refused(pid, errno, e);
        }
    }
    return true;
}

static bool source_attach(struct ptrace_source *s, pid_t pid, struct err *e)
{
    struct proc_tids tids = {0};
    size_t fresh = 1;
    bool ok = true;
    for (int round = 0; ok && fresh && round < ATTACH_ROUNDS; round++)
        ok = proc_list_threads(pid, &tids) ? source_seize(s, pid, &tids, &fresh, e)
                                           : source_refused(pid, ESRCH, e);
    vec_free(&tids.at);
    return ok;
}

static bool source_begin(struct ptrace_source *s, const struct source_options *o, struct err *e)
{
    if (!source_attach(s, o->program, e))
        return false;
    struct ptrace_thread *t = ptrace_threads_find(&s->threads, o->program);
    if (!t)
        return source_refused(o->program, ESRCH, e);
    t->process->has_executed = o->is_attached;
    if (!o->is_attached)
        return true;
    proc_thread_name(o->program, o->program, t->process->name);
    collector_name(s->collector, o->program, o->program, t->process->name, clock_now());
    ptrace_refresh_maps(s, t->process);
    return true;
}

static int source_wake_options(bool no_follow)
{
    int always =
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD;
    return no_follow ? always : always | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
}

bool ptrace_source_new(struct source **out, struct collector *c, const struct source_options *o,
                       struct err *e)
{
    struct ptrace_source *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    s->base = (struct source){.round = source_round,
                              .stopped = ptrace_stopped,
                              .finish = source_finish,
                              .free = source_free,
                              .wake_fd = -1};
    s->collector = c;
    s->no_stacks = o->no_stacks;
    s->no_follow = o->no_follow;
    s->wake_options = source_wake_options(o->no_follow);
    ptrace_init_looks(s, o->rate);
    ptrace_prepare_looks(s);
    ptrace_plan_next(s);
    if (!source_begin(s, o, e)) {
        source_free(&s->base);
        return false;
    }
    const char *name = o->wants_waits ? "wall" : "cpu";
    s->event = collector_add_event(c, name, RECORDING_UNIT_NS, s->period_ns, false);
    if (o->wants_waits)
        s->waits = waits_new(c, &(struct waits_options){.event = s->event, .machine = o->machine});
    *out = &s->base;
    return true;
}
