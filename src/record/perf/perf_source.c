/* Telling the collector what the buffers of perf events say, in the order of time. */
#include "record/perf/perf_source.h"

#include "record/perf/perf_cost.h"
#include "record/perf/perf_source_private.h"
#include "record/prompt.h"
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
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    SETTLED_NS = 500 * 1000, /* records so old are in the buffers on all CPUs */
    BUSY_NS = 10 * 1000 * 1000,
    DEEP_NS = 600 * 1000, /* while stacks are read on from the process, which does not wait */
    FORKING_NS = 500 * 1000,
    FORKING_FOR_NS = 50 * 1000 * 1000,
    RECORDS_A_DRAW = 16, /* while many are read, time goes by */
    IDLE_NS = 64 * 1000 * 1000,
    MOST_CHANCE = 4,
};

#define THROTTLED                                                             \
    "the kernel slowed sampling down; a lower --rate avoids it, or a higher " \
    "kernel.perf_event_max_sample_rate"
#define LOST_RECORDS                                                                   \
    "samples did not fit into the kernel's buffers, because this machine was busy or " \
    "kernel.perf_event_mlock_kb is small"

/* --- what happens ---------------------------------------------------------------------------- */

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

static struct perf_thread *perf_thread(struct perf_source *s, uint32_t tid)
{
    bool is_new;
    uint32_t at = *map_at(&s->thread_of, tid, 0, (uint32_t)s->threads.len, &is_new);
    if (is_new)
        vec_push(&s->threads, (struct perf_thread){0});
    return &s->threads.at[at];
}

/* Of the program, which has been waited for, and what it waited for. */
static uint64_t perf_user_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (uint64_t)usage.ru_utime.tv_sec * 1000000000 + (uint64_t)usage.ru_utime.tv_usec * 1000;
}

/* Young samples are right on average only; the time of all clocks together is known, and what old
 * samples say of it. Each clock that ends leaves some part of its last period out, or has some too
 * much: what young samples weigh must be well above that. */
static void perf_scale_young(struct perf_source *s)
{
    double young = (double)s->young_weight;
    double all = (double)(s->result->user_only ? perf_user_ns() : s->result->cpu_ns);
    double lost = (double)s->lost * (double)s->choices.at[0].period;
    double left = all - (double)s->old_weight - lost;
    double chance = (double)s->choices.at[0].period * sqrt((double)s->threads.len + 1);
    if (s->options.is_attached || s->options.no_follow || !s->choices.at[0].is_clock ||
        young < MOST_CHANCE * chance || left <= 0)
        return;
    collector_scale_young(s->collector, left / young);
}

/* A thread that has ended tells the count of each CPU's event, after its end. */
static void perf_counted(struct perf_source *s, const struct perf_record *r)
{
    const uint32_t *choice = map_find(&s->choice_of, r->id, 0);
    if (!choice || *choice || !s->choices.at[0].is_clock)
        return;
    struct perf_thread *t = perf_thread(s, r->tid);
    t->cpu_ns += r->value;
    collector_thread_cpu(s->collector, (pid_t)r->pid, (pid_t)r->tid, t->cpu_ns);
}

static void perf_exited(struct perf_source *s, const struct perf_record *r)
{
    if (s->waits)
        waits_exit(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time);
    collector_exit(s->collector, (pid_t)r->pid, (pid_t)r->tid, r->time);
}

static void perf_forked(struct perf_source *s, const struct perf_record *r)
{
    *perf_thread(s, r->tid) = (struct perf_thread){0}; /* the number may come again */
    collector_fork(s->collector, (pid_t)r->pid, (pid_t)r->tid, (pid_t)r->parent_pid, r->time);
    if (s->waits)
        waits_fork(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time);
    s->has_forks = true;
}

static void perf_switched(struct perf_source *s, const struct perf_record *r)
{
    bool is_out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
    bool is_ready = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    if (s->waits)
        waits_switch(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time, is_out, is_ready);
}

