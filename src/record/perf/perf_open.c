/* Opening events and mapping their buffers: on the launcher, or on each thread of a process that
 * runs.
 *
 *     of each CPU    samples   the requested events, and what waits and faults need
 *                    tasks     CPU time, and what happens to processes and threads
 *                    counts    each thread's CPU time at its end, where the kernel is not sampled
 *                    wakes     who wakes whom, where tracepoints may be had
 *
 * Each of the four has a buffer, into which all events of that kind on that CPU write, whoever's
 * they are. An event is opened for one task on one CPU and inherited: so buffers are few, whatever
 * the number of threads, and descriptors are CPUs times events (times threads, if attached).
 *
 * What the system refuses is tried with less, in this order: older fields of the attributes,
 * smaller buffers, user code alone. */
#include "record/perf/perf_source_private.h"

#include "record/proc_threads.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MOST_BUFFER = 4 << 20, /* for up to USUAL_RATE; twice that above */
    USUAL_RATE = 2000,
    LEAST_BUFFER = 32 << 10,
    BUFFERS_A_SECOND = 20, /* at most, of samples of one thread at the requested rate */
    SAMPLES_A_BUFFER = 32, /* at least */
    TASKS_PART = 16,       /* of a buffer's size that what tasks do has besides */
    TASKS_PAGES = 4,       /* at least */
    TASKS_WAKE = 512,      /* bytes: seven threads that begin, or half a process */
    MOST_STACK = 63 << 10, /* a record has 64 kB at most, with all else that is in it */
    LEAST_STACK = 1 << 10,
    SWITCH_STACK = 8 << 10,
    FAULT_STACK = 8 << 10,
    FAULTS_A_SAMPLE = 127,   /* some 60 us of them; few enough that short processes have some */
    WAKE_PART = 4,           /* of a buffer */
    WAKES_BUFFER = 16 << 10, /* some 170 wakes in the 10 ms after which it is emptied */
    MOST_LOOKS = 20,         /* at the threads of a process, until no new one is found */
};

/* perf_event_open(2), which the C library has no name for. */
static int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool perf_is_counter(const struct event_choice *c)
{
    return c->type == PERF_TYPE_SOFTWARE && !c->is_clock && c->period > 1;
}

bool perf_is_drawn(const struct perf_source *s, uint32_t choice)
{
    const struct event_choice *c = &s->choices.at[choice];
    return s->options.rate && !perf_is_counter(c) && c->period > 1;
}

/* The kernel takes each event of a software counter for a sample of its own if samples are to have
 * their periods. Raw data, of which these have none, fills the same eight bytes. */
static void perf_attr_counter(struct perf_event_attr *attr)
{
    attr->sample_type ^= PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
}

/* What tasks do has its own buffer: it is not lost when samples come in floods. It wakes us at
 * once, so that threads begun in a row have periods of their own. Its event counts CPU time and
 * takes no samples. */
static void perf_attr_tasks(struct perf_event_attr *attr)
{
    attr->sample_period = 0;
    attr->freq = 0;
    attr->task = attr->comm = attr->comm_exec = 1;
    attr->mmap = attr->mmap2 = attr->PERF_ATTR_BUILD_ID = 1;
    attr->wakeup_watermark = TASKS_WAKE;
}

/* A thread that ends writes the counts of the events of all CPUs from the one that it runs on,
 * which the kernel's buffers are not made for: when threads end on several CPUs at once, one may be
 * silent ever after. So these have buffers that nothing else is in, and their sum is checked. */
static void perf_attr_counts(struct perf_event_attr *attr)
{
    attr->sample_period = 0;
    attr->freq = 0;
    attr->inherit_stat = 1;
}

/* Which of a CPU's buffers an event writes into. */
static uint32_t perf_ring_of(const struct perf_source *s, uint32_t choice)
{
    return choice == s->tasks    ? PERF_RING_TASKS
           : choice == s->counts ? PERF_RING_COUNTS
           : choice == s->waking ? PERF_RING_WAKES
                                 : PERF_RING_SAMPLES;
}

