/* Clocks whose period is drawn anew all the time, for programs that live long.
 *
 * A clock that a thread has inherited keeps its period: the kernel allows no change. A program that
 * does something with nearly the same period, or a simple fraction of it, keeps step with such a
 * clock, and each second of its samples is as good as a few of them. So the thread of a process
 * that has one, and lived for some periods, gets a clock of its own on each CPU that it is
 * met on. These wake the reader every few samples (perf_open.c), and it gives each clock that has
 * ticked a new period, which also starts it anew. In between, the clock goes on with the period it
 * has, which is drawn again long before it could keep step with anything. From then on, records of
 * the inherited clock about that thread on that CPU are left out.
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
 * A clock is started anew at a sample, whose moment is up to chance, or not at all. A reader that
 * is late, as on a busy machine, leaves it as it is: the thread may have left the CPU by then,
 * which it does at certain places of the program, and a clock that always starts there is in step
 * with it. (Programs that sleep in each of their periods were wrong by 2 points for that, processes
 * that share a CPU by 3 to 5.)
 *
 * Threads that take turns on a CPU exchange all their events, which takes the kernel no time, if
 * they have the same ones by inheritance; else each turn sets all timers. So these clocks are
 * inherited, too, by what comes later (and records of their copies are left out), threads of a
 * process that has several get none, and one is closed only where nothing has inherited it: when a
 * process with one thread begins to leave the CPU many times in each period.
 *
 * So what a thread makes, another thread or a process, may take its clocks along when the two take
 * turns. When it ends, they are gone, and the thread goes on with copies that are a moment old and
 * are not redrawn. (One that made threads of 0.5 ms one after the other, and worked as long in
 * between, had a third of its time, or less.) A clock is unsure, therefore, from the moment at
 * which its thread makes another, or at which it is met elsewhere: what the inherited clocks say
 * counts again. After UNSURE_SAMPLES of them it counts from its next sample on, if it has one.
 *
 * Cost: one more sample each period, unless all threads have such clocks (inherited_clocks.c), and
 * an interrupt of the program's CPU each few samples (or more, as the reader is to be woken at most
 * 1,000 times a second). So they are not used above 2,000 samples a second. Processes of other
 * rights, whose events the kernel does not open, keep their inherited clocks, and so do all that
 * come when descriptors are few.
 *
 * The monitor opens and closes clocks, and leaves out what inherited ones say from then on; the
 * reader weighs and draws. What both use is changed with the reader's lock held. */
#include "record/perf/perf_clocks.h"

#include "record/clocks.h"
#include "record/perf/perf_record.h"
#include "record/proc_threads.h"
#include "record/perf/perf_source_private.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MOST_OPEN = 2048, /* clocks, as far as descriptors permit */
    FILES_PART = 4,   /* of all descriptors */
    PROMPT_PART = 4,  /* of the nominal period: so soon after a sample */
};

#define NEVER UINT64_MAX /* a time */

/* What a clock leaves over after its last sample, in periods: half the mean square of the
 * distances between samples. */
#define LEFT_OVER 0.547

/* Where the period is in a record: after header, identifier, ip, pid and tid, time, stream and
 * CPU. */
enum { PERIOD_AT = 7 * 8 };

struct perf_thread *perf_thread(struct perf_source *s, uint32_t tid)
{
    bool is_new;
    uint32_t at = map_index(&s->thread_of, tid, 0, s->threads.len, &is_new);
    if (is_new)
        vec_push(&s->threads, (struct perf_thread){0});
    return &s->threads.at[at];
}

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
}

/* --- in the reader, which holds its lock ----------------------------------------------------- */

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

/* A thread has run since its last sample until now or, on our CPU, until we had that. */
void redrawn_clocks_redraw(struct redrawn_clocks *c, uint32_t cpu, uint64_t woken_ns,
                           uint64_t now_ns)
{
    for (size_t i = 0; i < c->due.len; i++) {
        struct redrawn_clock *clock = &c->clocks.at[c->due.at[i]];
        uint64_t until_ns = clock->cpu == cpu ? woken_ns : now_ns;
        uint64_t since = until_ns > clock->last_ns ? until_ns - clock->last_ns : 0;
        clock->is_due = false;
        if (clock->is_over || since > c->nominal / PROMPT_PART)
            continue;
        uint64_t period = redrawn_clocks_draw(c);
        if (ioctl(clock->fd, PERF_EVENT_IOC_PERIOD, &period))
            continue;
        clock->before_ns = since;
        clock->period = period;
    }
    c->due.len = 0;
}