static void perf_sampled(struct perf_source *s, const struct perf_record *r)
{
    const uint32_t *choice = map_find(&s->choice_of, r->id, 0);
    if (!choice || !r->period)
        return;
    if (*choice == s->leaving) {
        if (r->has_user_code)
            waits_leaving(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time, &r->registers, r->stack);
        return;
    }
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    struct collector_sample sample = {.pid = (pid_t)r->pid,
                                      .tid = (pid_t)r->tid,
                                      .at_ns = r->time,
                                      .weight = r->period,
                                      .event = *choice,
                                      .where = mode == PERF_RECORD_MISC_USER ? COLLECTOR_IN_USER
                                                                             : COLLECTOR_IN_KERNEL,
                                      .syscall = -1,
                                      .registers = r->has_user_code ? &r->registers : NULL,
                                      .stack = r->stack,
                                      .is_live = true};
    if (s->choices.at[*choice].period > 1)
        sample.weight =
            periods_weigh(&s->periods.at[*choice], r->stream, r->period, &sample.is_young);
    if (*choice == 0)
        *(sample.is_young ? &s->young_weight : &s->old_weight) += sample.weight;
    s->result->samples++;
    collector_sample(s->collector, &sample);
}

static void perf_named(struct perf_source *s, const struct perf_record *r)
{
    s->first_tid = s->first_tid ? s->first_tid : r->pid;
    if (!(r->misc & PERF_RECORD_MISC_COMM_EXEC)) {
        collector_name(s->collector, (pid_t)r->pid, (pid_t)r->tid, r->text, r->time);
        return;
    }
    if (s->waits)
        waits_exec(s->waits, (pid_t)r->pid, r->time);
    collector_exec(s->collector, (pid_t)r->pid, r->text, r->time);
}

static void perf_lost(struct perf_source *s, const struct perf_record *r)
{
    s->lost += r->value;
    if (s->waits)
        waits_lost(s->waits, r->time);
}

/* With --no-follow. Threads come out of the first process as processes do: all inherit. */
static bool perf_is_left_out(struct perf_source *s, const struct perf_record *r)
{
    return s->options.no_follow && s->first_tid && r->pid != s->first_tid &&
           (r->type != PERF_RECORD_LOST && r->type != PERF_RECORD_THROTTLE);
}

