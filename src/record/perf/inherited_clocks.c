/* Switching the clocks that threads inherit off, while each thread has clocks of its own.
 *
 *     on ──(calm: all threads have their own, on all CPUs)──► off ──(a thread begins)──► on again
 *          inherited count as long as a thread has none   │   own and their copies count │
 *                                                      off_ns                          on_ns
 *
 * An interrupt is most of what a sample costs, 10 to 20 us in a virtual machine, and a thread with
 * a clock of its own (redrawn_clocks.c) would have two for each sample that counts. The kernel
 * changes inherited clocks only all at once, and new ones are as their parents' are. So they are
 * switched off when no thread has begun for a while, and each one that lives is a process of one
 * thread with clocks of its own on all CPUs, which nothing has inherited yet.
 *
 * What begins then inherits copies of its parent's own clocks, which count until the others are on
 * again: so each moment of each thread is one clock's business throughout, and whichever task the
 * kernel has moved a clock to makes no difference. The reader switches on as soon as it has read
 * that a thread begins. One that is being made at that moment may still inherit a clock that is
 * off: so they are switched on twice, the second time when no such one can be left, and only from
 * then on do they count. Until then no clock is closed, as its copies would be gone, too.
 *
 * Left alone, and always on: processes that were attached to, whose threads may begin unseen
 * between the opening of their events and the start; recordings of waits, where the first event
 * reports switches; what has many threads and CPUs, since each of both needs a clock.
 *
 * Cost: opening a clock of each thread on each CPU, some 10 us each, 25 times a second at most. */
#include "record/clocks.h"
#include "record/perf/perf_source_private.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    CALM_NS = 40 * 1000 * 1000,    /* without a new thread */
    AGAIN_NS = 1000 * 1000 * 1000, /* after a clock could not be opened */
    BEGUN_NS = 20 * 1000 * 1000,   /* threads whose making began before have begun */
    MOST_CLOCKS = 128,             /* that all threads need together */
};

#define NEVER UINT64_MAX /* a time */

/* --- of both threads, with the reader's lock held -------------------------------------------- */

static void inherited_switch(const struct perf_source *s, bool on)
{
    for (size_t i = 0; i < s->events.len; i++)
        if (s->events.at[i].choice == 0)
            ioctl(s->events.at[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void inherited_begin_on(struct perf_source *s)
{
    inherited_switch(s, true);
    s->inherited.is_off = false;
    s->inherited.switched_ns = clock_now();
}

/* --- in the reader --------------------------------------------------------------------------- */

/* A record that says of one thread that it begins, or that others may have. */
void inherited_clocks_read(struct inherited_clocks *c, const struct perf_event_header *header)
{
    c->begun_read += header->type == PERF_RECORD_FORK;
    c->is_unsure |= header->type == PERF_RECORD_LOST;
}

void inherited_clocks_update(struct perf_source *s, uint64_t now_ns)
{
    struct inherited_clocks *c = &s->inherited;
    if (c->is_off && (c->is_unsure || c->is_wanted || c->begun_read != c->begun_then))
        inherited_begin_on(s);
    else if (!c->is_off && c->on_ns == NEVER && now_ns - c->switched_ns > BEGUN_NS) {
        inherited_switch(s, true);
        c->on_ns = clock_now();
    }
}

/* --- in the monitor -------------------------------------------------------------------------- */

void inherited_clocks_take(struct inherited_clocks *c)
{
    c->off_taken_ns = c->off_ns;
    c->on_taken_ns = c->on_ns;
}

bool inherited_clocks_are_off(const struct inherited_clocks *c, uint64_t at_ns)
{
    return c->off_taken_ns <= at_ns && at_ns < c->on_taken_ns;
}

/* All that was recorded while they were off has been processed. */
static bool inherited_are_on(const struct perf_source *s)
{
    return s->inherited.on_taken_ns != NEVER && s->until_ns >= s->inherited.on_taken_ns;
}

bool inherited_clocks_want(struct perf_source *s)
{
    if (inherited_are_on(s))
        return true;
    pthread_mutex_lock(&s->reader.lock);
    s->inherited.is_wanted = true;
    pthread_mutex_unlock(&s->reader.lock);
    return false;
}

void inherited_clocks_close(struct perf_source *s, int fd)
{
    if (inherited_are_on(s))
        close(fd);
    else
        vec_push(&s->inherited.to_close, fd);
}

void inherited_clocks_begin(struct perf_source *s, uint32_t pid, uint32_t tid)
{
    struct inherited_clocks *c = &s->inherited;
    struct perf_thread *t = perf_thread(s, tid);
    if (!t->living)
        vec_push(&c->living, (struct inherited_owner){0});
    t->living = t->living ? t->living : (uint32_t)c->living.len;
    c->living.at[t->living - 1] = (struct inherited_owner){pid, tid};
}

void inherited_clocks_end(struct perf_source *s, uint32_t tid)
{
    struct inherited_clocks *c = &s->inherited;
    struct perf_thread *t = perf_thread(s, tid);
    if (!t->living)
        return;
    struct inherited_owner last = c->living.at[c->living.len - 1];
    c->living.at[t->living - 1] = last;
    perf_thread(s, last.tid)->living = t->living;
    perf_thread(s, tid)->living = 0;
    c->living.len--;
}

void inherited_clocks_happened(struct perf_source *s, const struct perf_record *r)
{
    if (r->type != PERF_RECORD_FORK)
        return;
    s->inherited.begun++;
    s->inherited.begun_ns = r->time;
}

/* Opens what is missing. */
static bool inherited_replace(struct perf_source *s)
{
    const struct inherited_clocks *c = &s->inherited;
    for (size_t i = 0; i < c->living.len; i++)
        if (c->living.at[i].pid != c->living.at[i].tid)
            return false;
    for (size_t i = 0; i < c->living.len; i++)
        if (!redrawn_clocks_cover(s, c->living.at[i].pid))
            return false;
    return true;
}

void inherited_clocks_check(struct perf_source *s, uint64_t now_ns)
{
    struct inherited_clocks *c = &s->inherited;
    if (!inherited_are_on(s))
        return;
    for (size_t i = 0; i < c->to_close.len; i++)
        close(c->to_close.at[i]);
    c->to_close.len = 0;
    bool may_be = s->has_redrawn && !s->options.is_attached && !s->waits && !s->lost_tasks;
    if (!may_be || !s->redrawn.open || now_ns < c->again_ns || now_ns < c->begun_ns + CALM_NS ||
        c->living.len * (s->rings.len / PERF_RINGS) > MOST_CLOCKS)
        return;
    c->again_ns = now_ns + AGAIN_NS;
    if (!inherited_replace(s))
        return;
    pthread_mutex_lock(&s->reader.lock);
    if (c->begun_read == c->begun && !c->is_unsure) {
        c->begun_then = c->begun;
        c->is_wanted = false;
        c->is_off = true;
        c->off_ns = clock_now();
        c->on_ns = NEVER;
        inherited_switch(s, false);
    }
    inherited_clocks_take(c);
    pthread_mutex_unlock(&s->reader.lock);
    c->again_ns = 0;
}

void inherited_clocks_deinit(struct inherited_clocks *c)
{
    for (size_t i = 0; i < c->to_close.len; i++)
        close(c->to_close.at[i]);
    vec_free(&c->to_close);
    vec_free(&c->living);
}