/* --- in the monitor -------------------------------------------------------------------------- */

enum {
    BEGIN_SAMPLES = 8,    /* of a thread's inherited clocks */
    MOST_CLOCKS = 100000, /* in a recording */
    MOST_TURNS = 4,       /* of a thread on the CPU, for each period that it ran */
    AGAIN_SAMPLES = 256,  /* until it is tried again */
    UNSURE_SAMPLES = 256, /* until a clock is believed again */
    CHECK_NS = 20 * 1000 * 1000,
    MOST_CHECKS = 16, /* of clocks, then */
};

/* Whether a thread has left the CPU more often than is good for it, since it was asked before. */
static bool redrawn_is_turning(const struct redrawn_clocks *c, struct redrawn_clock *clock)
{
    struct proc_times now, before = clock->times;
    if (!proc_thread_times(&clock->files, (pid_t)clock->pid, (pid_t)clock->tid, true, &now))
        return true;
    clock->times = now;
    uint64_t periods = (now.cpu_ns - before.cpu_ns) / c->nominal + 1;
    return now.runs - before.runs > MOST_TURNS * periods;
}

/* Whether the process has one thread. */
static bool redrawn_is_single(pid_t pid, pid_t tid)
{
    struct proc_tids tids = {0};
    bool is_single = pid == tid && proc_list_threads(pid, &tids) && tids.at.len == 1;
    vec_free(&tids.at);
    return is_single;
}

/* What could not be opened has a place in the list all the same, so that it is tried again only
 * after a while. */
static bool redrawn_open(struct perf_source *s, const struct perf_record *r)
{
    struct redrawn_clocks *c = &s->redrawn;
    struct redrawn_clock clock = {
        .fd = -1, .pid = r->pid, .tid = r->tid, .cpu = r->cpu, .period = redrawn_clocks_draw(c)};
    proc_thread_init(&clock.files);
    if (c->open < c->most_open && redrawn_is_single((pid_t)r->pid, (pid_t)r->tid) &&
        !redrawn_is_turning(c, &clock))
        clock.fd = perf_open_redrawn(s, (pid_t)r->tid, r->cpu, clock.period, &clock.id);
    if (clock.fd < 0) {
        proc_thread_deinit(&clock.files);
        return false;
    }
    c->open++;
    map_set(&s->choice_of, clock.id, 0, 0);
    pthread_mutex_lock(&s->reader.lock);
    map_set(&c->of_thread, r->tid, r->cpu, c->clocks.len);
    map_set(&c->of_id, clock.id, 0, c->clocks.len);
    ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0);
    clock.from_ns = clock_now();
    vec_push(&c->clocks, clock);
    pthread_mutex_unlock(&s->reader.lock);
    return true;
}

/* On all CPUs. */
void redrawn_clocks_doubt(struct perf_source *s, uint32_t tid)
{
    struct redrawn_clocks *c = &s->redrawn;
    struct perf_thread *t = perf_thread(s, tid);
    t->unsure_ticks = t->ticks + UNSURE_SAMPLES;
    for (uint32_t cpu = 0; c->clocks.len && cpu < s->rings.len / PERF_RINGS; cpu++) {
        const uint32_t *at = map_find(&c->of_thread, tid, cpu);
        if (at) {
            c->clocks.at[*at].from_ns = NEVER;
            c->clocks.at[*at].has_copies = true;
        }
    }
}

/* The kernel's numbers of clocks do not name their threads: when a child and its parent take turns
 * and exchange all that they have, the parent's clock ticks in the child and a copy of it, which
 * has the same number and another stream, in the parent. Both show that it is not where it was. */
