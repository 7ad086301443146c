/* When to look, what to stop, and what a sample weighs.
 *
 * Looks come at random times, with exponential distances: no rhythm of the program can fall in step
 * with them. Each waits on one of the CPUs that the program uses, chosen at random: the timer that
 * ends the wait takes that CPU away from whatever runs on it, at an instruction that nothing but
 * chance has chosen, and that is the thread to be stopped. (Stopping a thread that runs on another
 * CPU takes some microseconds, or until the end of its next system call if that is sooner: short
 * calls would get the time of the code between them. The same holds for threads that wait for a
 * CPU: they have often lost it at the end of a call.) Where there are many threads, those that
 * sleep are inspected only now and then, and looks are further apart. Where something else than the
 * timer has woken us (the stop of another thread, say, on another CPU), the look does not count:
 * this CPU's thread may have gone on to the end of a call before it noticed.
 *
 * A sample weighs the CPU time of its thread since the sample before. That leaves over what each
 * thread has after its last sample, all that short threads have. Looks being exponential, a sum
 * that is right on average, whatever the length of the threads, comes from letting the first sample
 * of a thread weigh one mean interval more than the time since the start (if f is the weight of a
 * first sample at age h, and T the thread's life, then the mean of the sum is T for all T if and
 * only if f(h) = h + interval). That more is taken from what was left over, and from threads that
 * are sampled later: their samples then weigh less by what nothing else made up for. The sum of all
 * weights so stays the CPU time that was measured; what is left over in the end is reported.
 *
 * CPU time is placed by no other rule. */
#include "base/random.h"
#include "record/clocks.h"
#include "record/ptrace/ptrace_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum {
    MOST_RATE = 250, /* looks a second: each costs some 100 us of a CPU */
    LEAST_SLEEP_NS = 20000,
    PROMPT_NS = 100000,
    LONGEST_PERIODS = 8, /* between two looks */
    MOST_FILES = 20000,
    FILES_OF_OTHERS = 400 /* left for the rest of the program that we are part of */
};

enum {
    LOOKS = 24,        /* sleeping threads to look at */
    QUIET_AFTER = 64,  /* looks without any activity */
    SHARE_OF_TIME = 16 /* of the time between looks, one part in so many may be looking */
};

/* --- when to look, and on which CPU
 * --------------------------------------------------------------- */

/* Moves us to the CPU that the next look is to be on; returns the mean distance of looks. With more
 * CPUs in use, looks come more often, up to a limit; with many threads, less often. */
static uint64_t sampling_choose_cpu(struct ptrace_source *s)
{
    int n = CPU_COUNT(&s->used), chosen = (int)((1 - random_part(&s->random)) * n);
    int often = n < 1 ? 1 : n > MOST_LOOKS_AT_ONCE ? MOST_LOOKS_AT_ONCE : n;
    for (int cpu = 0; n && cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t one;
        if (!CPU_ISSET(cpu, &s->used) || chosen--)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        break;
    }
    uint64_t distance = s->period_ns / (uint64_t)often;
    uint64_t least = (uint64_t)(s->cost_ns * SHARE_OF_TIME);
    return distance > least ? distance : least;
}

/* The next look is at least so far away that we sleep until then: what is sampled is what the timer
 * takes the CPU from. */
uint64_t ptrace_plan_next(struct ptrace_source *s)
{
    uint64_t distance = sampling_choose_cpu(s), now = clock_now();
    int cpus = CPU_COUNT(&s->used);
    s->look_weight_ns = distance * (uint64_t)(cpus > 1 ? cpus : 1);
    double periods = -log(random_part(&s->random));
    if (periods > LONGEST_PERIODS)
        periods = LONGEST_PERIODS;
    s->next_ns += (uint64_t)(periods * (double)distance);
    if (s->next_ns < now + LEAST_SLEEP_NS)
        s->next_ns = now + LEAST_SLEEP_NS + (uint64_t)(periods * (double)distance);
    return s->next_ns - now;
}

