/* Beginning and end of recording by ptrace, and the rounds between them. */
#include "record/ptrace/ptrace_source.h"

#include "record/ptrace/ptrace_leave.h"
#include "record/clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum {
    MOST_RATE = 250, /* looks a second: each costs some 100 us of a CPU */
    LEAST_SLEEP_NS = 20000,
    PROMPT_NS = 8000,
    LONGEST_PERIODS = 8, /* between two looks */
    ATTACH_ROUNDS = 100,
    MOST_FILES = 20000,
    FILES_OF_OTHERS = 400 /* left for the rest of the program that we are part of */
};

/* xorshift64*, by Vigna: good enough to fall in step with nothing. */
double ptrace_random(struct ptrace_source *s)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return ((double)(s->random * UINT64_C(0x2545f4914f6cdd1d) >> 11) + 1) * 0x1p-53;
}

/* The next look is at least so far away that we sleep until then: see ptrace_sampling.c. */
static uint64_t source_plan_next(struct ptrace_source *s)
{
    uint64_t distance = ptrace_choose_cpu(s), now = clock_now();
    double periods = -log(ptrace_random(s));
    if (periods > LONGEST_PERIODS)
        periods = LONGEST_PERIODS;
    s->next_ns += (uint64_t)(periods * (double)distance);
    if (s->next_ns < now + LEAST_SLEEP_NS)
        s->next_ns = now + LEAST_SLEEP_NS + (uint64_t)(periods * (double)distance);
    return s->next_ns - now;
}

/* Whether we are as soon on the CPU as we can be when the timer ends our sleep. After a longer wait
 * for it, the thread that gives way has often gone on to the end of a system call. What can be is
 * learnt: `prompt_ns` settles where one look in fifty is sooner. What the monitor has done on the
 * CPU since then (waitpid() takes its time with a thousand threads) does not count. */
static bool source_is_prompt(struct ptrace_source *s, uint64_t now)
{
    uint64_t since = now - s->next_ns, ran = clock_own_cpu() - s->asleep_cpu_ns;
    double late = since > ran ? (double)(since - ran) : 0;
    s->prompt_ns *= late < s->prompt_ns ? 0.9 : 1 + 0.1 / 49;
    return late <= 2 * s->prompt_ns + PROMPT_NS;
}

static uint64_t source_round(struct source *base, uint64_t now)
{
    struct ptrace_source *s = (struct ptrace_source *)base;
    bool was_woken = s->has_answered;
    s->has_answered = false;
    if (s->is_finished)
        return SECOND;
    uint64_t wait = s->next_ns - now;
    if (now >= s->next_ns) {
        ptrace_look(s, !was_woken && source_is_prompt(s, now));
        ptrace_observe_all(s);
        ptrace_look_at_left(s, now);
        wait = source_plan_next(s);
    }
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
        collector_lose(s->collector, RUN_LOST_UNPLACED,
                       "CPU time of threads after their last sample, and of short ones", 1,
                       (uint64_t)s->ends_ns);
    s->ends_ns = 0;
    if (s->waits)
        waits_finish(s->waits, now);
    ptrace_report_left(s);
    s->is_finished = true;
    sched_setaffinity(0, sizeof s->cpus, &s->cpus);
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
    int always = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
    return no_follow ? always : always | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
}

/* How many threads may have both of their files open. As many as may be: each look would have to
 * open them again. The program has its own limit by now. */
static uint32_t source_most_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return FILES_OF_OTHERS;
    limit.rlim_cur = limit.rlim_max < MOST_FILES ? limit.rlim_max : MOST_FILES;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 2 * FILES_OF_OTHERS ? (uint32_t)(limit.rlim_cur - FILES_OF_OTHERS) / 2
                                                : FILES_OF_OTHERS / 4;
}

static uint64_t source_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = clock_now() ^ (uint64_t)getpid() << 32;
    return seed | 1;
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
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
    s->random = source_seed();
    s->period_ns = SECOND / (o->rate && o->rate < MOST_RATE ? o->rate : MOST_RATE);
    s->next_ns = clock_now();
    s->most_files = source_most_files();
    s->self = getpid();
    s->prompt_ns = PROMPT_NS;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    source_plan_next(s);
    if (!source_begin(s, o, e)) {
        source_free(&s->base);
        return false;
    }
    const char *name = o->wants_waits ? "wall" : "cpu";
    s->event = collector_add_event(c, name, RUN_UNIT_NS, s->period_ns, false);
    if (o->wants_waits)
        s->waits = waits_new(c, &(struct waits_options){.event = s->event, .machine = o->machine});
    *out = &s->base;
    return true;
}
