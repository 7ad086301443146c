/* A thread that empties the kernel's buffers, and does nothing else that takes time.
 *
 * Where hundreds of threads want the CPUs, each gets a small share of them. Who unwinds stacks and
 * opens files would use up its own, and then wait for longer than buffers last; this thread needs
 * so little that it gets its turn at once. It also draws the periods of threads to come, which is
 * of use only between one thread's beginning and the next one's. It waits for the
 * kernel to say that a buffer is filling, and copies.
 *
 * Memory is bounded: when too much waits, samples stay in the buffers and are lost, and counted,
 * there. Records of what tasks do are few, and taken all the same.
 *
 * Where a program publishes what its threads work on (labels.h), that is read here as well, of each
 * thread that has just been sampled: what it says changes within milliseconds.
 *
 * The lock is held while buffers are emptied, and by the monitor while it takes what was read:
 * moving lists, not copying them. `news` is written when there is enough or the time is up, so
 * that the monitor sleeps otherwise.
 *
 * Waking up is most of what a recorder costs beside a program that only computes. So the time is
 * the longer the longer nothing but samples has come: who begins, ends or maps something must be
 * looked at while it is there; samples can wait. */
#include "record/clocks.h"
#include "record/perf/perf_source_private.h"
#include "record/proc_threads.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WAIT_NS = 10 * 1000 * 1000,       /* while there is something to read, at least */
    CALM_PART = 8,                    /* of the time in which there were only samples */
    LABELS_WAIT_NS = 1000 * 1000,     /* while there are samples whose labels are to be read ... */
    LABELS_IDLE_NS = 4 * 1000 * 1000, /* ... and while none come */
    SETTLED_NS = 500 * 1000,          /* records so old are in the buffers on all CPUs */
    LONGEST_WAIT_NS = 64 * 1000 * 1000,
    ENOUGH_BYTES = 512 << 10,
    MOST_BYTES = 64 << 20,
    RECORDS_A_RELEASE = 8,
};

/* Of the events that we have; where they are the launcher's, which does not run, that is for
 * threads to come. */
void perf_draw_periods(struct perf_source *s, bool is_first)
{
    for (size_t i = 0; i < s->events.len; i++) {
        uint32_t choice = s->events.at[i].choice;
        struct periods *p = &s->periods.at[choice];
        if (!perf_is_drawn(s, choice))
            continue;
        uint64_t period = is_first ? periods_draw(p, PERIOD_LONG) : periods_draw_next(p);
        ioctl(s->events.at[i].fd, PERF_EVENT_IOC_PERIOD, &period);
    }
}

/* Once a thread, however many samples of it there are: all are of the time before now. */
static void reader_read_labels(struct perf_source *s, struct bytes record, struct map *seen)
{
    struct perf_record r;
    bool is_new = false;
    if (perf_record_read(&s->layout, record, &r) && r.type == PERF_RECORD_SAMPLE)
        map_at(seen, r.tid, 0, 0, &is_new);
    if (is_new)
        labels_observe(s->labels, (pid_t)r.pid, (pid_t)r.tid);
}

/* One buffer; its room is given back every few records, so that the kernel can go on writing. */
static void reader_empty(struct perf_source *s, size_t number)
{
    struct perf_reader *r = &s->reader;
    struct perf_ring *ring = &s->rings.at[number];
    struct perf_backlog *to = &r->backlogs.at[number];
    uint32_t kind = number % PERF_RINGS;
    bool is_full = r->bytes > MOST_BYTES && (kind == PERF_RING_SAMPLES || kind == PERF_RING_WAKES);
    struct bytes record;
    struct map seen = {0};
    if (!ring->pages || is_full)
        return;
    perf_ring_look(ring);
    size_t before = to->bytes.len;
    for (unsigned taken = 1; (record = perf_ring_first(ring)).len; taken++) {
        if (kind == PERF_RING_WAKES)
            perf_backlog_add(to, &s->wakes_layout, record);
        else
            redrawn_clocks_add(&s->redrawn, to, &s->layout, record);
        if (kind == PERF_RING_TASKS)
            inherited_clocks_read(&s->inherited, (const void *)record.at);
        if (kind == PERF_RING_SAMPLES && labels_are_read(s->labels))
            reader_read_labels(s, record, &seen);
        perf_ring_take(ring, record.len);
        if (taken % RECORDS_A_RELEASE == 0)
            perf_ring_release(ring);
    }
    perf_ring_release(ring);
    r->bytes += to->bytes.len - before;
    map_deinit(&seen);
}

/* Returns how much waits. */
static size_t reader_empty_all(struct perf_source *s, uint64_t woken_ns, uint64_t until_ns)
{
    struct perf_reader *r = &s->reader;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < s->rings.len; i++)
        reader_empty(s, i);
    redrawn_clocks_redraw(&s->redrawn, (uint32_t)sched_getcpu(), woken_ns, clock_now());
    inherited_clocks_update(s, clock_now());
    r->until_ns = until_ns;
    size_t bytes = r->bytes;
    pthread_mutex_unlock(&r->lock);
    return bytes;
}

