/* Reports the records of perf event buffers to the collector, in the order of time.
 *
 *     kernel -> ring of each CPU -> reader's backlog -> ours -> by time -> collector, waits, clocks
 *               (perf_record.c)     (perf_reader.c)
 *
 * Each buffer is in the order of time, and the reader says up to which time all of them are
 * complete: so the oldest first record of all is the next one that happened. A sample becomes
 * weight by its clock's age and period (periods.c, redrawn_clocks.c); sums of first-period samples
 * are right on average only, and scaled at the end to the time that the kernel's counters have.
 *
 * What was lost is said: records by the kernel's own count, and what they stand for in time as far
 * as nothing else accounts for it. Cost: a search over all buffers for each record. */
#include "record/perf/perf_source.h"

#include "record/perf/perf_source_private.h"
#include "record/proc_threads.h"
#include "record/clocks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_NS = 64 * 1000 * 1000,
    MOST_CHANCE = 4,
    MOST_DRAWS = 100000,
    MOST_REDRAWN = 2000,       /* samples a second; with more, twice as many would cost too much */
    EVENLY = 3,                /* how much less first-period samples vary for that: measured */
    TICK_NS = 4 * 1000 * 1000, /* of usual kernels */
};

#define THROTTLED                                                                               \
    "the kernel throttled sampling; a lower --rate or a longer period= avoids it, or a higher " \
    "kernel.perf_event_max_sample_rate"
#define LOST_TASKS                                                                               \
    "records of threads, processes and mappings did not fit into the kernel's buffers, because " \
    "this machine was busy"
#define LOST_RECORDS                                                                   \
    "samples did not fit into the kernel's buffers, because this machine was busy or " \
    "kernel.perf_event_mlock_kb is small"

/* --- what happens ---------------------------------------------------------------------------- */

/* A mapping of code, with the kernel's description of its file: build-id, or device and inode. */
static void perf_mapped(struct perf_source *s, const struct perf_record *r)
{
    struct collector_mapping m = {.pid = (pid_t)r->pid,
                                  .start = r->start,
                                  .end = r->start + r->length,
                                  .offset = r->offset,
                                  .inode = r->inode,
                                  .path = r->text,
                                  .build_id = r->build_id,
                                  .is_executable = r->protection & 4}; /* PROT_EXEC */
    if (r->inode)
        m.device = makedev(r->major, r->minor);
    if (m.end > m.start)
        collector_map(s->collector, &m, r->time);
}

/* The accounts of the program, which has been waited for, and of what it waited for. Whether they
 * are whole: children for which no process waited are missing there, as recording_unaccounted_ns()
 * has it. */
static bool perf_accounts(const struct perf_source *s, double *user, double *all)
{
    struct collector_accounts used = collector_accounts(s->collector);
    *user = (double)used.user_ns;
    *all = *user + (double)used.system_ns;
    return !collector_running(s->collector) &&
           (double)s->result->cpu_ns <= *all * 1.1 + 3 * TICK_NS;
}

/* The events' own clock goes on while the machine's host has taken the CPU away; the accounts of
 * those that were waited for do not. */
static double perf_used_ns(const struct perf_source *s)
{
    double counted = (double)s->result->cpu_ns, user, accounts;
    return perf_accounts(s, &user, &accounts) ? fmin(counted, accounts) : counted;
}

/* How much CPU time of user code there was: estimates by samples and by the kernel's accounts, each
 * by how sure it is. Accounts are made at ticks, with which short processes may keep step: so they
 * are taken to be as unsure as those of halves. Draws are spread evenly, not by chance alone. */
static double perf_user_code_ns(const struct perf_source *s, double sampled)
{
    double accounts, all, tick = TICK_NS;
    if (!perf_accounts(s, &accounts, &all))
        return sampled;
    double by_ticks = tick * tick + (double)s->result->cpu_ns * tick / 4;
    double by_samples = s->first_period_square / EVENLY + 1;
    return (accounts * by_samples + sampled * by_ticks) / (by_samples + by_ticks);
}

/* First-period samples are right on average only; the time of all clocks together is known, and its
 * estimate by old samples. Each old clock that ends leaves some part of its last period out, or has
 * some too much: what first-period samples weigh must be well above that. Samples that were lost
 * are taken to have been as the others are, and scaled with these. Returns what they stand for,
 * which is never more than what nothing else accounts for. */