/* Whether we came to the CPU when the timer ended our sleep. Two things may delay us. A timer that
 * comes late, or kernel code that gives nothing up before it is done (a page that is cleared, a
 * call that unmaps), take microseconds: those looks count, or code that spends its time there would
 * have fewer of them. (With a limit of some 10 us, a function that touches new pages had 29 % where
 * 33 was true.) Where the scheduler lets the thread go on, it goes on for long, until the next tick
 * or a place where it gives way, mostly the end of a system call: those do not count. In 4,000
 * looks each, shares were true below 100 us, and between two thirds and a half of the later ones
 * were at a call's end. What the monitor has done on the CPU since then (waitpid() takes its time
 * with a thousand threads) does not count. */
bool ptrace_is_prompt(struct ptrace_source *s, uint64_t now)
{
    uint64_t since = now - s->next_ns, ran = clock_own_cpu() - s->asleep_cpu_ns;
    return since <= ran || since - ran <= PROMPT_NS;
}

void ptrace_init_looks(struct ptrace_source *s, uint32_t rate)
{
    struct rlimit limit = {0};
    if (getrandom(&s->random, sizeof s->random, GRND_NONBLOCK) != (ssize_t)sizeof s->random)
        s->random = clock_now() ^ (uint64_t)getpid() << 32;
    s->random |= 1;
    s->period_ns = SECOND / (rate && rate < MOST_RATE ? rate : MOST_RATE);
    /* How many threads may have both of their files open: as many as may be, as else each look
     * would have to open them again. The program has its own limit by now. */
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < MOST_FILES) {
        limit.rlim_cur = limit.rlim_max < MOST_FILES ? limit.rlim_max : MOST_FILES;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    s->most_files = FILES_OF_OTHERS / 4;
    if (limit.rlim_cur > 2 * FILES_OF_OTHERS)
        s->most_files = (uint32_t)(limit.rlim_cur - FILES_OF_OTHERS) / 2;
}