/* After how many samples a clock wakes the reader: at WAKE_RATE samples a second, on one CPU. */
enum { WAKE_SAMPLES = 4, WAKE_RATE = 1000, WAKE_CPUS = 4 };

/* More at high rates and on many CPUs, as one reader serves all. */
uint32_t redrawn_clocks_wake(uint32_t rate, uint32_t cpus)
{
    uint32_t samples = rate > WAKE_RATE ? (uint64_t)WAKE_SAMPLES * rate / WAKE_RATE : WAKE_SAMPLES;
    return cpus > WAKE_CPUS ? samples * (cpus / WAKE_CPUS) : samples;
}

/* Their records have a layout of their own, and they wake no reader. */
static void perf_attr_wakes(const struct perf_source *s, struct perf_event_attr *attr)
{
    attr->sample_type = s->wakes_layout.sample_type;
    attr->sample_regs_user = 0;
    attr->sample_stack_user = 0;
    attr->sample_period = 1;
    attr->freq = 0;
}

/* All events of a buffer have the same sample_type, so that their records are read by one layout.
 */
static struct perf_event_attr perf_attr(const struct perf_source *s, uint32_t choice)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    events_attr(&s->choices.at[choice], &attr);
    if (!s->options.rate) { /* counted, not sampled */
        attr.freq = 0;
        attr.sample_period = 0;
    }
    attr.sample_type = s->layout.sample_type;
    attr.sample_regs_user = s->layout.registers;
    attr.sample_stack_user = s->layout.sample_type & PERF_SAMPLE_STACK_USER ? s->stack_bytes : 0;
    if (choice == s->leaving && attr.sample_stack_user > SWITCH_STACK)
        attr.sample_stack_user = SWITCH_STACK; /* these may be many */
    if (choice == s->faulting && attr.sample_stack_user > FAULT_STACK)
        attr.sample_stack_user = FAULT_STACK;
    if (perf_is_counter(&s->choices.at[choice]))
        perf_attr_counter(&attr);
    attr.exclude_kernel |= s->result->user_only;
    attr.exclude_hv |= s->result->user_only;
    attr.disabled = 1;
    attr.enable_on_exec = !s->options.is_attached;
    attr.inherit = 1;
    attr.sample_id_all = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    attr.watermark = 1;
    attr.wakeup_watermark = (uint32_t)(s->buffer_bytes / WAKE_PART);
    if (choice == s->tasks)
        perf_attr_tasks(&attr);
    if (choice == s->counts)
        perf_attr_counts(&attr);
    if (choice == s->waking)
        perf_attr_wakes(s, &attr);
    attr.context_switch = choice == 0 && s->options.wants_waits;
    attr.read_format = choice == s->counts ? 0 : PERF_FORMAT_LOST;
    return attr;
}

void perf_list_attrs(const struct perf_source *s, perf_attrs *out)
{
    for (uint32_t i = 0; i < s->choices.len; i++)
        vec_push(out, perf_attr(s, i));
}

/* Older kernels refuse what they do not know: build-ids came with 5.12, counts of what was lost
 * with 6.0. */
static int perf_open_with_less(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    int fd = perf_open(attr, pid, cpu);
    if (fd >= 0 || errno != EINVAL)
        return fd;
    attr->read_format = 0;
    fd = perf_open(attr, pid, cpu);
    if (fd >= 0 || errno != EINVAL || !attr->PERF_ATTR_BUILD_ID)
        return fd;
    attr->PERF_ATTR_BUILD_ID = 0;
    return perf_open(attr, pid, cpu);
}

/* Of the samples' buffer; the others are a part of it, but not too small. */
static size_t perf_ring_bytes(const struct perf_source *s, uint32_t choice)
{
    size_t least = TASKS_PAGES * (size_t)sysconf(_SC_PAGESIZE), part = s->buffer_bytes / TASKS_PART;
    if (perf_ring_of(s, choice) == PERF_RING_SAMPLES)
        return s->buffer_bytes;
    if (perf_ring_of(s, choice) == PERF_RING_WAKES)
        return WAKES_BUFFER > least ? WAKES_BUFFER : least;
    return part > least ? part : least;
}

