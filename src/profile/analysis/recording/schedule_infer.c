/* Who ended waits of which nobody reported the end.
 *
 * A thread that wakes another mostly waits itself soon after: its stop and the other's start are
 * microseconds apart. How often that is so by chance is known from how often threads stop. Where it
 * is so too often for that, the waker is inferred, and is as good as reported.
 *
 * A limit of time ends waits that last equally long, some round number of milliseconds.
 *
 * Cost: n log n for n waits. */
#include "profile/analysis/recording/schedule_private.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* --- wakers ---------------------------------------------------------------------------------- */

static int stops_in_order(const void *left, const void *right)
{
    const struct made_stop *l = left, *r = right;
    if (l->at_ns != r->at_ns)
        return l->at_ns < r->at_ns ? -1 : 1;
    return l->lane < r->lane ? -1 : l->lane > r->lane;
}

/* How long threads of a lane are ready at a time: for so long the end of a wait may be put off,
 * until another thread stops. */
static double *lanes_late(struct making *m)
{
    double *late = ARENA_NEW(&m->scratch, double, m->lanes.len + 1);
    uint32_t *times = ARENA_NEW(&m->scratch, uint32_t, m->lanes.len + 1);
    for (size_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        late[w->lane] += w->kind == WAIT_NO_CPU ? (double)(w->to_ns - w->from_ns) : 0;
        times[w->lane] += w->kind == WAIT_NO_CPU;
    }
    for (size_t i = 0; i < m->lanes.len; i++)
        late[i] = times[i] ? late[i] / times[i] : 0;
    return late;
}

/* Stops of threads from a moment on. */
static size_t stops_from(const struct making *m, uint64_t at_ns)
{
    return PARTITION_POINT(m->stops.len, k, m->stops.at[k].at_ns < at_ns);
}

/* The only thread that can have ended a wait and stopped near its end: by `before_ns` before that,
 * or by SOON_NS after it, since who wakes another still has to stop. NULL: none, or several; nor
 * are stops of thousands of processes searched. */
static const struct made_stop *stop_at_end(const struct making *m, const struct made_wait *w,
                                           uint64_t before_ns)
{
    bool is_own = w->kind == WAIT_THREAD && wait_has_others(m, w);
    uint64_t length_ns = w->to_ns - w->from_ns, last_ns = w->to_ns + SOON_NS + w->rough_ns;
    before_ns += w->rough_ns;
    size_t k = stops_from(m, before_ns < length_ns ? w->to_ns - before_ns : w->from_ns + 1);
    const struct made_stop *found = NULL;
    for (int looked = 0; k < m->stops.len && m->stops.at[k].at_ns <= last_ns; k++) {
        if (++looked > MOST_LOOKED)
            return NULL;
        const struct made_stop *stop = &m->stops.at[k];
        bool is_inside = lane_process(m, stop->lane)->pid == lane_process(m, w->lane)->pid;
        if (stop->lane == w->lane || (is_own && !is_inside))
            continue;
        if (found && found->lane != stop->lane)
            return NULL;
        found = stop;
    }
    return found;
}

/* Waits of a thread at one place. Some end as another thread stops: `most_ns` before that at most,
 * and `apart` in the worst case. If that were chance, a wait of length l in which others stop n
 * times would end so in n * apart / l of the cases; `expected` is the sum, and the number of cases
 * is nearly Poisson's. Among short waits chance hides everything, so that long ones are judged
 * alone. */
static void infer_place(struct making *m, const uint32_t *waits, size_t len, double late_ns,
                        uint64_t most_ns)
{
    enum { SHORT, LONG, CLASSES, SEVERAL = SCHEDULE_NONE - 1 };
    uint32_t waker = SCHEDULE_NONE; /* of all that are inferred; SEVERAL: there are more */
    static const double LONG_PART = 0.02, CHANCE = 2e-3, FALSE_PART = 0.05, LEAST_NS = 50e3;
    double expected[CLASSES] = {0}, chance[CLASSES] = {1, 1}, apart = LEAST_NS;
    uint32_t found[CLASSES] = {0};
    for (size_t i = 0; i < len; i++) {
        const struct made_wait *w = &m->waits.at[waits[i]];
        const struct made_stop *stop = stop_at_end(m, w, most_ns);
        if (stop)
            apart = fmax(apart, fabs((double)w->to_ns - (double)stop->at_ns) + (double)w->rough_ns);
    }
    apart += late_ns;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < len; i++) {
            struct made_wait *w = &m->waits.at[waits[i]];
            const struct made_stop *stop = stop_at_end(m, w, most_ns);
            size_t stops = stops_from(m, w->to_ns) - stops_from(m, w->began_ns + 1);
            stops += stop && stop->at_ns >= w->to_ns;
            double part = (double)stops * apart / (double)(w->to_ns - w->began_ns);
            bool is_long = part <= LONG_PART;
            if (pass == 0) {
                expected[is_long] += fmin(part, 1);
                found[is_long] += stop != NULL;
                if (stop && chance[is_long] > 0)
                    chance[is_long] /= found[is_long];
            } else if (stop && expected[is_long] <= FALSE_PART * found[is_long] &&
                       chance[is_long] * pow(expected[is_long], found[is_long]) <= CHANCE) {
                w->why = SCHEDULE_INFERRED;
                w->cause_lane = stop->lane;
                w->cause_ns = stop->at_ns < w->to_ns ? stop->at_ns : w->to_ns;
                waker = waker == SCHEDULE_NONE || waker == stop->lane ? stop->lane : SEVERAL;
            }
        }
    /* The same thread is the only one that can have ended others. */
    for (size_t i = 0; i < len; i++) {
        struct made_wait *w = &m->waits.at[waits[i]];
        if (w->why == SCHEDULE_WOKEN && w->cause_lane == waker)
            w->why = SCHEDULE_INFERRED;
    }
}

