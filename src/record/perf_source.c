/* Opening events, and telling the collector what their buffers say, in the order of time. */
#include "record/perf_source.h"

#include "base/vec.h"
#include "record/events.h"
#include "record/perf_record.h"
#include "record/perf_ring.h"
#include "record/periods.h"
#include "record/waits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_BUFFER = 8 << 20,
    LEAST_BUFFER = 32 << 10,
    MOST_STACK = 16 << 10,
    LEAST_STACK = 1 << 10,
    SWITCH_STACK = 8 << 10,
    WAKE_BYTES = 96 << 10,
    SETTLED_NS = 500 * 1000, /* records so old are in the buffers on all CPUs */
    BUSY_NS = 4 * 1000 * 1000,
    FORKING_NS = 1000 * 1000,
    IDLE_NS = 64 * 1000 * 1000,
};

#define THROTTLED                                                             \
    "the kernel slowed sampling down; a lower --rate avoids it, or a higher " \
    "kernel.perf_event_max_sample_rate"
#define LOST_RECORDS                                                                   \
    "samples did not fit into the kernel's buffers, because this machine was busy or " \
    "kernel.perf_event_mlock_kb is small"

/* One event on one CPU, of the launcher or of a thread that was attached to. */
struct perf_event {
    int fd;
    uint32_t cpu;    /* its place in `rings` */
    uint32_t choice; /* of the list that was asked for */
    uint64_t id;
};

/* What samples of a thread's young clocks say, and what its counters said at its end. */
struct perf_thread {
    uint64_t young_weight, young_ns, cpu_ns;
};

struct perf_source {
    struct source source;
    struct collector *collector;
    struct source_options options;
    struct perf_source_result *result;
    VEC(struct event_choice) choices; /* those asked for, and what waits need */
    struct perf_layout layout;
    VEC(struct perf_event) events;
    VEC(struct perf_ring) rings; /* by CPU */
    struct map choice_of;        /* id -> choice */
    VEC(struct periods) periods; /* by choice */
    struct map thread_of;        /* tid -> index of `threads` */
    VEC(struct perf_thread) threads;
    uint64_t young_ns, young_weight; /* of threads that have ended: the time, and its samples */
    size_t buffer_bytes;
    uint32_t stack_bytes;
    struct waits *waits; /* NULL: not wanted */
    uint32_t leaving;    /* the choice whose samples are of threads leaving the CPU */
    int wake_fd;
    int apart; /* perf_keep_apart()'s event; -1: none */
    uint64_t wait_ns;
    bool has_forks;     /* since periods were drawn */
    uint32_t first_tid; /* of the program */
    uint64_t lost, throttled;
};

/* --- opening --------------------------------------------------------------------------------- */

static int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr perf_attr(const struct perf_source *s, uint32_t choice)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    events_attr(&s->choices.at[choice], &attr);
    attr.sample_type = perf_layout_sample_type(&s->layout);
    attr.sample_regs_user = perf_layout_registers(&s->layout);
    attr.sample_stack_user = s->layout.has_stacks ? s->stack_bytes : 0;
    if (choice == s->leaving && attr.sample_stack_user > SWITCH_STACK)
        attr.sample_stack_user = SWITCH_STACK; /* these may be many */
    attr.exclude_kernel |= s->result->user_only;
    attr.exclude_hv |= s->result->user_only;
    attr.disabled = 1;
    attr.enable_on_exec = !s->options.is_attached;
    attr.inherit = !s->options.no_follow;
    attr.sample_id_all = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    attr.watermark = 1;
    attr.wakeup_watermark =
        s->buffer_bytes / 4 < WAKE_BYTES ? (uint32_t)(s->buffer_bytes / 4) : WAKE_BYTES;
    if (choice)
        return attr;
    attr.task = attr.comm = attr.comm_exec = 1;
    attr.mmap = attr.mmap2 = attr.build_id = 1;
    attr.inherit_stat = attr.inherit;
    attr.context_switch = s->options.wants_waits;
    return attr;
}

/* Older kernels refuse what they do not know: build-ids came with 5.12. */
static int perf_open_with_less(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    int fd = perf_open(attr, pid, cpu);
    if (fd >= 0 || errno != EINVAL || !attr->build_id)
        return fd;
    attr->build_id = 0;
    return perf_open(attr, pid, cpu);
}

static bool perf_map_ring(struct perf_source *s, struct perf_ring *ring, int fd)
{
    while (!perf_ring_map(ring, fd, s->buffer_bytes)) {
        if ((errno != EPERM && errno != ENOMEM) || s->buffer_bytes <= LEAST_BUFFER)
            return false;
        s->buffer_bytes /= 2;
    }
    return true;
}