/* is_crowded: there is no more memory for buffers, and smaller ones may do. */
static bool perf_map_ring(struct perf_source *s, struct perf_ring *ring, int fd, uint32_t choice)
{
    struct epoll_event wake = {.events = EPOLLIN};
    if (!perf_ring_map(ring, fd, perf_ring_bytes(s, choice))) {
        s->is_crowded = errno == EPERM || errno == ENOMEM;
        return false;
    }
    return choice == s->waking || !epoll_ctl(s->wake_fd, EPOLL_CTL_ADD, fd, &wake);
}

/* The first event of a buffer has it, all others write into it. What is attached to has clocks of
 * its own: each gets its period here, as samples of a clock whose period is changed later go on to
 * report the old one. */
static bool perf_add(struct perf_source *s, uint32_t choice, pid_t pid, uint32_t cpu)
{
    struct perf_event_attr attr = perf_attr(s, choice);
    if (s->options.is_attached && choice < s->periods.len && perf_is_drawn(s, choice))
        attr.sample_period = periods_draw(&s->periods.at[choice], PERIOD_LONG);
    uint32_t number = PERF_RINGS * cpu + perf_ring_of(s, choice);
    struct perf_event event = {
        .fd = perf_open_with_less(&attr, pid, (int)cpu), .ring = number, .choice = choice};
    if (event.fd < 0)
        return false;
    event.tells_lost = attr.read_format;
    vec_push(&s->events, event);
    struct perf_event *kept = &s->events.at[s->events.len - 1];
    struct perf_ring *ring = &s->rings.at[number];
    if (ioctl(kept->fd, PERF_EVENT_IOC_ID, &kept->id))
        return false;
    map_set(&s->choice_of, kept->id, 0, choice);
    if (!ring->pages)
        return perf_map_ring(s, ring, kept->fd, choice);
    for (size_t i = 0; i < s->events.len; i++)
        if (s->events.at[i].ring == number)
            return !ioctl(kept->fd, PERF_EVENT_IOC_SET_OUTPUT, s->events.at[i].fd);
    return false;
}

int perf_open_redrawn(struct perf_source *s, pid_t tid, uint32_t cpu, uint64_t period, uint64_t *id)
{
    struct perf_event_attr attr = perf_attr(s, 0);
    attr.sample_period = period;
    attr.read_format = 0;
    attr.enable_on_exec = attr.context_switch = 0;
    attr.watermark = 0;
    attr.wakeup_events =
        redrawn_clocks_wake(s->options.rate, (uint32_t)(s->rings.len / PERF_RINGS));
    int fd = perf_open(&attr, tid, (int)cpu), into = -1;
    for (size_t i = 0; i < s->events.len && into < 0; i++)
        if (s->events.at[i].ring == PERF_RINGS * cpu + PERF_RING_SAMPLES)
            into = s->events.at[i].fd;
    if (fd < 0 ||
        (!ioctl(fd, PERF_EVENT_IOC_ID, id) && !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, into)))
        return fd;
    close(fd);
    return -1;
}

/* Makes a task's events its own for as long as it lives. Tasks that take turns exchange their
 * events if both have inherited all of them, and their clocks go with these. The launcher must
 * keep its own: what is changed there is for threads to come. So must the program's first
 * thread, whose clock would start anew with each short thread it waits for. An event that is not
 * inherited makes them differ from the others. */
static bool perf_keep_apart(struct perf_source *s, pid_t pid)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .exclude_kernel = 1,
                                   .disabled = 1};
    int fd = perf_open(&attr, pid, -1);
    if (fd >= 0)
        vec_push(&s->apart, fd);
    return fd >= 0;
}

