/* Clocks whose period is drawn anew all the time, for programs that live long.
 *
 * A clock that a thread has inherited keeps its period: the kernel lets nobody change it. A program
 * that does something with nearly the same period, or a simple fraction of it, keeps step with such
 * a clock, and each second of its samples is as good as a few of them. So the thread of a process
 * that has one, and lived for some periods, gets a clock of its own on each CPU that it is
 * met on. These wake the reader every WAKE_SAMPLES samples, and it gives each clock that has ticked
 * a new period, which also starts it anew. In between, the clock goes on with the period it has,
 * which is drawn again long before it could keep step with anything. From then on, what the
 * inherited clock says of that thread on that CPU is left out.
 *
 * Periods have a triangular law on [P / 4, 7 P / 4]. With a uniform one on [P / 2, 3 P / 2],
 * programs of 1.3 or 0.7 P meet clocks whose steps follow each other in nearly the same phase, and
 * scatter by 1.4 and 1.2 times what samples drawn at random do; with this law, by at most 1.2 for
 * any rhythm. (Simulated: tests/record/test_redrawn_clocks.c.)
 *
 * A sample weighs its period and, where that was drawn after the sample before, what passed until
 * then. Neither depends on what the program does: it may sleep in between. What is run after the
 * last sample has none to stand for it: the first weighs as much more as is left over on average.
 *
 * Threads that take turns on a CPU exchange all their events, which takes the kernel no time, if
 * they have the same ones by inheritance; else each turn sets all timers. So these clocks are
 * inherited, too, by what comes later (and what copies of them say is left out), threads of a
 * process that has several get none, and one is closed only where nothing has inherited it: when a
 * process with one thread begins to leave the CPU many times in each period.
 *
 * Cost: one more sample each period, an interrupt of the program's CPU each WAKE_SAMPLES samples
 * (or more, as the reader is to be woken at most 1,000 times a second). So they are not used above
 * 2,000 samples a second. Processes of other rights, whose events the kernel does not open, keep
 * their inherited clocks, and so do all that come when descriptors are few. */
#include "record/perf/redrawn_clocks.h"

#include "record/clocks.h"
#include "record/perf/perf_record.h"
#include "record/proc_threads.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    WAKE_SAMPLES = 4, /* of one CPU, at */
    WAKE_RATE = 1000, /* samples a second */
    WAKE_CPUS = 4,
    MOST_OPEN = 2048, /* clocks, as far as descriptors permit */
    FILES_PART = 4,   /* of all descriptors */
};

/* What a clock leaves over after its last sample, in periods: half the mean square of the
 * distances between samples. */
#define LEFT_OVER 0.547

/* Where the period is in a record: behind header, identifier, ip, pid and tid, time, stream and
 * CPU. */
enum { PERIOD_AT = 7 * 8 };

void redrawn_clocks_init(struct redrawn_clocks *c, uint64_t nominal)
{
    struct rlimit limit;
    *c = (struct redrawn_clocks){.most_open = MOST_OPEN};
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

/* More at high rates and on many CPUs, as one reader serves all. */
uint32_t redrawn_clocks_wake(uint32_t rate, uint32_t cpus)
{
    uint32_t samples = rate > WAKE_RATE ? (uint64_t)WAKE_SAMPLES * rate / WAKE_RATE : WAKE_SAMPLES;
    return cpus > WAKE_CPUS ? samples * (cpus / WAKE_CPUS) : samples;
}

void redrawn_clocks_deinit(struct redrawn_clocks *c)
{
    for (size_t i = 0; i < c->clocks.len; i++) {
        if (c->clocks.at[i].is_over)
            continue;
        proc_thread_deinit(&c->clocks.at[i].files);
        close(c->clocks.at[i].fd);
    }
    vec_free(&c->clocks);
    vec_free(&c->due);
    map_deinit(&c->of_id);
    map_deinit(&c->of_thread);
    map_deinit(&c->instead_of);
}

/* --- in the reader, which holds its lock --------------------------------------------------------
 */

/* The weight is written over the period in the copy of the record. A sample of an inherited copy of
 * such a clock has another stream, and is left as it is. */
void redrawn_clocks_add(struct redrawn_clocks *c, struct perf_backlog *q,
                        const struct perf_layout *l, struct bytes record)
{
    struct perf_event_header header;
    struct perf_record r;
    size_t start = q->bytes.len;
    perf_backlog_add(q, l, record);
    memcpy(&header, record.at, sizeof header);
    if (!c->clocks.len || header.type != PERF_RECORD_SAMPLE || q->bytes.len == start ||
        !perf_record_read(l, record, &r) || r.id != r.stream)
        return;
    const uint32_t *at = map_find(&c->of_id, r.id, 0);
    if (!at)
        return;
    struct redrawn_clock *clock = &c->clocks.at[*at];
    uint64_t weight = clock->period + clock->before_ns;
    if (!clock->last_ns)
        weight += (uint64_t)(LEFT_OVER * (double)c->nominal);
    memcpy(q->bytes.at + start + PERIOD_AT, &weight, sizeof weight);
    clock->last_ns = r.time;
    clock->before_ns = 0;
    if (!clock->is_due)
        vec_push(&c->due, *at);
    clock->is_due = true;
}

/* A thread has run since its last sample until now or, on our CPU, until we had that; or the clock
 * has ticked unseen, in code that is not sampled. */
void redrawn_clocks_redraw(struct redrawn_clocks *c, uint32_t cpu, uint64_t woken_ns,
                           uint64_t now_ns)
{
    for (size_t i = 0; i < c->due.len; i++) {
        struct redrawn_clock *clock = &c->clocks.at[c->due.at[i]];
        uint64_t until_ns = clock->cpu == cpu ? woken_ns : now_ns;
        uint64_t since = until_ns > clock->last_ns ? until_ns - clock->last_ns : 0;
        uint64_t period = redrawn_clocks_draw(c);
        clock->is_due = false;
        if (clock->is_over || ioctl(clock->fd, PERF_EVENT_IOC_PERIOD, &period))
            continue;
        clock->before_ns = since < clock->period ? since : clock->period / 2;
        clock->period = period;
    }
    c->due.len = 0;
}