/* The first event of a CPU has the buffer, all others write into it. */
static bool perf_add(struct perf_source *s, uint32_t choice, pid_t pid, uint32_t cpu)
{
    struct perf_event_attr attr = perf_attr(s, choice);
    struct perf_event event = {perf_open_with_less(&attr, pid, (int)cpu), cpu, choice, 0};
    if (event.fd < 0)
        return false;
    vec_push(&s->events, event);
    struct perf_event *kept = &s->events.at[s->events.len - 1];
    struct perf_ring *ring = &s->rings.at[cpu];
    if (ioctl(kept->fd, PERF_EVENT_IOC_ID, &kept->id))
        return false;
    *map_at(&s->choice_of, kept->id, 0, choice, NULL) = choice;
    if (!ring->pages) {
        struct epoll_event wake = {.events = EPOLLIN};
        return perf_map_ring(s, ring, kept->fd) &&
               !epoll_ctl(s->wake_fd, EPOLL_CTL_ADD, kept->fd, &wake);
    }
    for (size_t i = 0; i < s->events.len; i++)
        if (s->events.at[i].cpu == cpu)
            return !ioctl(kept->fd, PERF_EVENT_IOC_SET_OUTPUT, s->events.at[i].fd);
    return false;
}

/* Threads that take turns may exchange their events, the launcher and the program among them,
 * unless one has an event that is not inherited. The launcher's must stay its own: what is changed
 * there is for threads to come. */
static bool perf_keep_apart(struct perf_source *s)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .exclude_kernel = 1,
                                   .disabled = 1};
    if (s->options.is_attached)
        return true;
    s->apart = perf_open(&attr, s->options.launcher, -1);
    return s->apart >= 0;
}

/* All events of a process or thread, on all CPUs. A CPU that is not there has no events. */
static bool perf_add_all(struct perf_source *s, pid_t pid)
{
    for (uint32_t cpu = 0; cpu < s->rings.len; cpu++)
        for (uint32_t choice = 0; choice < s->choices.len; choice++)
            if (!perf_add(s, choice, pid, cpu) && errno != ENODEV)
                return false;
    return true;
}

static void perf_close(struct perf_source *s)
{
    for (size_t i = 0; i < s->rings.len; i++)
        perf_ring_unmap(&s->rings.at[i]);
    for (size_t i = 0; i < s->events.len; i++)
        close(s->events.at[i].fd);
    s->events.len = s->rings.len = 0;
    map_deinit(&s->choice_of);
    s->choice_of = (struct map){0};
}

/* Buffers count against what an ordinary user may lock; stacks must leave room for some samples.
 */
static bool perf_try(struct perf_source *s, pid_t pid)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    perf_close(s);
    s->buffer_bytes = MOST_BUFFER;
    s->stack_bytes = MOST_STACK;
    for (long i = 0; i < cpus; i++)
        vec_push(&s->rings, (struct perf_ring){0});
    if (!perf_add_all(s, pid))
        return false;
    uint32_t fits = (uint32_t)(s->buffer_bytes / 32);
    if (fits >= s->stack_bytes)
        return true;
    size_t buffer = s->buffer_bytes;
    perf_close(s);
    s->buffer_bytes = buffer;
    s->stack_bytes = fits > LEAST_STACK ? fits & -UINT32_C(8) : LEAST_STACK;
    for (long i = 0; i < cpus; i++)
        vec_push(&s->rings, (struct perf_ring){0});
    return perf_add_all(s, pid);
}

static void perf_more_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Threads that leave the CPU are in the kernel. */
static void perf_drop_leaving(struct perf_source *s)
{
    if (s->leaving != RUN_NONE)
        s->choices.len--;
    s->leaving = RUN_NONE;
}

/* The last choice: it is the collector's business no more than the waits'. */
static void perf_add_leaving(struct perf_source *s)
{
    s->leaving = RUN_NONE;
    if (!s->options.wants_waits || s->options.no_stacks)
        return;
    s->leaving = (uint32_t)s->choices.len;
    vec_push(&s->choices, (struct event_choice){.name = "leaving",
                                                .type = PERF_TYPE_SOFTWARE,
                                                .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                                .unit = RUN_UNIT_COUNT,
                                                .period = 1});
}

static bool perf_open_all(struct perf_source *s, struct err *e)
{
    pid_t pid = s->options.is_attached ? s->options.program : s->options.launcher;
    bool is_open = perf_try(s, pid);
    if (!is_open && (errno == EACCES || errno == EPERM)) {
        s->result->user_only = true;
        perf_drop_leaving(s);
        is_open = perf_try(s, pid);
    }
    if (is_open && perf_keep_apart(s))
        return true;
    s->result->is_refused = errno == EACCES || errno == EPERM || errno == ENOSYS;
    return err_set(e, "perf events: %s", strerror(errno));
}

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