/* All events of a process or thread, on all CPUs. A CPU that is not there has no events. */
static bool perf_add_all(struct perf_source *s, pid_t pid)
{
    for (uint32_t cpu = 0; cpu < s->rings.len / PERF_RINGS; cpu++)
        for (uint32_t choice = 0; choice < s->choices.len; choice++)
            if (!perf_add(s, choice, pid, cpu) && errno != ENODEV)
                return false;
    return true;
}

void perf_close(struct perf_source *s)
{
    for (size_t i = 0; i < s->rings.len; i++)
        perf_ring_unmap(&s->rings.at[i]);
    for (size_t i = 0; i < s->events.len; i++)
        close(s->events.at[i].fd);
    s->events.len = s->rings.len = 0;
    map_deinit(&s->choice_of);
    s->choice_of = (struct map){0};
}

/* Threads that begin while we look are inherited by those that have events, or found next time. */
static bool perf_add_threads(struct perf_source *s, pid_t pid)
{
    struct proc_tids now = {0}, known = {0};
    bool has_new = true, ok = true;
    for (int look = 0; ok && has_new && look < MOST_LOOKS; look++) {
        has_new = false;
        ok = proc_list_threads(pid, &now) || known.at.len;
        if (!ok)
            errno = ESRCH;
        for (size_t i = 0; ok && i < now.at.len; i++) {
            if (proc_is_listed(&known, now.at.at[i]))
                continue;
            has_new = true;
            ok = perf_add_all(s, now.at.at[i]) || errno == ESRCH;
            vec_push(&known.at, now.at.at[i]);
        }
    }
    int why = errno;
    vec_free(&now.at);
    vec_free(&known.at);
    errno = why;
    return ok;
}

/* What is known of a process that runs already. */
static void perf_introduce(struct perf_source *s, pid_t pid)
{
    const uint64_t now_ns = 0; /* before recording starts */
    struct proc_tids threads = {0};
    pid_t same, parent;
    char name[PROC_NAME_BYTES];
    if (!proc_list_threads(pid, &threads))
        return;
    if (proc_of_thread(pid, &same, &parent) && collector_has_process(s->collector, parent))
        collector_fork(s->collector, pid, pid, parent, now_ns);
    proc_thread_name(pid, pid, name);
    collector_exec(s->collector, pid, name, now_ns);
    collector_read_maps(s->collector, pid, now_ns);
    for (size_t i = 0; i < threads.at.len; i++) {
        proc_thread_name(pid, threads.at.at[i], name);
        collector_name(s->collector, pid, threads.at.at[i], name, now_ns);
    }
    vec_free(&threads.at);
    if (proc_living(pid) != pid)
        collector_exit(s->collector, pid, pid, now_ns);
}

/* On the launcher, before the program is there; or on all threads of all processes that are. Only
 * the first of these must be there: a descendant may have ended since it was listed, or run with
 * rights that hide it. What is known of them is reported once all are open: this is done again
 * with smaller buffers if memory for these is short. */
static bool perf_add_tasks(struct perf_source *s)
{
    const struct proc_tids *attached = s->options.attached;
    if (!s->options.is_attached)
        return perf_add_all(s, s->options.launcher);
    s->result->foreign = 0;
    for (size_t i = 0; i < attached->at.len; i++)
        if (!perf_add_threads(s, attached->at.at[i])) {
            bool is_foreign = errno == EACCES || errno == EPERM;
            if (!i || (!is_foreign && errno != ESRCH))
                return false;
            s->result->foreign += is_foreign;
        }
    for (size_t i = 0; i < attached->at.len; i++)
        perf_introduce(s, attached->at.at[i]);
    return true;
}