static uint64_t perf_scale_first_periods(struct perf_source *s, uint64_t lost_samples)
{
    double first = (double)s->first_period_weight, later = (double)s->later_weight;
    double period = (double)s->choices.at[0].period, all = (double)s->result->cpu_ns;
    double mean = s->first_samples ? (first + later) / (double)s->first_samples : period;
    double lost = (double)lost_samples * mean;
    bool is_known = !s->options.is_attached && !s->options.no_follow;
    if (!s->choices.at[0].is_clock)
        return 0;
    if (is_known)
        all = s->result->user_only ? perf_user_code_ns(s, first + later + lost) : perf_used_ns(s);
    double left = fmax(all - later, 0);
    if (is_known && first >= MOST_CHANCE * period * sqrt((double)s->periods.at[0].aged + 1)) {
        double factor = left / (first + lost);
        collector_scale_first_periods(s->collector, factor);
        return (uint64_t)(lost * factor);
    }
    return (uint64_t)fmax(fmin(lost, left - first), 0);
}

/* The counts of an ended thread, one of each CPU's event, follow its end. */
static void perf_counted(struct perf_source *s, const struct perf_record *r)
{
    const uint32_t *choice = map_find(&s->choice_of, r->id, 0);
    if (!choice || *choice != s->counts || !s->choices.at[0].is_clock)
        return;
    struct perf_thread *t = perf_thread(s, r->tid);
    t->cpu_ns += r->value;
    s->told_ns += r->value;
    collector_thread_cpu(s->collector, (pid_t)r->pid, (pid_t)r->tid,
                         t->cpu_ns > t->before_ns ? t->cpu_ns - t->before_ns : 0);
}

/* Counts of a process are reported at its end, for all programs that it has executed. Its clock
 * says what they are when it executes one, as exactly as that is read at once. */
static void perf_executes(struct perf_source *s, uint32_t pid)
{
    struct perf_thread *t = perf_thread(s, pid);
    t->cpu_ns = 0; /* of the program before */
    bool is_known = s->result->user_only && !s->options.is_attached;
    uint64_t before = is_known ? proc_process_cpu((pid_t)pid) : 0;
    if (before > t->before_ns)
        collector_thread_cpu(s->collector, (pid_t)pid, (pid_t)pid, before - t->before_ns);
    t->before_ns = before;
}

/* Threads that have drawn the same are seen or not seen together: one chance, not many. */
static void perf_weighed_first_period(struct perf_source *s, uint64_t weight, uint64_t period)
{
    bool is_new;
    if (s->draws.len >= MOST_DRAWS)
        period = 0;
    uint32_t at = map_index(&s->draw_of, period, 0, s->draws.len, &is_new);
    if (is_new)
        vec_push(&s->draws, 0);
    double before = (double)s->draws.at[at], after = before + (double)weight;
    s->first_period_square += after * after - before * before;
    s->draws.at[at] += weight;
}

/* Where all of a thread is sampled, that is what it used. */
static void perf_weighed(struct perf_source *s, const struct collector_sample *sample,
                         uint64_t period)
{
    *(sample->is_first_period ? &s->first_period_weight : &s->later_weight) += sample->weight;
    if (sample->is_first_period)
        perf_weighed_first_period(s, sample->weight, period);
    if (s->result->user_only || !s->choices.at[0].is_clock)
        return;
    struct perf_thread *t = perf_thread(s, (uint32_t)sample->tid);
    t->cpu_ns += sample->weight;
    collector_thread_cpu(s->collector, sample->pid, sample->tid, t->cpu_ns);
}

/* Informs every part that knows the thread, its clocks first. */
static void perf_exited(struct perf_source *s, const struct perf_record *r)
{
    redrawn_clocks_end(s, r->tid);
    inherited_clocks_end(s, r->tid);
    if (s->deep) {
        deep_stacks_end(s->deep, (pid_t)r->tid);
        deep_looks_gone(s->looks, (pid_t)r->tid);
    }
    if (s->places)
        ptrace_places_end(s->places, (pid_t)r->tid);
    if (s->waits)
        waits_exit(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time);
    collector_exit(s->collector, (pid_t)r->pid, (pid_t)r->tid, r->time);
    labels_exit(s->labels, (pid_t)r->pid, (pid_t)r->tid);
}

/* A thread or a process. From the first one on, being late costs accuracy: request short turns from
 * the scheduler. */
