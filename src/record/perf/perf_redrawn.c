/* Which clocks are redrawn (redrawn_clocks.c has the method): opening them on processes that have
 * lived for BEGIN_SAMPLES periods, leaving out what inherited clocks say from then on, and closing
 * them. This is the monitor's; what the reader uses as well is changed with its lock held. */
#include "record/perf/perf_source_private.h"

#include "record/clocks.h"

#include <sys/ioctl.h>
#include <linux/perf_event.h>
#include <unistd.h>

enum {
    BEGIN_SAMPLES = 8,    /* of a thread's inherited clocks */
    MOST_CLOCKS = 100000, /* in a recording */
    MOST_TURNS = 4,       /* of a thread on the CPU, for each period that it ran */
    AGAIN_SAMPLES = 256,  /* until it is tried again */
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
    map_set(&c->instead_of, r->stream, 0, c->clocks.len);
    map_set(&c->of_id, clock.id, 0, c->clocks.len);
    ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0);
    clock.from_ns = clock_now();
    vec_push(&c->clocks, clock);
    pthread_mutex_unlock(&s->reader.lock);
    return true;
}

/* Of a redrawn clock, its own samples count and those of inherited copies do not. Of an inherited
 * one, those before the redrawn clock that took its place. */
bool redrawn_clocks_admit(struct perf_source *s, const struct perf_record *r, struct perf_thread *t,
                          bool *is_own)
{
    struct redrawn_clocks *c = &s->redrawn;
    const uint32_t *at = map_find(&c->of_id, r->id, 0);
    *is_own = at != NULL;
    if (at)
        return r->id == r->stream && !c->clocks.at[*at].is_over;
    t->ticks++;
    at = map_find(&c->instead_of, r->stream, 0);
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
            redrawn_is_single((pid_t)clock->pid, (pid_t)clock->tid)) {
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
        close(clock->fd);
        clock->fd = -1;
        c->open--;
    }
    pthread_mutex_unlock(&s->reader.lock);
}
