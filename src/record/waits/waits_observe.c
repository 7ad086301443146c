/* Waits of threads whose switches are not reported: from what their clocks show now and then.
 *
 * What a thread was neither on a CPU nor ready for one, it waited. While it waits, its account is
 * exact. While it runs, or is ready, it is not: the kernel adds what a thread was ready for when it
 * gets its CPU, and what it ran at the next tick, so that some milliseconds look like a wait that
 * there never was. (On a busy machine most of what looks so is none. Counting it took it from
 * waits that were seen later: two thirds of them had no place.) So time is shared out at
 * observations that find the thread waiting, over all that it waited since the last one of these:
 *
 *     exact         back      only       ran           exact
 *     ──waits──►│...│.........│..........│......│──waits──►       n = 3 more waits
 *     |---D1----|                               |---D2----|
 *
 * `waits` says how many more there were. Without any, all is one wait. Else the first one went on
 * for D1 at the place of the look at it, the last one has begun D2 ago, and all between has no
 * place. Observations that found it running bound both: D1 ends before the first of them (back),
 * was all that there could be until the last one without another wait (only), and D2 is what was
 * not waited before the last one (ran). What is left open is halved: observations have nothing to
 * do with when a thread waits. n + 1 waits share what there was alike, before anything is known.
 *
 * A look is made just after an observation; that it may be of the wait after that, is let pass. */
#include "record/waits/waits.h"

#include "record/waits/waits_private.h"

#include <stdlib.h>