static void perf_forked(struct perf_source *s, const struct perf_record *r)
{
    inherited_clocks_end(s, r->tid); /* the number may come again */
    *perf_thread(s, r->tid) = (struct perf_thread){0};
    inherited_clocks_begin(s, r->pid, r->tid);
    redrawn_clocks_doubt(s, r->parent_tid);
    for (size_t i = 0; i < s->periods.len; i++)
        periods_begun(&s->periods.at[i]);
    collector_fork(s->collector, (pid_t)r->pid, (pid_t)r->tid, (pid_t)r->parent_pid, r->time);
    collector_creator(s->collector, (pid_t)r->tid, (pid_t)r->parent_tid);
    if (s->waits)
        waits_fork(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time);
    if (s->places)
        ptrace_places_begin(s->places, (pid_t)r->pid, (pid_t)r->tid, (pid_t)r->parent_pid);
    if (!s->is_prompt)
        request_short_slice();
    s->is_prompt = true;
}

static void perf_switched(struct perf_source *s, const struct perf_record *r)
{
    bool is_out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
    bool is_ready = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    if (s->waits)
        waits_switch(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time, is_out, is_ready);
}

/* The thread was in user code; what its fault takes is the kernel's. */
static void perf_faulted(struct perf_source *s, struct collector_sample *sample)
{
    sample->where = COLLECTOR_IN_KERNEL;
    sample->syscall = -2;
    sample->weight = s->choices.at[s->faulting].period;
    if (sample->registers)
        collector_probe(s->collector, sample, COLLECTOR_PROBE_FAULTS);
}

static void perf_sampled(struct perf_source *s, const struct perf_record *r)
{
    const uint32_t *known = map_find(&s->choice_of, r->id, 0);
    if (!known || !r->period)
        return;
    const uint32_t choice = *known; /* a new clock moves the map */
    if (choice == s->leaving) {
        if (r->has_user_code)
            waits_leaving(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time, &r->registers, r->stack);
        return;
    }
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    struct collector_sample sample = {.pid = (pid_t)r->pid,
                                      .tid = (pid_t)r->tid,
                                      .at_ns = r->time,
                                      .weight = r->period,
                                      .event = choice,
                                      .where = mode == PERF_RECORD_MISC_USER ? COLLECTOR_IN_USER
                                                                             : COLLECTOR_IN_KERNEL,
                                      .syscall = -1,
                                      .registers = r->has_user_code ? &r->registers : NULL,
                                      .stack = r->stack,
                                      .is_live = true};
    if (choice == s->faulting) {
        perf_faulted(s, &sample);
        return;
    }
    enum clock_kind kind = CLOCK_INHERITED;
    bool counts = true;
    if (choice == 0 && s->has_redrawn)
        counts = redrawn_clocks_admit(s, r, perf_thread(s, r->tid), &kind);
    if (perf_is_counter(&s->choices.at[choice]))
        sample.weight = s->choices.at[choice].period;
    else if (kind == CLOCK_COPY && counts)
        sample.weight = periods_weigh_copy(&s->periods.at[choice], r->stream, r->period,
                                           &sample.is_first_period);
    else if (kind == CLOCK_INHERITED && s->choices.at[choice].period > 1)
        sample.weight =
            periods_weigh(&s->periods.at[choice], r->stream, r->period, &sample.is_first_period);
    s->interrupts++;
    s->first_samples += choice == 0 && counts;
    if (!sample.weight || !counts)
        return;
    s->result->samples++;
    labels_look(s->labels, sample.pid, r->time);
    sample.labels = labels_at(s->labels, sample.pid, sample.tid, r->time);
    struct collector_place place = collector_place(s->collector, &sample);
    if (!s->deep || !deep_stacks_sampled(s->deep, &sample, place))
        collector_sample_at(s->collector, &sample, place);
    else
        __atomic_store_n(&s->reader.is_stirred, true, __ATOMIC_RELAXED);
    if (s->waits)
        waits_ran(s->waits, &sample, place);
    if (choice == 0)
        perf_weighed(s, &sample, r->period);
}

