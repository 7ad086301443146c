/* Clocks whose period is drawn anew all the time, for threads that live long.
 *
 * A clock that a thread has inherited keeps its period: the kernel lets nobody change it. A program
 * that does something with nearly the same period, or a simple fraction of it, keeps step with such
 * a clock, and each second of its samples is as good as a few of them. So a thread that has lived
 * for BEGIN_SAMPLES periods gets a clock of its own on each CPU that it is met on, opened by number
 * and not inherited. These wake the reader every WAKE_SAMPLES samples, and it gives each clock that
 * has ticked a new period from [P / 2, 3 P / 2], which also starts it anew. In between, the clock
 * goes on with the period it has, which is drawn again long before it could keep step with
 * anything. From then on, what the inherited clock says of that thread on that CPU is left out.
 *
 * A sample weighs what the thread ran since the clock's sample before, as the kernel's counter has
 * it to the nanosecond (PERF_SAMPLE_READ). The field costs the records of these clocks eight bytes,
 * which are removed here: all records of a backlog have one layout, and the period of these is
 * their weight. Where the kernel is not sampled, ticks in it leave no record: then a sample stands
 * for the stretch since its own last tick, which the period tells.
 *
 * What a thread runs after its last sample has none to stand for it: the first weighs as much more
 * as is left over on average. A clock that would be opened on a thread that leaves the CPU many
 * times for each sample is not: each turn would set one timer more.
 *
 * Cost: one more sample each period, an interrupt of the program's CPU each WAKE_SAMPLES samples
 * (or more, as the reader is to be woken at most 1,000 times a second), two timers where there was
 * one. It refuses threads of other rights, whose events the kernel does not open, and does without
 * where descriptors are few: these keep their inherited clocks. */
#include "record/perf/perf_source_private.h"

#include "record/clocks.h"
#include "record/proc_threads.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    BEGIN_SAMPLES = 8, /* of a thread's inherited clocks */
    WAKE_SAMPLES = 4,  /* of one CPU, at */
    WAKE_RATE = 1000,  /* samples a second */
    WAKE_CPUS = 4,
    MOST_OPEN = 2048,     /* clocks, as far as descriptors permit */
    FILES_PART = 4,       /* of all descriptors */
    MOST_CLOCKS = 100000, /* in a recording */
    MOST_TURNS = 4,       /* of a thread on the CPU, for each period that it ran */
};

/* What a clock leaves over after its last sample, in periods: half the mean square of the
 * distances between samples. */
#define LEFT_OVER 0.547

/* Where in a record what is removed stands: behind header, identifier, ip, pid and tid, time,
 * stream, CPU and period. */
enum { PERIOD_AT = 7 * 8, COUNT_AT = 8 * 8, FIELD = 8 };

void redrawn_clocks_init(struct redrawn_clocks *c, uint64_t nominal, bool user_only)
{
    struct rlimit limit;
    *c = (struct redrawn_clocks){.user_only = user_only, .most_open = MOST_OPEN};
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / FILES_PART < c->most_open)
        c->most_open = (uint32_t)(limit.rlim_cur / FILES_PART);
    c->nominal = nominal;
    c->random = ((uint64_t)getpid() << 32) ^ clock_now();
}

/* Splitmix64, by Vigna, in [0, 1). Draws that are spread evenly, as those for short threads are,
 * would not do: their sums are too regular. */