struct waits_observed {
    uint64_t begin_ns; /* its first observation */
    struct waits_clock first, latest;
    struct waits_clock exact;        /* the last time that its account was so */
    uint64_t exact_ns;               /* when that was */
    uint64_t waited_ns;              /* since its first observation until then */
    bool was_waiting;                /* then */
    uint64_t pending_ns;             /* of the wait that went on then, not counted yet */
    uint64_t seen_ns, seen_until_ns; /* the wait of the look, as far as it is counted; or 0 */
    /* When it was found running since then: for the first time, for the last time with no wait in
     * between, for the last time; 0: never. */
    uint64_t back_ns, only_ns, ran_ns;
    uint64_t only_most_ns; /* what it may have waited until `only` at most */
    uint64_t ran_most_ns;  /* the same until `ran` ... */
    uint64_t ran_waits;    /* ... and how many waits had begun by then */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* How many waits have begun since its account was exact. Where that is unknown, each time that it
 * comes to a CPU may have been after a wait. */
static uint64_t observed_waits(const struct waits_observed *o, const struct waits_clock *now)
{
    enum { SOME = 2 };
    if (o->exact.waits && now->waits)
        return less(now->waits, o->exact.waits);
    if (!now->runs)
        return now->cpu_ns == o->exact.cpu_ns ? 0 : SOME;
    uint64_t runs = less(now->runs, o->exact.runs);
    bool is_back = (now->is_running || now->is_ending) && o->was_waiting;
    return less(runs, is_back);
}

/* Counts the thread's wait that ended at end_ns, at the place of the look at it. */
static void observed_count(struct waits *w, struct waiting_thread *t, uint64_t ns, uint64_t end_ns)
{
    if (!ns)
        return;
    w->sums.placed_ns += t->has_look ? ns : 0;
    w->sums.unknown_ns += t->has_look ? 0 : ns;
    if (!t->has_look) {
        waits_keep(w, t, &t->unknown_ns, ns);
        return;
    }
    struct waits_observed *o = t->observed;
    if (!o->seen_until_ns)
        o->seen_ns = less(end_ns, ns);
    o->seen_until_ns = end_ns;
    struct collector_sample s = waits_sample(w, t, ns, t->counted_ns);
    s.at_ns = end_ns;
    s.lasted_ns = ns;
    s.labels = t->labels;
    collector_sample_at(w->collector, &s, t->look);
    waits_chain_count(w, t, end_ns > ns ? end_ns - ns : 0, end_ns);
}

/* A wait that was seen is over: it goes into the list of these, as far as it is known. */
static void observed_whole(struct waits *w, struct waiting_thread *t)
{
    struct waits_observed *o = t->observed;
    if (o->seen_until_ns)
        collector_waited(w->collector, t->pid, t->tid, o->seen_ns, o->seen_until_ns, false,
                         &t->look);
    o->seen_until_ns = 0;
}

/* Of `all`, what the wait that went on at `exact` had, and the one that goes on at `at_ns`. */
static void observed_share(const struct waits_observed *o, uint64_t all, uint64_t waits,
                           uint64_t at_ns, bool goes_on, uint64_t *first, uint64_t *last)
{
    uint64_t number = waits + o->was_waiting, alike = number ? 2 * all / number : 0;
    uint64_t least_first = 0, most_first = 0, least_last = 0, most_last = 0;
    if (o->was_waiting) {
        most_first = least(all, (o->back_ns ? o->back_ns : at_ns) - o->exact_ns);
        if (o->only_ns) {
            most_first = least(most_first, o->only_most_ns);
            least_first = least(less(all, at_ns - o->only_ns), most_first);
        }
    }
    if (goes_on) {
        most_last = least(all, at_ns - (o->ran_ns ? o->ran_ns : o->exact_ns));
        if (o->ran_ns && o->ran_waits + 1 == waits)
            least_last = least(less(all, o->ran_most_ns), most_last);
    }
    if (goes_on && waits == 1) { /* there was no other */
        least_first = least_first > less(all, most_last) ? least_first : less(all, most_last);
        most_first = least(most_first, less(all, least_last));
        *first = least_first < most_first ? (least_first + most_first) / 2 : most_first;
        *last = all - *first;
        return;
    }
    most_first = least_first > least(most_first, alike) ? least_first : least(most_first, alike);
    most_last = least_last > least(most_last, alike) ? least_last : least(most_last, alike);
    *first = (least_first + most_first) / 2;
    *last = least((least_last + most_last) / 2, all - *first);
}

/* Its account is exact again: `all` is what it has waited since it was so before, with `waits` more
 * waits having begun. goes_on: the last of them does. */
static void observed_settle(struct waits *w, struct waiting_thread *t, uint64_t all, uint64_t waits,
                            bool goes_on)
{
    struct waits_observed *o = t->observed;
    uint64_t first = all, last = 0, at_ns = t->counted_ns;
    if (o->was_waiting && !waits) {
        if (goes_on && !t->has_look) {
            o->pending_ns += all;
            return;
        }
    } else {
        observed_share(o, all, waits, at_ns, goes_on, &first, &last);
    }
    bool is_one = o->was_waiting && !waits;
    observed_count(w, t, o->pending_ns + first, is_one && goes_on ? at_ns : o->exact_ns + first);
    o->pending_ns = last;
    if (!is_one || !goes_on)
        observed_whole(w, t);
    t->has_look &= is_one;
    uint64_t unseen = all - first - last;
    w->sums.unknown_ns += unseen;
    if (unseen)
        waits_keep(w, t, &t->unknown_ns, unseen);
}

static void observed_runs(struct waits_observed *o, uint64_t at_ns, uint64_t most, uint64_t waits)
{
    if (!o->back_ns)
        o->back_ns = at_ns;
    if (!waits) {
        o->only_most_ns = o->only_ns ? least(o->only_most_ns, most) : most;
        o->only_ns = at_ns;
    }
    bool is_same = o->ran_ns && o->ran_waits == waits;
    o->ran_most_ns = is_same ? least(o->ran_most_ns, most) : most;
    o->ran_ns = at_ns;
    o->ran_waits = waits;
}

static void observed_exact(struct waits_observed *o, const struct waits_clock *clock,
                           uint64_t at_ns, uint64_t waited_ns)
{
    o->exact = *clock;
    o->exact_ns = at_ns;
    o->waited_ns = waited_ns;
    o->was_waiting = !clock->is_running && !clock->is_ending;
    o->back_ns = o->only_ns = o->ran_ns = 0;
}

/* The clock of a thread reported as new began then. */
static bool observed_begin(struct waits *w, int32_t slot, uint64_t at_ns,
                           const struct waits_clock *clock)
{
    struct waiting_thread *t = &w->threads.at[slot];
    bool is_new = t->state == WAITS_THREAD_READY;
    struct waits_clock none = {.is_running = true, .waits = clock->waits != 0};
    waits_unqueue(w, slot);
    t->state = WAITS_THREAD_RUNS;
    t->observed = calloc(1, sizeof *t->observed);
    if (!t->observed)
        memory_exhausted(sizeof *t->observed);
    t->observed->begin_ns = is_new ? t->counted_ns : at_ns;
    t->observed->first = t->observed->latest = is_new ? none : *clock;
    observed_exact(t->observed, &t->observed->first, t->observed->begin_ns, 0);
    return is_new;
}

/* What ran since it was found waiting, and has not begun another wait, does not wait: the recorder
 * has stopped it for a moment. */
static bool observed_was_stopped(const struct waits_observed *o, const struct waits_clock *now)
{
    return o->was_waiting && now->waits && now->waits == o->exact.waits &&
           now->cpu_ns > o->exact.cpu_ns;
}

void waits_observe(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns,
                   const struct waits_clock *clock)
{
    int32_t slot = waits_find(w, tid);
    if (slot == NO_THREAD)
        slot = waits_begin(w, pid, tid, WAITS_THREAD_RUNS, at_ns);
    struct waiting_thread *t = &w->threads.at[slot];
    bool is_known = t->observed || observed_begin(w, slot, at_ns, clock);
    struct waits_observed *o = t->observed;
    bool is_running = clock->is_running || (is_known && observed_was_stopped(o, clock));
    bool is_waiting = !is_running && !clock->is_ending;
    if (is_known) {
        uint64_t busy = clock->cpu_ns - o->first.cpu_ns + clock->ready_ns - o->first.ready_ns +
                        clock->held_ns - o->first.held_ns;
        uint64_t waited = less(less(at_ns, o->begin_ns), busy);
        uint64_t ready = less(clock->ready_ns, o->latest.ready_ns);
        uint64_t all = less(waited, o->waited_ns), waits = observed_waits(o, clock);
        t->counted_ns = at_ns;
        o->latest = *clock;
        w->sums.ready_ns += ready;
        if (ready)
            waits_keep(w, t, &t->ready_ns, ready);
        if (is_running && !clock->is_ending) {
            observed_runs(o, at_ns, all, waits);
            return;
        }
        observed_settle(w, t, all, waits, is_waiting);
        observed_exact(o, clock, at_ns, o->waited_ns + all);
    }
    if (!t->has_look) {
        waits_unqueue(w, slot);
        waits_chain_end(w, t);
    }
    if (is_waiting && !t->has_look && !w->options.no_looking)
        waits_look(w, slot);
    waits_chain_again(w, at_ns);
}

/* One that still runs has waited what it was last found to have waited at most: that is nearly the
 * truth, as its clock was brought up to date in between. Whether the wait of the last look went on
 * until after it is not known. */
void waits_observed_end(struct waits *w, struct waiting_thread *t, uint64_t at_ns)
{
    struct waits_observed *o = t->observed;
    if (at_ns > t->counted_ns)
        t->counted_ns = at_ns;
    if (o->ran_ns) {
        uint64_t all = o->ran_most_ns;
        observed_settle(w, t, all, o->ran_waits, false);
        observed_exact(o, &o->latest, t->counted_ns, o->waited_ns + all);
    }
    observed_whole(w, t);
    t->has_look = false;
    waits_chain_end(w, t);
    observed_count(w, t, o->pending_ns, t->counted_ns);
    o->pending_ns = 0;
}
