/* Waits of threads whose switches nobody tells: from what their clocks show now and then.
 *
 * What a thread was neither on a CPU nor short of one, it waited. If its clock stood still between
 * two observations, that was one wait, and a look at the thread in between is its place. */
#include "record/waits/waits_private.h"

/* How long the thread has waited since it was first observed. A clock may be late by a tick while
 * the thread runs, so that this may go back. */
static uint64_t observe_waited(const struct waiting_thread *t, uint64_t at_ns,
                               const struct waits_clock *clock)
{
    uint64_t life = at_ns > t->observed_ns ? at_ns - t->observed_ns : 0;
    uint64_t busy = clock->cpu_ns - t->first.cpu_ns + clock->ready_ns - t->first.ready_ns;
    return life > busy ? life - busy : 0;
}

/* Whether the thread has not come to a CPU since: what it waited was one wait, which may go on. */
static bool observe_is_one_wait(const struct waits_clock *before, const struct waits_clock *now)
{
    if (before->runs != now->runs || before->ready_ns != now->ready_ns)
        return false;
    return now->runs || before->cpu_ns == now->cpu_ns;
}

/* Whether it came to a CPU once and is still there: what it waited before was the same wait. */
static bool observe_is_back(const struct waits_clock *before, const struct waits_clock *now)
{
    return now->is_running && before->runs && now->runs == before->runs + 1;
}

/* Whether it came to a CPU once and waits again. When, nobody saw: observations come at moments
 * that have nothing to do with it, so that half of the time between is right on average. */
static bool observe_is_next(const struct waits_clock *before, const struct waits_clock *now)
{
    return !now->is_running && before->runs && now->runs == before->runs + 1;
}

static void observe_count(struct waits *w, struct waiting_thread *t, uint64_t ns)
{
    struct collector_sample s = waits_sample(w, t, ns, t->pending_since_ns);
    t->pending_ns = 0;
    if (!ns)
        return;
    w->sums.placed_ns += t->has_look ? ns : 0;
    w->sums.unknown_ns += t->has_look ? 0 : ns;
    if (t->has_look)
        collector_sample_at(w->collector, &s, t->look);
    else
        waits_keep(w, t, &t->unknown_ns, ns);
}

void waits_observe_end(struct waits *w, struct waiting_thread *t)
{
    t->has_look = false; /* whether the wait went on until after it is not known */
    observe_count(w, t, t->pending_ns);
}

/* The time waited since the last observation. */
static uint64_t observe_more(struct waiting_thread *t, uint64_t at_ns,
                             const struct waits_clock *clock)
{
    uint64_t waited = observe_waited(t, at_ns, clock);
    uint64_t more = waited > t->waited_ns ? waited - t->waited_ns : 0;
    t->waited_ns += more;
    if (!t->pending_ns)
        t->pending_since_ns = t->counted_ns;
    t->counted_ns = at_ns;
    return more;
}

/* The first observation: of a thread that was told to be new, its clock began then. Returns whether
 * there is anything to count. */
static bool observe_begin(struct waits *w, int32_t slot, uint64_t at_ns,
                          const struct waits_clock *clock)
{
    struct waiting_thread *t = &w->threads.at[slot];
    bool is_new = t->state == WAITS_THREAD_READY;
    waits_unqueue(w, slot);
    t->state = WAITS_THREAD_RUNS;
    t->is_observed = true;
    t->observed_ns = is_new ? t->counted_ns : at_ns;
    t->first = t->latest = is_new ? (struct waits_clock){0} : *clock;
    return is_new;
}

void waits_observe(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns,
                   const struct waits_clock *clock)
{
    int32_t slot = waits_find(w, tid);
    if (slot == NO_THREAD)
        slot = waits_begin(w, pid, tid, WAITS_THREAD_RUNS, at_ns);
    struct waiting_thread *t = &w->threads.at[slot];
    if (!t->is_observed && !observe_begin(w, slot, at_ns, clock))
        return;
    uint64_t more = observe_more(t, at_ns, clock);
    bool is_later = clock->ready_ns > t->latest.ready_ns; /* else there was none, or it is wrong */
    uint64_t ready = is_later ? clock->ready_ns - t->latest.ready_ns : 0;
    bool is_one_wait = observe_is_one_wait(&t->latest, clock);
    bool is_back = observe_is_back(&t->latest, clock);
    bool is_next = observe_is_next(&t->latest, clock);
    t->latest = *clock;
    w->sums.ready_ns += ready;
    if (ready)
        waits_keep(w, t, &t->ready_ns, ready);
    t->has_look &= is_one_wait || is_back || is_next;
    if (is_one_wait && t->has_look) {
        observe_count(w, t, t->pending_ns + more);
        return;
    }
    if (!is_one_wait) {
        uint64_t of_next = t->has_look && is_next ? more / 2 : 0;
        observe_count(w, t, t->pending_ns + more - of_next);
        t->has_look = false;
        t->pending_since_ns = at_ns - of_next;
        more = of_next;
    }
    t->pending_ns += more; /* until the next observation says whether the look was of this wait */
    if (!clock->is_running && !w->options.no_looking)
        waits_look(w, slot);
}