/* A thread's new name, or another program: comm_exec distinguishes the two. */
static void perf_named(struct perf_source *s, const struct perf_record *r)
{
    s->first_tid = s->first_tid ? s->first_tid : r->pid;
    if (!(r->misc & PERF_RECORD_MISC_COMM_EXEC)) {
        collector_name(s->collector, (pid_t)r->pid, (pid_t)r->tid, r->text, r->time);
        return;
    }
    if (s->waits)
        waits_exec(s->waits, (pid_t)r->pid, r->time);
    if (s->deep)
        deep_stacks_end(s->deep, (pid_t)r->pid);
    inherited_clocks_begin(s, r->pid, r->pid);
    perf_executes(s, r->pid);
    s->result->foreign += proc_is_foreign((pid_t)r->pid);
    collector_exec(s->collector, (pid_t)r->pid, r->text, r->time);
    labels_exec(s->labels, (pid_t)r->pid);
    if (s->places)
        ptrace_places_exec(s->places, (pid_t)r->pid);
}

/* Waits are informed, too: the loss may include a thread's coming back. */
static void perf_lost(struct perf_source *s, const struct perf_record *r)
{
    const uint32_t *choice = map_find(&s->choice_of, r->id, 0);
    *(choice && *choice == s->tasks ? &s->lost_tasks : &s->lost) += r->value;
    if (s->waits)
        waits_lost(s->waits, r->time);
}

/* With --no-follow. Threads come out of the first process as processes do: all inherit. */
static bool perf_is_left_out(const struct perf_source *s, const struct perf_record *r)
{
    if (!s->options.no_follow || r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_THROTTLE)
        return false;
    return s->options.is_attached ? !proc_is_listed(s->options.attached, (pid_t)r->pid)
                                  : s->first_tid && r->pid != s->first_tid;
}

/* One record, in the order of time. */
static void perf_happened(struct perf_source *s, const struct perf_record *r)
{
    inherited_clocks_happened(s, r);
    if (perf_is_left_out(s, r))
        return;
    switch (r->type) {
    case PERF_RECORD_SAMPLE: perf_sampled(s, r); break;
    case PERF_RECORD_FORK: perf_forked(s, r); break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: perf_mapped(s, r); break;
    case PERF_RECORD_EXIT: perf_exited(s, r); break;
    case PERF_RECORD_COMM: perf_named(s, r); break;
    case PERF_RECORD_SWITCH: perf_switched(s, r); break;
    case PERF_RECORD_READ: perf_counted(s, r); break;
    case PERF_RECORD_LOST: perf_lost(s, r); break;
    case PERF_RECORD_THROTTLE: s->throttled++; break;
    default: break;
    }
}

/* --- buffers --------------------------------------------------------------------------------- */

/* The backlog whose first record is the oldest; NULL: all are empty, or later than that. */
static struct perf_backlog *perf_oldest(struct perf_source *s, uint64_t until_ns)
{
    struct perf_backlog *oldest = NULL;
    uint64_t oldest_ns = until_ns;
    for (size_t i = 0; i < s->backlogs.len; i++) {
        const struct perf_record *first =
            perf_backlog_first(&s->backlogs.at[i], perf_layout_of(s, i));
        if (!first || first->time > oldest_ns || (oldest && first->time == oldest_ns))
            continue;
        oldest = &s->backlogs.at[i];
        oldest_ns = first->time;
    }
    return oldest;
}

/* All records up to the time that the reader vouches for. */
static void perf_take(struct perf_source *s)
{
    struct perf_backlog *backlog;
    s->until_ns = perf_reader_take(s, &s->backlogs);
    labels_take(s->labels);
    while ((backlog = perf_oldest(s, s->until_ns))) {
        size_t ring = (size_t)(backlog - s->backlogs.at);
        if (s->deep)
            deep_stacks_until(s->deep, backlog->first.time);
        if (ring % PERF_RINGS == PERF_RING_WAKES)
            perf_wakes_happened(s, &backlog->first);
        else
            perf_happened(s, &backlog->first);
        perf_backlog_drop_first(backlog);
    }
    if (s->deep)
        deep_stacks_until(s->deep, s->until_ns);
}

/* Places that were looked up by stopping threads first: samples that come now may need them. */
static uint64_t perf_round(struct source *source, uint64_t now_ns)
{
    struct perf_source *s = (struct perf_source *)source;
    if (s->places)
        ptrace_places_tell(s->places, s->collector);
    if (s->deep)
        deep_stacks_take(s->deep);
    perf_take(s);
    redrawn_clocks_check(s, now_ns);
    inherited_clocks_check(s, now_ns);
    perf_wakes_pace(s, now_ns);
    return s->waits ? waits_poll(s->waits, now_ns, s->until_ns) : IDLE_NS;
}