static void perf_happened(struct perf_source *s, const struct perf_record *r)
{
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

/* The buffer whose first record is the oldest, and that record; NULL: all are empty. */
static struct perf_ring *perf_oldest(struct perf_source *s, uint64_t until, struct perf_record *out,
                                     size_t *len)
{
    struct perf_ring *oldest = NULL;
    for (size_t i = 0; i < s->rings.len; i++) {
        struct perf_ring *ring = &s->rings.at[i];
        struct perf_record r;
        struct bytes first;
        while (ring->pages && (first = perf_ring_first(ring)).len) {
            if (perf_record_read(&s->layout, first, &r))
                break;
            perf_ring_take(ring, first.len);
        }
        if (!ring->pages || !first.len || r.time > until || (oldest && r.time >= out->time))
            continue;
        oldest = ring;
        *out = r;
        *len = first.len;
    }
    return oldest;
}

/* Threads to come; those that run keep theirs. */
static void perf_draw_periods(struct perf_source *s)
{
    s->has_forks = false;
    if (s->options.is_attached || !s->options.rate)
        return;
    for (size_t i = 0; i < s->events.len; i++) {
        uint32_t choice = s->events.at[i].choice;
        uint64_t period = periods_draw(&s->periods.at[choice]);
        if (s->choices.at[choice].period > 1)
            ioctl(s->events.at[i].fd, PERF_EVENT_IOC_PERIOD, &period);
    }
}

static uint64_t perf_take(struct perf_source *s, uint64_t until)
{
    struct perf_record r;
    struct perf_ring *ring;
    uint64_t taken = 0;
    size_t len = 0;
    for (size_t i = 0; i < s->rings.len; i++)
        if (s->rings.at[i].pages)
            perf_ring_look(&s->rings.at[i]);
    while ((ring = perf_oldest(s, until, &r, &len))) {
        perf_happened(s, &r);
        perf_ring_take(ring, len);
        perf_ring_release(ring);
        if (++taken % RECORDS_A_DRAW == 0 && s->has_forks)
            perf_draw_periods(s);
    }
    return taken;
}

static uint64_t perf_round(struct source *source, uint64_t now_ns)
{
    struct perf_source *s = (struct perf_source *)source;
    uint64_t taken = perf_take(s, now_ns - SETTLED_NS);
    if (s->has_forks && !s->forked_ns)
        prompt_turns();
    if (s->has_forks)
        s->forked_ns = now_ns;
    perf_draw_periods(s);
    uint64_t live_reads = collector_live_reads(s->collector);
    bool is_deep = live_reads != s->live_reads;
    s->live_reads = live_reads;
    if (taken)
        s->wait_ns = now_ns - s->forked_ns < FORKING_FOR_NS ? FORKING_NS
                     : is_deep                              ? DEEP_NS
                                                            : BUSY_NS;
    else if (s->wait_ns < IDLE_NS)
        s->wait_ns *= 2;
    uint64_t look_ns = s->waits ? waits_poll(s->waits, now_ns, now_ns - SETTLED_NS) : IDLE_NS;
    return look_ns < s->wait_ns ? look_ns : s->wait_ns;
}

/* --- the end --------------------------------------------------------------------------------- */

static void perf_read_counters(struct perf_source *s)
{
    s->result->cpu_ns = 0;
    for (size_t i = 0; i < s->events.len; i++) {
        uint64_t count;
        const struct perf_event *event = &s->events.at[i];
        if (s->choices.at[event->choice].is_clock && event->choice == 0 &&
            read(event->fd, &count, sizeof count) == sizeof count)
            s->result->cpu_ns += count;
    }
}

static void perf_estimate_cost(struct perf_source *s)
{
    uint64_t begun = clock_own_cpu();
    if (s->result->samples)
        s->result->cost_ns = s->result->samples *
                             perf_cost_of_sample(&s->layout, s->stack_bytes, s->result->user_only);
    s->result->estimating_ns = clock_own_cpu() - begun;
}

static void perf_finish(struct source *source, uint64_t now_ns)
{
    struct perf_source *s = (struct perf_source *)source;
    for (size_t i = 0; i < s->events.len; i++)
        ioctl(s->events.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    perf_take(s, UINT64_MAX);
    if (s->waits)
        waits_finish(s->waits, now_ns);
    perf_read_counters(s);
    perf_scale_young(s);
    if (s->lost)
        collector_lose(s->collector, RUN_LOST_RECORDS, LOST_RECORDS, s->lost,
                       s->choices.at[0].is_clock ? s->lost * s->choices.at[0].period : 0);
    if (s->throttled)
        collector_lose(s->collector, RUN_LOST_THROTTLED, THROTTLED, s->throttled, 0);
    perf_estimate_cost(s);
}

static void perf_forked_program(struct source *source, pid_t program)
{
    (void)!perf_keep_apart((struct perf_source *)source, program); /* less precise without */
}

static void perf_free(struct source *source)
{
    struct perf_source *s = (struct perf_source *)source;
    perf_close(s);
    waits_free(s->waits);
    vec_free(&s->choices);
    for (size_t i = 0; i < s->periods.len; i++)
        periods_deinit(&s->periods.at[i]);
    map_deinit(&s->thread_of);
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

static void perf_make_waits(struct perf_source *s)
{
    for (uint32_t i = 0; i < s->choices.len && s->options.wants_waits && !s->waits; i++)
        if (s->choices.at[i].is_wall)
            s->waits = waits_new(
                s->collector, &(struct waits_options){.event = i, .machine = s->options.machine});
}

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
                                         .wake_fd = -1},
                              .collector = c,
                              .options = *o,
                              .result = result,
                              .layout = {o->machine, !o->no_stacks},
                              .wait_ns = BUSY_NS};
    *result = (struct perf_source_result){0};
    for (size_t i = 0; i < events_len; i++)
        vec_push(&s->choices, events[i]);
    s->source.wake_fd = s->wake_fd = epoll_create1(EPOLL_CLOEXEC);
    s->first_tid = o->is_attached ? (uint32_t)o->program : 0;
    if (s->wake_fd < 0 || !perf_open_all(s, e)) {
        perf_free(&s->source);
        return false;
    }
    for (size_t i = 0; i < s->choices.len; i++) {
        vec_push(&s->periods, (struct periods){0});
        periods_init(&s->periods.at[i], s->choices.at[i].period, (uint64_t)getpid() + i * 7919);
    }
    perf_make_waits(s);
    perf_enable(s);
    *out = &s->source;
    return true;
}