static double redrawn_random(struct redrawn_clocks *c)
{
    uint64_t z = c->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

uint64_t redrawn_clocks_draw(struct redrawn_clocks *c)
{
    double part = 0.25 + 0.75 * (redrawn_random(c) + redrawn_random(c));
    return (uint64_t)((double)c->nominal * part);
}

uint32_t redrawn_clocks_wake(uint32_t rate, uint32_t cpus)
{
    uint32_t samples = rate > WAKE_RATE ? (uint64_t)WAKE_SAMPLES * rate / WAKE_RATE : WAKE_SAMPLES;
    return cpus > WAKE_CPUS ? samples * (cpus / WAKE_CPUS) : samples;
}

void redrawn_clocks_deinit(struct redrawn_clocks *c)
{
    for (size_t i = 0; i < c->clocks.len; i++)
        if (c->clocks.at[i].fd >= 0)
            close(c->clocks.at[i].fd);
    vec_free(&c->clocks);
    vec_free(&c->due);
    map_deinit(&c->of_id);
    map_deinit(&c->of_thread);
}

/* --- in the reader, which holds its lock --------------------------------------------------------
 */

/* What a sample stands for, of a clock that has run `ran` since the one before. */
static uint64_t redrawn_weight(const struct redrawn_clocks *c, const struct redrawn_clock *clock,
                               uint64_t ran)
{
    uint64_t alone = clock->is_fresh ? 2 * clock->period : clock->period + clock->period / 2;
    uint64_t weight = c->user_only && ran >= alone ? clock->period : ran;
    if (clock->count == 0)
        weight += (uint64_t)(LEFT_OVER * (double)c->nominal);
    return weight;
}

/* NULL: the record is none of a clock of these. */
static struct redrawn_clock *redrawn_clock_of(struct redrawn_clocks *c, struct bytes record)
{
    struct perf_event_header header;
    uint64_t id;
    memcpy(&header, record.at, sizeof header);
    if (!c->clocks.len || header.type != PERF_RECORD_SAMPLE || record.len < COUNT_AT + FIELD)
        return NULL;
    memcpy(&id, record.at + sizeof header, sizeof id);
    const uint32_t *at = map_find(&c->of_id, id, 0);
    return at ? &c->clocks.at[*at] : NULL;
}

/* The record in the backlog loses the field that is not in the others. */
static void redrawn_shorten(struct perf_backlog *q, size_t start, uint64_t weight)
{
    uint8_t *record = q->bytes.at + start, *count = record + COUNT_AT;
    struct perf_event_header header;
    memcpy(&header, record, sizeof header);
    header.size = (uint16_t)(header.size - FIELD);
    memcpy(record, &header, sizeof header);
    memcpy(record + PERIOD_AT, &weight, sizeof weight);
    q->bytes.len -= FIELD;
    memmove(count, count + FIELD, (size_t)(q->bytes.at + q->bytes.len - count));
}

void redrawn_clocks_add(struct redrawn_clocks *c, struct perf_backlog *q,
                        const struct perf_layout *l, struct bytes record)
{
    struct redrawn_clock *clock = redrawn_clock_of(c, record);
    struct perf_layout own = *l;
    size_t start = q->bytes.len;
    uint64_t count;
    own.sample_type |= clock ? PERF_SAMPLE_READ : 0;
    perf_backlog_add(q, &own, record);
    if (!clock || q->bytes.len == start)
        return;
    memcpy(&count, record.at + COUNT_AT, sizeof count);
    redrawn_shorten(q, start, redrawn_weight(c, clock, count - clock->count));
    if (!clock->is_due)
        vec_push(&c->due, (uint32_t)(clock - c->clocks.at));
    clock->is_due = true;
    clock->is_fresh = false;
    clock->count = count;
}

void redrawn_clocks_redraw(struct redrawn_clocks *c)
{
    for (size_t i = 0; i < c->due.len; i++) {
        struct redrawn_clock *clock = &c->clocks.at[c->due.at[i]];
        clock->is_due = false;
        if (clock->fd < 0)
            continue;
        clock->period = redrawn_clocks_draw(c);
        clock->is_fresh = !ioctl(clock->fd, PERF_EVENT_IOC_PERIOD, &clock->period);
    }
    c->due.len = 0;
}

/* --- in the monitor -----------------------------------------------------------------------------
 */

static bool redrawn_is_turning(const struct redrawn_clocks *c, pid_t pid, pid_t tid)
{
    struct proc_thread files;
    struct proc_times times;
    proc_thread_init(&files);
    bool is_known = proc_thread_times(&files, pid, tid, false, &times);
    proc_thread_deinit(&files);
    return !is_known || times.runs > MOST_TURNS * (times.cpu_ns / c->nominal + 1);
}

/* What could not be opened has a place in the list all the same, so that it is not tried again. */
static void redrawn_open(struct perf_source *s, const struct perf_record *r)
{
    struct redrawn_clocks *c = &s->redrawn;
    struct redrawn_clock clock = {.fd = -1, .tid = r->tid, .period = redrawn_clocks_draw(c)};
    if (c->open < c->most_open && !redrawn_is_turning(c, (pid_t)r->pid, (pid_t)r->tid))
        clock.fd = perf_open_redrawn(s, (pid_t)r->tid, r->cpu, clock.period, &clock.id);
    c->open += clock.fd >= 0;
    clock.from_ns = clock.fd < 0 ? UINT64_MAX : 0;
    pthread_mutex_lock(&s->reader.lock);
    map_set(&c->of_thread, r->tid, r->cpu, c->clocks.len);
    if (clock.fd >= 0) {
        map_set(&c->of_id, clock.id, 0, c->clocks.len);
        map_set(&s->choice_of, clock.id, 0, 0);
        ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0);
        clock.from_ns = clock_now();
    }
    vec_push(&c->clocks, clock);
    pthread_mutex_unlock(&s->reader.lock);
}

bool redrawn_clocks_admit(struct perf_source *s, const struct perf_record *r, uint32_t ticks,
                          bool *is_own)
{
    struct redrawn_clocks *c = &s->redrawn;
    const uint32_t *at = map_find(&c->of_id, r->id, 0);
    *is_own = at != NULL;
    if (at)
        return c->clocks.at[*at].tid == r->tid && c->clocks.at[*at].fd >= 0;
    if (ticks < BEGIN_SAMPLES || c->clocks.len >= MOST_CLOCKS)
        return true;
    at = map_find(&c->of_thread, r->tid, r->cpu);
    if (at && !c->clocks.at[*at].is_over)
        return r->time < c->clocks.at[*at].from_ns;
    redrawn_open(s, r);
    return true;
}

void redrawn_clocks_end(struct perf_source *s, uint32_t tid)
{
    struct redrawn_clocks *c = &s->redrawn;
    pthread_mutex_lock(&s->reader.lock);
    for (uint32_t cpu = 0; c->clocks.len && cpu < s->rings.len / PERF_RINGS; cpu++) {
        const uint32_t *at = map_find(&c->of_thread, tid, cpu);
        struct redrawn_clock *clock = at ? &c->clocks.at[*at] : NULL;
        if (!clock || clock->is_over)
            continue;
        clock->is_over = true;
        if (clock->fd >= 0)
            close(clock->fd);
        c->open -= clock->fd >= 0;
        clock->fd = -1;
    }
    pthread_mutex_unlock(&s->reader.lock);
}