/* --- limits of time -------------------------------------------------------------------------- */

static int lengths_in_order(const void *left, const void *right)
{
    const uint64_t *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

/* The time limit that a wait of this length may have run into: a number of two digits, which a
 * timer exceeds by less than half a millisecond on a machine that is not busy. 0: none. */
static uint64_t limit_of(uint64_t ns)
{
    uint64_t unit = 1, limit_ns = ns + ns / 100; /* it began a little before */
    while (limit_ns / unit >= 100)
        unit *= 10;
    limit_ns = limit_ns / unit * unit;
    return ns <= limit_ns + MS / 2 ? limit_ns : 0;
}

static uint64_t wait_length(const struct made_wait *w)
{
    return w->to_ns - w->from_ns;
}

static void end_by_limit(struct made_wait *w)
{
    w->woken = RECORDING_WAKER_INTERRUPT;
    w->is_poll = true;
    w->cause_lane = SCHEDULE_NONE;
    w->why = SCHEDULE_UNKNOWN;
}

/* The limit that most of the longest of these lengths, in order, ran into: LEAST of them and more.
 * 0: none. */
static uint64_t limit_among(const uint64_t *lengths, size_t len)
{
    enum { LEAST = 3 };
    uint64_t best_ns = 0;
    size_t most = 0;
    for (size_t i = 0, end = 0; i < len; i++) {
        uint64_t limit_ns = limit_of(lengths[i]);
        while (end < len && lengths[end] <= limit_ns + MS / 2)
            end++;
        if (limit_ns && end >= i + LEAST && end - i > most && 2 * (end - i) >= len - i) {
            most = end - i;
            best_ns = limit_ns;
        }
    }
    return best_ns;
}

/* On a busy machine it may have lasted longer. */
static bool wait_reaches(const struct made_wait *w, uint64_t limit_ns)
{
    return limit_ns && wait_length(w) + wait_length(w) / 100 >= limit_ns;
}

/* Where nothing says what ended waits at a place, a limit of time did that most of them ran into:
 * the thread asks again and again. If another thread did it after equal pieces of work, to count
 * them as polls only widens the bounds. */
static void limit_place(struct making *m, const uint32_t *waits, size_t len)
{
    uint64_t *lengths = ARENA_NEW(&m->scratch, uint64_t, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const struct made_wait *w = &m->waits.at[waits[i]];
        if (w->why != SCHEDULE_INFERRED && (w->kind == WAIT_THREAD || w->kind == WAIT_POLL))
            lengths[n++] = wait_length(w);
    }
    qsort(lengths, n, sizeof *lengths, lengths_in_order);
    uint64_t limit_ns = limit_among(lengths, n);
    for (size_t i = 0; i < len; i++) {
        struct made_wait *w = &m->waits.at[waits[i]];
        if (w->why != SCHEDULE_INFERRED && wait_reaches(w, limit_ns))
            end_by_limit(w);
    }
}

/* Whether a wait follows one that a limit of time ended, at the same place or an unknown one. */
static bool wait_goes_on(const struct made_wait *w, const struct made_wait *before)
{
    return before->lane == w->lane && before->is_poll &&
           before->woken == RECORDING_WAKER_INTERRUPT && w->from_ns <= before->to_ns + MS &&
           (w->node == before->node || w->node == RECORDING_NONE);
}

/* When waits began that a thread takes up again and again. Some may have been too short for their
 * place to be known, which is that of the others. */
static void find_beginnings(struct making *m)
{
    for (size_t i = 0; i < m->waits.len; i++) {
        struct made_wait *w = &m->waits.at[i];
        const struct made_wait *before = i && wait_goes_on(w, w - 1) ? w - 1 : NULL;
        w->began_ns = before ? before->began_ns : w->from_ns;
        if (!before || w->node != RECORDING_NONE)
            continue;
        w->node = before->node;
        w->kind = before->kind;
        if (w->why != SCHEDULE_INFERRED &&
            limit_of(wait_length(w)) == limit_of(wait_length(before)))
            end_by_limit(w);
    }
}

/* The same for calls at a place where some ends by a time limit are reported: timers run on any
 * processor. If these lasted equally long, that is the limit of all; of one or two a round time
 * says as much. False: none is reported. */
static bool limit_reported(const struct making *m, const uint32_t *waits, size_t len,
                           uint64_t *limit_ns)
{
    enum { LEAST = 3, PART = 20 };
    uint64_t least_ns = UINT64_MAX, most_ns = 0, calls = 0;
    for (size_t i = 0; i < len; i++) {
        const struct made_wait *w = &m->waits.at[waits[i]];
        if (w->woken != RECORDING_WAKER_INTERRUPT || w->woke_ns <= w->from_ns)
            continue;
        uint64_t ns = w->woke_ns - w->from_ns;
        least_ns = ns < least_ns ? ns : least_ns;
        most_ns = ns > most_ns ? ns : most_ns;
        calls++;
    }
    bool is_one = calls && most_ns - least_ns <= most_ns / PART;
    *limit_ns = !is_one ? 0 : calls >= LEAST ? least_ns : limit_of(least_ns);
    return calls > 0;
}

/* Limits of calls where wakers are reported: what no thread of the job has ended. */
void schedule_find_limits(struct making *m)
{
    uint32_t *order = ARENA_NEW(&m->scratch, uint32_t, m->waits.len + 1);
    uint64_t *lengths = ARENA_NEW(&m->scratch, uint64_t, m->waits.len + 1);
    size_t len = 0;
    for (uint32_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        if (w->kind == WAIT_POLL && w->node != RECORDING_NONE &&
            w->woken <= RECORDING_WAKER_INTERRUPT)
            order[len++] = i;
    }
    qsort_r(order, len, sizeof *order, waits_by_place, m);
    for (size_t i = 0, end; i < len; i = end) {
        size_t n = 0;
        for (end = i; end < len && !waits_by_place(&order[i], &order[end], m); end++)
            if (m->waits.at[order[end]].woken == RECORDING_WAKER_UNKNOWN)
                lengths[n++] = wait_length(&m->waits.at[order[end]]);
        qsort(lengths, n, sizeof *lengths, lengths_in_order);
        uint64_t limit_ns;
        if (!limit_reported(m, order + i, end - i, &limit_ns))
            limit_ns = limit_among(lengths, n);
        for (size_t k = i; k < end; k++)
            if (wait_reaches(&m->waits.at[order[k]], limit_ns))
                m->waits.at[order[k]].woken = RECORDING_WAKER_INTERRUPT;
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* Wakers that are inferred: those that stopped just then, and on a busy machine those that stopped
 * a little earlier. Limits of time are found among what is left, and make of many short waits a
 * long one. */
void schedule_infer_wakers(struct making *m)
{
    enum { FIRST, WITH_LIMITS, PASSES };
    uint32_t *order = ARENA_NEW(&m->scratch, uint32_t, m->waits.len + 1);
    const double *late = lanes_late(m);
    if (m->stops.len)
        qsort(m->stops.at, m->stops.len, sizeof *m->stops.at, stops_in_order);
    for (int pass = FIRST; pass < PASSES; pass++) {
        size_t len = 0;
        find_beginnings(m);
        for (uint32_t i = 0; i < m->waits.len; i++) {
            const struct made_wait *w = &m->waits.at[i];
            bool is_open = w->why == SCHEDULE_UNKNOWN || w->why == SCHEDULE_WOKEN ||
                           w->why == SCHEDULE_GUESSED;
            bool is_told = w->woken != RECORDING_WAKER_UNKNOWN && w->woken != RECORDING_WAKER_SOFT;
            if (is_open && !is_told && w->kind >= WAIT_THREAD && w->kind <= WAIT_ANY)
                order[len++] = i;
        }
        qsort_r(order, len, sizeof *order, waits_by_place, m);
        for (size_t i = 0, end; i < len; i = end) {
            double late_ns = late[m->waits.at[order[i]].lane];
            for (end = i; end < len && !waits_by_place(&order[i], &order[end], m);)
                end++;
            infer_place(m, order + i, end - i, late_ns, JUST_NS);
            infer_place(m, order + i, end - i, late_ns, LATE_NS);
            if (pass == FIRST && !m->s->has_wakers && m->waits.at[order[i]].node != RECORDING_NONE)
                limit_place(m, order + i, end - i);
        }
    }
}