void ptrace_prepare_looks(struct ptrace_source *s)
{
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
    s->self = getpid();
    s->self_tid = (pid_t)syscall(SYS_gettid);
    s->next_ns = clock_now();
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

/* --- whom to stop --------------------------------------------------------------------------------
 */

/* A thread that lost its CPU so long before us was displaced by something else. */
#define JUST_NOW_MS 0.03

static bool sampling_is_quiet(const struct ptrace_thread *t)
{
    return t->quiet_looks >= QUIET_AFTER;
}

/* Whether it has run since the last look and could go on. One that has not run is in the state that
 * it was in, or has been woken since. */
static bool sampling_look_at(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times;
    bool keep = t->files.schedstat >= 0 || s->threads.at.len <= s->most_files ||
                (!sampling_is_quiet(t) && s->active <= s->most_files);
    pid_t pid = t->process->pid;
    if (!proc_thread_times(&t->files, pid, t->tid, keep, &times))
        return false;
    bool has_run = times.cpu_ns > t->seen_ns;
    if (times.runs != t->turns)
        t->asleep_ns = 0;
    if (!t->asleep_ns && (t->asleep_in = proc_thread_call(&t->files, pid, t->tid, keep)))
        t->asleep_ns = clock_now();
    if (has_run) {
        t->is_ready = proc_thread_runs(&t->files, pid, t->tid, keep);
        t->cpu = proc_thread_place(pid, t->tid);
    }
    if (has_run || t->is_ready)
        t->quiet_looks = 0;
    else if (!sampling_is_quiet(t))
        t->quiet_looks++;
    if (sampling_is_quiet(t) && s->threads.at.len > s->most_files)
        proc_thread_deinit(&t->files);
    t->seen_ns = times.cpu_ns;
    t->turns = times.runs;
    return has_run && t->is_ready;
}

/* CPU time since its last sample, as far as the last look saw it. */
static uint64_t sampling_unplaced(const struct ptrace_thread *t)
{
    return t->seen_ns > t->placed_ns ? t->seen_ns - t->placed_ns : 0;
}

/* Fills s->running, and counts what the next look depends on: threads of either kind, CPUs in use.
 * Of many threads that have been quiet for long, some LOOKS are inspected, chosen by chance. */
static void sampling_look_at_all(struct ptrace_source *s)
{
    double chance = s->quiet <= LOOKS ? 1 : (double)LOOKS / s->quiet;
    s->running.len = 0;
    s->active = s->quiet = 0;
    s->unplaced_ns = 0;
    CPU_ZERO(&s->used);
    for (size_t i = 0; i < s->threads.at.len; i++) {
        struct ptrace_thread *t = &s->threads.at.at[i];
        bool is_out = t->is_asked || t->is_ending || t->is_held || !t->process->has_executed;
        bool is_chosen = !sampling_is_quiet(t) || random_part(&s->random) <= chance;
        if (!is_out && is_chosen && sampling_look_at(s, t))
            vec_push(&s->running, t->tid);
        bool is_quiet = sampling_is_quiet(t);
        s->active += !is_quiet;
        s->quiet += is_quiet;
        s->unplaced_ns += sampling_unplaced(t);
        if (!is_quiet && t->cpu >= 0 && t->cpu < CPU_SETSIZE && CPU_ISSET(t->cpu, &s->cpus))
            CPU_SET(t->cpu, &s->used);
    }
}

/* The one of the running threads that had this CPU until we took it; NULL: none of ours. Clocks of
 * CPUs differ: one that came from another may seem to have run after us. */
static struct ptrace_thread *sampling_displaced(struct ptrace_source *s, double ours)
{
    int here = sched_getcpu();
    for (size_t i = 0; i < s->running.len; i++) {
        struct ptrace_thread *t = ptrace_threads_find(&s->threads, s->running.at[i]);
        if (!t || t->cpu != here)
            continue;
        double before = ours - proc_thread_last_run(t->process->pid, t->tid);
        if (before > -JUST_NOW_MS && before < JUST_NOW_MS)
            return t;
    }
    return NULL;
}

/* The state is read again: between a look and a stop, a thread must not have gone to sleep. One
 * that was to be asked where it had been displaced, and was given another CPU too soon, stops for
 * nothing. */
static enum ptrace_asked sampling_ask(const struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times;
    pid_t pid = t->process->pid;
    if (!proc_thread_runs(&t->files, pid, t->tid, t->files.syscall >= 0))
        return PTRACE_NONE_ASKED;
    if (s->is_passing && ptrace(PTRACE_SEIZE, t->tid, 0, PTRACE_O_TRACESYSGOOD))
        return errno == EPERM ? PTRACE_REFUSED : PTRACE_NONE_ASKED;
    if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0))
        return PTRACE_NONE_ASKED;
    t->is_asked = true;
    t->is_moot = !proc_thread_times(&t->files, pid, t->tid, t->files.schedstat >= 0, &times) ||
                 times.runs != t->turns;
    return PTRACE_ASKED;
}

enum ptrace_asked ptrace_look(struct ptrace_source *s, bool by_timer)
{
    uint64_t start = clock_own_cpu();
    /* When this CPU was given to us, by its own clock: now, less what we have run since we were to
     * sleep. (Asking for our CPU time has just brought the time we last ran up to date.) */
    double ours =
        proc_thread_last_run(s->self, s->self_tid) - (double)(start - s->asleep_cpu_ns) * 1e-6;
    sampling_look_at_all(s);
    struct ptrace_thread *t = by_timer ? sampling_displaced(s, ours) : NULL;
    enum ptrace_asked asked = PTRACE_NONE_ASKED;
    if (t && !ptrace_thread_rests(t))
        asked = sampling_ask(s, t);
    else if (t && t->rest->has_entered && t->rest->has_registers)
        ptrace_sample(s, t);
    s->cost_ns += ((double)(clock_own_cpu() - start) - s->cost_ns) / 8;
    return asked;
}

/* --- what a sample weighs ------------------------------------------------------------------------
 */

void ptrace_refresh_maps(struct ptrace_source *s, struct ptrace_process *p)
{
    uint64_t now = clock_now();
    if (ptrace_maps_changed(&p->maps, p->pid, now))
        collector_read_maps(s->collector, p->pid, now);
}