/* A thread that ends tells the count of each CPU's event. */
static void perf_counted(struct perf_source *s, const struct perf_record *r)
{
    const uint32_t *choice = map_find(&s->choice_of, r->id, 0);
    if (!choice || *choice || !s->choices.at[0].is_clock)
        return;
    struct perf_thread *t = perf_thread(s, r->tid);
    t->cpu_ns += r->value;
    if (r->tid != s->first_tid) /* whose clocks were not drawn */
        t->young_ns += periods_youth(&s->periods.at[0], r->value);
    collector_thread_cpu(s->collector, (pid_t)r->pid, (pid_t)r->tid, t->cpu_ns);
}

static void perf_exited(struct perf_source *s, const struct perf_record *r)
{
    struct perf_thread *t = perf_thread(s, r->tid);
    if (t->young_weight || t->young_ns) {
        s->young_ns += t->young_ns;
        s->young_weight += t->young_weight;
    }
    *t = (struct perf_thread){0}; /* the number may come again */
    if (s->waits)
        waits_exit(s->waits, (pid_t)r->pid, (pid_t)r->tid, r->time);
    collector_exit(s->collector, (pid_t)r->pid, (pid_t)r->tid, r->time);
}

static void perf_forked(struct perf_source *s, const struct perf_record *r)
{
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
    if (sample.is_young && *choice == 0)
        perf_thread(s, r->tid)->young_weight += sample.weight;
    s->result->samples++;
    collector_sample(s->collector, &sample);
}

static void perf_named(struct perf_source *s, const struct perf_record *r)
{
    s->first_tid = s->first_tid ? s->first_tid : r->tid;
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

static void perf_happened(struct perf_source *s, const struct perf_record *r)
{
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
        taken++;
    }
    return taken;
}

/* Threads to come; those that run keep theirs. */
static void perf_draw_periods(struct perf_source *s)
{
    s->has_forks = false;
    for (size_t i = 0; i < s->events.len; i++) {
        uint32_t choice = s->events.at[i].choice;
        uint64_t period = periods_draw(&s->periods.at[choice]);
        if (s->choices.at[choice].period > 1)
            ioctl(s->events.at[i].fd, PERF_EVENT_IOC_PERIOD, &period);
    }
}

static uint64_t perf_round(struct source *source, uint64_t now_ns)
{
    struct perf_source *s = (struct perf_source *)source;
    uint64_t taken = perf_take(s, now_ns - SETTLED_NS);
    bool forks = s->has_forks;
    if (forks && !s->options.is_attached)
        perf_draw_periods(s);
    if (taken)
        s->wait_ns = forks ? FORKING_NS : BUSY_NS;
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

static void perf_finish(struct source *source, uint64_t now_ns)
{
    struct perf_source *s = (struct perf_source *)source;
    for (size_t i = 0; i < s->events.len; i++)
        ioctl(s->events.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    perf_take(s, UINT64_MAX);
    if (s->waits)
        waits_finish(s->waits, now_ns);
    perf_read_counters(s);
    if (s->young_weight && s->young_ns && !s->result->user_only)
        collector_scale_young(s->collector, (double)s->young_ns / (double)s->young_weight);
    if (s->lost)
        collector_lose(s->collector, RUN_LOST_RECORDS, LOST_RECORDS, s->lost,
                       s->choices.at[0].is_clock ? s->lost * s->choices.at[0].period : 0);
    if (s->throttled)
        collector_lose(s->collector, RUN_LOST_THROTTLED, THROTTLED, s->throttled, 0);
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
    if (s->apart >= 0)
        close(s->apart);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    free(s);
}

static void perf_make_waits(struct perf_source *s)
{
    for (uint32_t i = 0; i < s->choices.len && s->options.wants_waits && !s->waits; i++)
        if (s->choices.at[i].is_wall)
            s->waits = waits_new(s->collector,
                                 &(struct waits_options){.event = i,
                                                         .machine = s->options.machine,
                                                         .no_looking = s->leaving != RUN_NONE});
}

bool perf_source_new(struct source **out, struct collector *c, const struct source_options *o,
                     const struct event_choice *events, size_t events_len,
                     struct perf_source_result *result, struct err *e)
{
    struct perf_source *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    *s = (struct perf_source){.source = {perf_round, NULL, perf_finish, perf_free, -1},
                              .collector = c,
                              .options = *o,
                              .result = result,
                              .layout = {o->machine, !o->no_stacks},
                              .apart = -1,
                              .wait_ns = BUSY_NS};
    *result = (struct perf_source_result){0};
    for (size_t i = 0; i < events_len; i++)
        vec_push(&s->choices, events[i]);
    perf_add_leaving(s);
    s->source.wake_fd = s->wake_fd = epoll_create1(EPOLL_CLOEXEC);
    perf_more_descriptors();
    if (s->wake_fd < 0 || !perf_open_all(s, e)) {
        perf_free(&s->source);
        return false;
    }
    for (size_t i = 0; i < s->choices.len; i++) {
        vec_push(&s->periods, (struct periods){0});
        periods_init(&s->periods.at[i], s->choices.at[i].period, (uint64_t)getpid() + i * 7919);
    }
    perf_make_waits(s);
    *out = &s->source;
    return true;
}