static bool redrawn_admit_own(struct perf_source *s, const struct perf_record *r,
                              struct redrawn_clock *clock)
{
    bool is_at_home = clock->tid == r->tid && clock->cpu == r->cpu;
    if (clock->is_over)
        return false;
    if (!is_at_home || r->id != r->stream) {
        /* Copies in others do not affect the clock. */
        if (is_at_home || r->id == r->stream)
            redrawn_clocks_doubt(s, clock->tid);
        return false;
    }
    const struct perf_thread *t = perf_thread(s, r->tid);
    if (clock->from_ns != NEVER)
        return true;
    if (t->ticks >= t->unsure_ticks)
        clock->from_ns = r->time;
    return false;
}

/* A thread's redrawn clock counts and, from its beginning on, no other one of that thread on that
 * CPU. While inherited ones are off, so do all of these, and all copies of them. */
bool redrawn_clocks_admit(struct perf_source *s, const struct perf_record *r, struct perf_thread *t,
                          enum clock_kind *kind)
{
    struct redrawn_clocks *c = &s->redrawn;
    const uint32_t *at = map_find(&c->of_id, r->id, 0);
    *kind = !at ? CLOCK_INHERITED : r->id == r->stream ? CLOCK_OWN : CLOCK_COPY;
    if (inherited_clocks_are_off(&s->inherited, r->time))
        return at != NULL;
    if (at)
        return redrawn_admit_own(s, r, &c->clocks.at[*at]);
    t->ticks++;
    at = map_find(&c->of_thread, r->tid, r->cpu);
    if (at && !c->clocks.at[*at].is_over)
        return r->time < c->clocks.at[*at].from_ns;
    if (t->ticks > t->refused_ticks + BEGIN_SAMPLES && c->clocks.len < MOST_CLOCKS &&
        !redrawn_open(s, r))
        t->refused_ticks = t->ticks + AGAIN_SAMPLES;
    return true;
}

/* A few clocks each time, in turn, so that no round takes long. */
void redrawn_clocks_check(struct perf_source *s, uint64_t now_ns)
{
    struct redrawn_clocks *c = &s->redrawn;
    if (now_ns - c->checked_ns < CHECK_NS)
        return;
    c->checked_ns = now_ns;
    for (int checks = 0; checks < MOST_CHECKS && c->checked < c->clocks.len; c->checked++) {
        struct redrawn_clock *clock = &c->clocks.at[c->checked];
        if (clock->is_over)
            continue;
        checks++;
        if (redrawn_is_turning(c, clock) &&
            redrawn_is_single((pid_t)clock->pid, (pid_t)clock->tid) && inherited_clocks_want(s)) {
            struct perf_thread *t = perf_thread(s, clock->tid);
            t->refused_ticks = t->ticks + AGAIN_SAMPLES;
            redrawn_clocks_end(s, clock->tid);
        }
    }
    if (c->checked >= c->clocks.len)
        c->checked = 0;
}

/* On all CPUs. What the inherited clocks say counts again from then on. */
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
        proc_thread_deinit(&clock->files);
        inherited_clocks_close(s, clock->fd);
        clock->fd = -1;
        c->open--;
    }
    pthread_mutex_unlock(&s->reader.lock);
}

bool redrawn_clocks_cover(struct perf_source *s, uint32_t pid)
{
    struct redrawn_clocks *c = &s->redrawn;
    const struct perf_thread *t = perf_thread(s, pid);
    bool is_refused = t->refused_ticks && t->ticks <= t->refused_ticks;
    for (uint32_t cpu = 0; cpu < s->rings.len / PERF_RINGS; cpu++) {
        const uint32_t *at = map_find(&c->of_thread, pid, cpu);
        if (at && c->clocks.at[*at].has_copies)
            redrawn_clocks_end(s, pid);
    }
    for (size_t i = 0; i < s->events.len && !is_refused; i++) {
        uint32_t cpu = s->events.at[i].ring / PERF_RINGS;
        const uint32_t *at = map_find(&c->of_thread, pid, cpu);
        bool is_needed = s->events.at[i].choice == 0 && (!at || c->clocks.at[*at].is_over);
        if (is_needed)
            is_refused =
                !redrawn_open(s, &(struct perf_record){.pid = pid, .tid = pid, .cpu = cpu});
    }
    return !is_refused;
}