/* --- the end --------------------------------------------------------------------------------- */

/* Counts of all events on all CPUs, with what inherited ones have counted. */
static void perf_read_counters(struct perf_source *s)
{
    s->result->cpu_ns = 0;
    s->tells_lost = true;
    memset(s->totals, 0, s->asked * sizeof *s->totals);
    for (size_t i = 0; i < s->events.len; i++) {
        uint64_t count[2] = {0};
        const struct perf_event *event = &s->events.at[i];
        if (read(event->fd, count, sizeof count) <= 0)
            continue;
        if (event->choice == s->tasks && s->choices.at[0].is_clock)
            s->result->cpu_ns += count[0];
        if (event->choice < s->asked && s->choices.at[event->choice].unit == RECORDING_UNIT_COUNT)
            s->totals[event->choice] += count[0];
        if (event->choice != 0)
            continue;
        s->tells_lost &= event->tells_lost;
        s->lost_first += count[1];
    }
}

/* A process that goes on after the recording has reported no counts: what the counters have beyond
 * those reported is its own, unless there are others that have not ended. */
static void perf_tell_attached(struct perf_source *s)
{
    struct proc_tids tids = {0};
    uint64_t told = 0;
    if (!s->options.is_attached || !s->result->user_only || collector_running(s->collector) > 1)
        return;
    pid_t pid = s->options.attached->at.at[0];
    for (size_t i = 0; i < s->threads.len; i++)
        told += s->threads.at[i].cpu_ns;
    if (proc_list_threads(pid, &tids) && s->result->cpu_ns > told)
        for (size_t i = 0; i < tids.at.len; i++)
            collector_thread_cpu(s->collector, pid, tids.at.at[i],
                                 i ? 0 : s->result->cpu_ns - told);
    vec_free(&tids.at);
}

/* The buffers report losses before the next record that found room; events, all of it. */
static void perf_tell_lost(struct perf_source *s)
{
    uint64_t lost = s->tells_lost ? s->lost_first : s->lost;
    uint64_t ns = perf_scale_first_periods(s, lost);
    if (lost < s->lost)
        lost = s->lost;
    if (lost)
        collector_lose(s->collector, RECORDING_LOST_RECORDS, LOST_RECORDS, lost, ns);
    if (s->lost_tasks)
        collector_lose(s->collector, RECORDING_LOST_RECORDS, LOST_TASKS, s->lost_tasks, 0);
}

/* Unreported counts of threads that have all ended. Their owners are unknown. */
static void perf_scale_told(struct perf_source *s)
{
    double all = (double)s->result->cpu_ns, told = (double)s->told_ns;
    if (s->counts == RECORDING_NONE || s->options.is_attached || collector_running(s->collector))
        return;
    if (told > 0 && told != all)
        collector_scale_threads(s->collector, all / told);
}

/* Calls for each thread of the processes that are attached to, as they are now: threads that have
 * begun since are among them. */
static void perf_each_attached(struct perf_source *s,
                               void (*call)(struct perf_source *s, pid_t pid, pid_t tid))
{
    struct proc_tids tids = {0};
    for (size_t i = 0; s->options.is_attached && i < s->options.attached->at.len; i++) {
        pid_t pid = s->options.attached->at.at[i];
        if (proc_list_threads(pid, &tids))
            for (size_t k = 0; k < tids.at.len; k++)
                call(s, pid, tids.at.at[k]);
    }
    vec_free(&tids.at);
}

static void perf_add_runs(struct perf_source *s, pid_t pid, pid_t tid)
{
    struct proc_thread files;
    struct proc_times times;
    proc_thread_init(&files);
    if (proc_thread_times(&files, pid, tid, false, &times))
        s->runs += times.runs;
}

/* How often threads of processes that run have come to a CPU. */
static uint64_t perf_runs(struct perf_source *s)
{
    s->runs = 0;
    perf_each_attached(s, perf_add_runs);
    return s->runs;
}

/* How often the program's threads left the CPU: by the accounts of those that were waited for, or
 * of those that are still there. */
static uint64_t perf_switches(struct perf_source *s)
{
    if (s->options.is_attached) {
        uint64_t runs = perf_runs(s);
        return runs > s->runs_before ? runs - s->runs_before : 0;
    }
    return collector_accounts(s->collector).switches;
}