/* What a sample weighs more or less than its thread's own time, by the account of what no sample
 * has taken: what ended threads have left over, and half of what the others have had since their
 * last samples, as some of that is still going to be sampled.
 *
 * First samples weigh more: the mean CPU time between samples so far, as far as there is that much.
 * Others weigh less, by at most half, if the account is overdrawn: first samples were given of
 * their thread's time before it was sampled itself. */
static int64_t sampling_correction(struct ptrace_source *s, const struct ptrace_thread *t,
                                   uint64_t weight)
{
    uint64_t own = sampling_unplaced(t);
    uint64_t of_others = s->unplaced_ns > own ? s->unplaced_ns - own : 0;
    int64_t unplaced = s->ends_ns + (int64_t)(of_others / 2), more = unplaced;
    if (t->is_first) {
        unplaced = unplaced > 0 ? unplaced : 0;
        int64_t all = (int64_t)(s->period_ns + s->placed_ns) + unplaced;
        more = all / (int64_t)(s->samples + 1);
        more = more < unplaced ? more : unplaced;
    } else {
        more = more < 0 ? more : 0;
        more = more > -(int64_t)(weight / 2) ? more : -(int64_t)(weight / 2);
    }
    s->ends_ns -= more;
    return more;
}

void ptrace_sample(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times;
    bool keep = t->files.schedstat >= 0;
    t->is_asked = false;
    if (ptrace_thread_rests(t))
        t->is_moot = false;
    if (s->is_finished || t->is_moot ||
        !proc_thread_times(&t->files, t->process->pid, t->tid, keep, &times) ||
        times.cpu_ns <= t->placed_ns)
        return;
    uint64_t weight = times.cpu_ns - t->placed_ns;
    weight += (uint64_t)sampling_correction(s, t, weight);
    t->is_first = false;
    s->samples++;
    s->placed_ns += weight;
    t->placed_ns = t->seen_ns = times.cpu_ns;
    ptrace_refresh_maps(s, t->process);
    if (!t->has_name) {
        char name[PROC_NAME_BYTES];
        t->has_name = true;
        proc_thread_name(t->process->pid, t->tid, name);
        if (name[0])
            collector_name(s->collector, t->process->pid, t->tid, name, clock_now());
    }
    struct ptrace_registers r;
    struct collector_sample sample = {
        .pid = t->process->pid,
        .tid = t->tid,
        .at_ns = clock_now(),
        .weight = weight,
        .event = s->event,
        .where = COLLECTOR_IN_USER,
        .syscall = -2,
        .is_live = true,
        .is_still = true,
    };
    bool is_at_rest = ptrace_thread_rests(t); /* and was not stopped: it is in the kernel for it */
    if (is_at_rest)
        r = t->rest->registers;
    if (is_at_rest || ptrace_registers_read(t->tid, &r)) {
        sample.registers = &r.user;
        sample.where = r.syscall >= 0 ? COLLECTOR_IN_KERNEL : COLLECTOR_IN_USER;
        sample.syscall = r.syscall >= 0 ? r.syscall : -2;
        if (s->labels) {
            labels_look(s->labels, sample.pid, sample.at_ns);
            sample.labels =
                labels_stopped(s->labels, sample.pid, sample.tid, r.thread, sample.at_ns);
        }
        if (!s->no_stacks)
            sample.stack =
                (struct bytes){s->stack, proc_read_stack(t->tid, r.sp, s->stack, sizeof s->stack)};
    }
    struct collector_place place = collector_place(s->collector, &sample);
    collector_sample_at(s->collector, &sample, place);
    if (s->waits)
        waits_ran(s->waits, &sample, place);
}

uint64_t ptrace_leave_over(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct proc_times times = {.cpu_ns = t->seen_ns};
    bool keep = t->files.schedstat >= 0;
    proc_thread_times(&t->files, t->process->pid, t->tid, keep, &times);
    if (t->process->has_executed && times.cpu_ns > t->placed_ns)
        s->ends_ns += (int64_t)(times.cpu_ns - t->placed_ns);
    t->placed_ns = t->seen_ns = times.cpu_ns;
    t->is_first = true;
    return times.cpu_ns;
}