void perf_enable(struct perf_source *s)
{
    for (size_t i = 0; i < s->events.len && s->options.is_attached; i++)
        ioctl(s->events.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Buffers count against what an ordinary user may lock; stacks must leave room for some samples. */
static bool perf_try(struct perf_source *s)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    s->buffer_bytes = s->options.rate <= USUAL_RATE ? MOST_BUFFER : 2 * MOST_BUFFER;
    for (;; s->buffer_bytes /= 2) {
        uint32_t samples = s->options.rate / BUFFERS_A_SECOND;
        samples = samples > SAMPLES_A_BUFFER ? samples : SAMPLES_A_BUFFER;
        uint32_t fits = (uint32_t)(s->buffer_bytes / samples) & ~UINT32_C(7);
        s->stack_bytes = fits > MOST_STACK ? MOST_STACK : fits < LEAST_STACK ? LEAST_STACK : fits;
        s->is_crowded = false;
        perf_close(s);
        for (long i = 0; i < cpus * PERF_RINGS; i++)
            vec_push(&s->rings, (struct perf_ring){0});
        if (perf_add_tasks(s))
            return true;
        if (!s->is_crowded || s->buffer_bytes <= LEAST_BUFFER)
            return false;
    }
}

/* As many as this user may have: what is left decides how many clocks are redrawn. */
static void perf_more_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* A clock that counts and is not sampled. */
static uint32_t perf_add_counting(struct perf_source *s, const char *name)
{
    vec_push(&s->choices, (struct event_choice){.name = name,
                                                .type = PERF_TYPE_SOFTWARE,
                                                .config = PERF_COUNT_SW_TASK_CLOCK,
                                                .unit = RECORDING_UNIT_NS});
    return (uint32_t)s->choices.len - 1;
}

/* Threads that leave the CPU are in the kernel. */
static void perf_add_leaving(struct perf_source *s)
{
    if (!s->options.wants_waits || s->options.no_stacks)
        return;
    s->leaving = (uint32_t)s->choices.len;
    vec_push(&s->choices, (struct event_choice){.name = "leaving",
                                                .type = PERF_TYPE_SOFTWARE,
                                                .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                                .unit = RECORDING_UNIT_COUNT,
                                                .period = 1});
}

/* Who wakes threads that wait, where this user may know. */
static void perf_add_waking(struct perf_source *s)
{
    struct event_choice c;
    if (!s->options.wants_waits || !perf_wakes_choice(&c))
        return;
    s->waking = (uint32_t)s->choices.len;
    vec_push(&s->choices, c);
}

/* Faults are the kernel's time, but happen in user code: these are no secret. */
static void perf_add_faulting(struct perf_source *s)
{
    const struct event_choice *first = &s->choices.at[0];
    if (!first->is_clock || first->user_only || !s->options.rate)
        return;
    s->faulting = (uint32_t)s->choices.len;
    vec_push(&s->choices, (struct event_choice){.name = "faulting",
                                                .type = PERF_TYPE_SOFTWARE,
                                                .config = PERF_COUNT_SW_PAGE_FAULTS,
                                                .unit = RECORDING_UNIT_COUNT,
                                                .period = FAULTS_A_SAMPLE});
}

/* Our own choices follow the requested ones. */
bool perf_open_all(struct perf_source *s, struct err *e)
{
    size_t asked = s->choices.len;
    perf_more_descriptors();
    s->leaving = s->faulting = s->counts = s->waking = RECORDING_NONE;
    perf_add_leaving(s);
    perf_add_waking(s);
    s->tasks = perf_add_counting(s, "tasks");
    bool is_open = perf_try(s);
    if (!is_open && (errno == EACCES || errno == EPERM)) {
        s->result->user_only = true;
        s->leaving = s->waking = RECORDING_NONE;
        s->choices.len = asked;
        perf_add_faulting(s);
        s->tasks = perf_add_counting(s, "tasks");
        s->counts = perf_add_counting(s, "counts");
        is_open = perf_try(s);
    }
    if (is_open && (s->options.is_attached || perf_keep_apart(s, s->options.launcher)))
        return true;
    s->result->is_refused = errno == EACCES || errno == EPERM || errno == ENOSYS;
    return err_errno(e, "perf events", errno);
}