/* Samples that were left out have interrupted the program all the same. Switches are priced only
 * where they may matter. */
static void perf_estimate_cost(struct perf_source *s)
{
    enum { SWITCH_NS = 10 * 1000, PART = 50 }; /* one takes that at most */
    uint64_t begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID), switches = perf_switches(s);
    perf_attrs attrs = {0};
    if (s->result->samples)
        s->result->cost_ns =
            s->interrupts * perf_cost_of_sample(&s->layout, s->stack_bytes, s->result->user_only);
    if (switches * SWITCH_NS > s->result->cpu_ns / PART) {
        perf_list_attrs(s, &attrs);
        s->result->cost_ns += switches * perf_cost_of_switch(attrs.at, attrs.len);
        vec_free(&attrs);
    }
    s->result->estimating_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
}

static void perf_end_places(struct perf_source *s)
{
    if (s->places)
        ptrace_places_tell(s->places, s->collector);
    ptrace_places_free(s->places);
    s->places = NULL;
    s->source.stops_apart = false;
}

/* In this order: events stop; what the buffers still have; waits that go on; counts, which scale
 * what samples say; losses. */
static void perf_finish(struct source *source, uint64_t now_ns)
{
    struct perf_source *s = (struct perf_source *)source;
    for (size_t i = 0; i < s->events.len; i++)
        ioctl(s->events.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    perf_end_places(s);
    deep_looks_end(s->looks);
    if (s->deep)
        deep_stacks_take(s->deep);
    perf_reader_stop(s);
    perf_take(s);
    if (s->deep)
        deep_stacks_finish(s->deep);
    if (s->waits)
        waits_finish(s->waits, now_ns);
    labels_finish(s->labels);
    perf_read_counters(s);
    for (uint32_t i = 0; i < s->asked && !s->options.no_follow; i++)
        collector_event_total(s->collector, i, s->totals[i]);
    perf_tell_attached(s);
    perf_scale_told(s);
    perf_tell_lost(s);
    perf_wakes_finish(s);
    if (s->throttled)
        collector_lose(s->collector, RECORDING_LOST_THROTTLED, THROTTLED, s->throttled, 0);
    perf_estimate_cost(s);
}

static void perf_forked_program(struct source *source, pid_t program)
{
    struct perf_source *s = (struct perf_source *)source;
    if (s->places)
        ptrace_places_child(s->places, program);
}

static void perf_settle(struct source *source)
{
    struct perf_source *s = (struct perf_source *)source;
    if (s->deep)
        deep_stacks_finish(s->deep);
}

static void perf_free(struct source *source)
{
    struct perf_source *s = (struct perf_source *)source;
    ptrace_places_free(s->places); /* may be reading a stack for s->looks */
    deep_stacks_free(s->deep);
    deep_looks_free(s->looks);
    perf_reader_deinit(s);
    redrawn_clocks_deinit(&s->redrawn);
    inherited_clocks_deinit(&s->inherited);
    for (size_t i = 0; i < s->backlogs.len; i++)
        perf_backlog_deinit(&s->backlogs.at[i]);
    vec_free(&s->backlogs);
    perf_close(s);
    waits_free(s->waits);
    labels_free(s->labels);
    vec_free(&s->choices);
    free(s->totals);
    for (size_t i = 0; i < s->periods.len; i++)
        periods_deinit(&s->periods.at[i]);
    map_deinit(&s->thread_of);
    map_deinit(&s->draw_of);
    vec_free(&s->draws);
    vec_free(&s->threads);
    vec_free(&s->periods);
    vec_free(&s->events);
    vec_free(&s->rings);
    for (size_t i = 0; i < s->apart.len; i++)
        close(s->apart.at[i]);
    vec_free(&s->apart);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    free(s);
}

/* Only for an event that counts waiting as well. */
static void perf_make_waits(struct perf_source *s)
{
    for (uint32_t i = 0; i < s->choices.len && s->options.wants_waits && !s->waits; i++)
        if (s->choices.at[i].is_wall)
            s->waits = waits_new(
                s->collector,
                &(struct waits_options){.event = i, .arch = s->options.arch, .labels = s->labels});
}

/* Threads of a process that runs already may wait throughout: no record would say so. */
static void perf_found_waiting(struct perf_source *s, pid_t pid, pid_t tid)
{
    if (s->waits)
        waits_found(s->waits, pid, tid, clock_now());
}

static void perf_begin_places(struct perf_source *s, pid_t pid, pid_t tid)
{
    if (s->places)
        ptrace_places_begin(s->places, pid, tid, 0);
}

static bool perf_prepare_look(void *context)
{
    return deep_looks_prepare(((struct perf_source *)context)->looks);
}

static size_t perf_read_whole(void *context, pid_t tid, const struct unwind_registers *registers)
{
    return deep_looks_stopped(((struct perf_source *)context)->looks, tid, registers);
}

static void perf_want_whole(void *context, pid_t pid, pid_t tid, size_t len)
{
    deep_stacks_cut(((struct perf_source *)context)->deep, pid, tid, len);
}

/* Looks at whole stacks: by events of the kernel's, or where these are not to be had, whenever a
 * thread is stopped for its place in the kernel. */
static void perf_make_looks(struct perf_source *s)
{
    bool is_user = s->result->user_only, has_stops = s->faulting != RECORDING_NONE;
    if (s->options.no_stacks || (is_user && (!has_stops || s->options.no_stops)))
        return;
    s->looks = is_user ? deep_looks_new_stopping() : deep_looks_new(s->options.rate);
    if (s->looks)
        s->deep = deep_stacks_new(s->collector, s->looks, s->stack_bytes);
}

/* Threads of a process that runs already begin here; all others by their own records. */
static void perf_make_places(struct perf_source *s)
{
    struct ptrace_reader reader = {s, perf_prepare_look, perf_read_whole, perf_want_whole};
    if (s->faulting == RECORDING_NONE || s->options.no_stops)
        return;
    s->places = ptrace_places_new(s->options.rate, s->looks ? &reader : &(struct ptrace_reader){0});
    s->source.stops_apart = s->places != NULL;
    perf_each_attached(s, perf_begin_places);
}

/* For the events that have none yet. */
static void source_make_periods(struct perf_source *s)
{
    for (size_t i = s->periods.len; i < s->choices.len; i++) {
        vec_push(&s->periods, (struct periods){0});
        periods_init(&s->periods.at[i], s->choices.at[i].period, (uint64_t)getpid() + i * 7919);
    }
}

/* Periods are drawn, and the reader is started, before anything is sampled; events of a program to
 * come are switched on by its exec. */
bool perf_source_new(struct source **out, struct collector *c, const struct source_options *o,
                     const struct event_choice *events, size_t events_len,
                     struct perf_source_result *result, struct err *e)
{
    struct perf_source *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    *s = (struct perf_source){.source = {.round = perf_round,
                                         .finish = perf_finish,
                                         .free = perf_free,
                                         .forked = perf_forked_program,
                                         .settle = perf_settle,
                                         .wake_fd = -1},
                              .collector = c,
                              .options = *o,
                              .result = result,
                              .layout = perf_layout_live(o->arch, !o->no_stacks),
                              .wakes_layout = perf_layout_tracepoint(o->arch),
                              .reader = {.end = -1, .news = -1}};
    *result = (struct perf_source_result){0};
    s->labels = labels_new(c, o->arch);
    for (size_t i = 0; i < events_len; i++)
        vec_push(&s->choices, events[i]);
    source_make_periods(s);
    s->asked = (uint32_t)events_len;
    s->totals = calloc(events_len + 1, sizeof *s->totals);
    if (!s->totals)
        memory_exhausted(events_len * sizeof *s->totals);
    s->wake_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->wake_fd < 0 || !perf_open_all(s, e)) {
        perf_free(&s->source);
        return false;
    }
    source_make_periods(s);
    s->has_redrawn = s->choices.at[0].is_clock && perf_is_drawn(s, 0) && o->rate <= MOST_REDRAWN;
    redrawn_clocks_init(&s->redrawn, s->choices.at[0].period);
    for (size_t i = 0; i < s->rings.len; i++)
        vec_push(&s->backlogs, (struct perf_backlog){0});
    if (!o->is_attached)
        perf_draw_periods(s, true);
    if (o->is_attached)
        s->runs_before = perf_runs(s);
    perf_make_waits(s);
    perf_make_looks(s);
    perf_make_places(s);
    if (!perf_reader_start(s)) {
        perf_free(&s->source);
        return err_errno(e, "perf events", errno);
    }
    s->source.wake_fd = s->reader.news;
    perf_enable(s);
    perf_each_attached(s, perf_found_waiting);
    *out = &s->source;
    return true;
}