/* Whether a thread may have begun, of which the next one should differ in its period. */
static bool reader_has_tasks(struct perf_source *s)
{
    bool has_tasks = false;
    for (size_t i = PERF_RING_TASKS; i < s->rings.len; i += PERF_RINGS)
        has_tasks |= s->rings.at[i].pages && perf_ring_has_more(&s->rings.at[i]);
    return has_tasks;
}

uint64_t perf_reader_patience(uint64_t calm_ns)
{
    uint64_t ns = calm_ns / CALM_PART;
    return ns < WAIT_NS ? WAIT_NS : ns < LONGEST_WAIT_NS ? ns : LONGEST_WAIT_NS;
}

uint64_t perf_reader_sleep(uint64_t idle_ns, uint64_t patience_ns, bool reads_labels)
{
    uint64_t least = reads_labels ? LABELS_WAIT_NS : patience_ns;
    uint64_t most = reads_labels ? LABELS_IDLE_NS : LONGEST_WAIT_NS;
    return idle_ns < least ? least : idle_ns < most ? idle_ns : most;
}

/* Who waits, what a thread works on, and whole stacks are seen by looking at threads at once. */
static bool reader_is_prompt(struct perf_source *s)
{
    return s->options.is_prompt || s->places || labels_are_read(s->labels) ||
           __atomic_exchange_n(&s->reader.is_stirred, false, __ATOMIC_RELAXED);
}

/* Sleeps until a buffer is filling or the time is up; while nothing comes, twice as long each
 * time. */
static void *reader_run(void *context)
{
    struct perf_source *s = context;
    struct perf_reader *r = &s->reader;
    uint64_t told_ns = 0, idle_ns = 0, one = 1;
    uint64_t calm_since_ns = clock_now(), patience_ns = WAIT_NS;
    request_short_slice();
    for (;;) {
        struct pollfd fds[] = {{r->end, POLLIN, 0}, {s->wake_fd, POLLIN, 0}};
        uint64_t ns = perf_reader_sleep(idle_ns, patience_ns, labels_are_read(s->labels));
        struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        if (ppoll(fds, 2, &time, NULL) > 0 && fds[0].revents)
            return NULL;
        bool has_tasks = reader_has_tasks(s);
        if (!s->options.is_attached && has_tasks)
            perf_draw_periods(s, false);
        uint64_t now_ns = clock_now();
        if (reader_is_prompt(s) || has_tasks)
            calm_since_ns = now_ns;
        patience_ns = perf_reader_patience(now_ns - calm_since_ns);
        size_t bytes = reader_empty_all(s, now_ns, now_ns - SETTLED_NS);
        idle_ns = bytes ? 0 : 2 * ns;
        if (bytes < ENOUGH_BYTES && now_ns - told_ns < patience_ns)
            continue;
        told_ns = now_ns;
        if (bytes)
            (void)!write(r->news, &one, sizeof one); /* cannot fail: it is read long before */
    }
}

/* With all signals blocked: they are the monitor's. */
bool perf_reader_start(struct perf_source *s)
{
    struct perf_reader *r = &s->reader;
    sigset_t all, before;
    pthread_mutex_init(&r->lock, NULL);
    r->end = eventfd(0, EFD_CLOEXEC);
    r->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < s->rings.len; i++)
        vec_push(&r->backlogs, (struct perf_backlog){0});
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->is_running = r->end >= 0 && r->news >= 0 && !pthread_create(&r->thread, NULL, reader_run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r->is_running;
}

/* What is in the buffers then is all there will be: it is complete up to any time. */
void perf_reader_stop(struct perf_source *s)
{
    struct perf_reader *r = &s->reader;
    uint64_t one = 1;
    if (!r->is_running)
        return;
    r->is_running = false;
    (void)!write(r->end, &one, sizeof one); /* cannot fail: the count is 0 */
    pthread_join(r->thread, NULL);
    reader_empty_all(s, clock_now(), UINT64_MAX);
}

void perf_reader_deinit(struct perf_source *s)
{
    struct perf_reader *r = &s->reader;
    perf_reader_stop(s);
    for (size_t i = 0; i < r->backlogs.len; i++)
        perf_backlog_deinit(&r->backlogs.at[i]);
    vec_free(&r->backlogs);
    if (r->end >= 0)
        close(r->end);
    if (r->news >= 0)
        close(r->news);
    pthread_mutex_destroy(&r->lock);
}

/* The time up to which records are complete is taken together with them, under the lock. */
uint64_t perf_reader_take(struct perf_source *s, perf_backlogs *to)
{
    struct perf_reader *r = &s->reader;
    uint64_t ignored;
    (void)!read(r->news, &ignored, sizeof ignored); /* none: the time was up */
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->backlogs.len; i++)
        perf_backlog_move(&to->at[i], &r->backlogs.at[i]);
    uint64_t until_ns = r->until_ns;
    inherited_clocks_take(&s->inherited);
    r->bytes = 0;
    pthread_mutex_unlock(&r->lock);
    return until_ns;
}
