/* Waits that go on in the next one, and what they were for.
 *
 * A thread that waits with a time limit, and is woken by another one in the end, has waited for
 * that all the time.
 *
 * A thread that sleeps again and again at one place looks for something each time. What it found at
 * last was done since the poll before, mostly by a thread that had nothing else to do then: it
 * ended, or stopped for long. How often one does that by chance is known from how often they do,
 * and how long the polls went on. Where chance explains few of a process's cases, that thread is
 * inferred.
 *
 * Who wakes or makes another thread between two waits has found something, and waits anew.
 *
 * Who sent what a socket's wait ended with: the thread in which the soft interrupt ran, if it is
 * there much more often than it runs.
 *
 * Cost: n log n for n waits. */
#include "profile/analysis/recording/schedule_private.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* Polls of a thread at one place, one right after the other, until what it looked for was there:
 * that came after the last but one had ended. */
struct poll_series {
    uint32_t first, last; /* waits */
    uint64_t since_ns;    /* the end of the last but one */
    uint32_t waker;       /* who stopped last since then; SCHEDULE_NONE: nobody */
    uint64_t stopped_ns;
    double part; /* how likely one stops then by chance */
};

/* A thread woke or made another. */
struct act {
    uint32_t lane;
    uint64_t at_ns;
};

struct polls {
    struct making *m;
    VEC(struct act) acts; /* by lane and time */
    VEC(struct poll_series) series;
    uint64_t *waited_ns, *off_ns; /* per wait, of those before it; with lacks of a CPU */
};

static int acts_in_order(const void *left, const void *right)
{
    const struct act *l = left, *r = right;
    if (l->lane != r->lane)
        return l->lane < r->lane ? -1 : 1;
    return l->at_ns < r->at_ns ? -1 : l->at_ns > r->at_ns;
}

/* Whether the thread woke or made another between two of its polls: it had found something. */
static bool acts_between(const struct polls *p, const struct made_wait *before,
                         const struct made_wait *next)
{
    size_t k =
        PARTITION_POINT(p->acts.len, i,
                        p->acts.at[i].lane < next->lane || (p->acts.at[i].lane == next->lane &&
                                                            p->acts.at[i].at_ns < before->to_ns));
    return k < p->acts.len && p->acts.at[k].lane == next->lane &&
           p->acts.at[k].at_ns <= next->from_ns;
}

/* Waits that go on in the thread's next one at the same place; in between it may have been without
 * a CPU. The last of a run of polls has found what it looked for. Of those with a time limit that
 * ran out, what a thread ended at last would have ended all, had it come sooner. */
static void find_turns_and_retries(const struct polls *p)
{
    struct making *m = p->m;
    uint64_t ready_ns = 0;
    for (size_t i = m->waits.len, at = i; i-- > 0;) {
        struct made_wait *w = &m->waits.at[i];
        const struct made_wait *next = at < m->waits.len ? &m->waits.at[at] : NULL;
        if (next && next->lane != w->lane)
            next = NULL;
        if (w->kind == WAIT_NO_CPU) {
            ready_ns += next ? w->to_ns - w->from_ns : 0;
            continue;
        }
        bool is_new = !next || acts_between(p, w, next);
        bool goes_on = !is_new && next->is_poll && next->node == w->node;
        bool is_ended = !is_new && (next->is_retry || next->why == SCHEDULE_RECORDED ||
                                    next->why == SCHEDULE_ENDED || next->why == SCHEDULE_INFERRED);
        bool is_same = is_ended && (next->node == w->node || (next->node == RECORDING_NONE &&
                                                              next->why == SCHEDULE_INFERRED));
        bool is_retry = is_same && w->node != RECORDING_NONE &&
                        next->from_ns <= w->to_ns + ready_ns + MS &&
                        w->cause_lane == SCHEDULE_NONE && w->kind != WAIT_TIMER && wait_is_timed(w);
        w->is_turn = w->is_poll && w->node != RECORDING_NONE && !goes_on;
        for (size_t k = i; k < at && is_retry; k++)
            m->waits.at[k].is_retry = true;
        at = i;
        ready_ns = 0;
    }
}

/* The series that begins with a wait; false: there is none. Between polls the thread may have been
 * without a CPU. Who is woken at that place after all has waited for that, and who polls until its
 * process ends has found nothing. */
static bool series_from(const struct polls *p, uint32_t first, struct poll_series *series)
{
    enum { LEAST = 3 };
    const struct making *m = p->m;
    const struct made_wait *at = &m->waits.at[first], *poll = at, *end = at - first + m->waits.len;
    uint32_t polls = 1, lane = at->lane, node = at->node;
    *series = (struct poll_series){.first = first, .last = first, .waker = SCHEDULE_NONE};
    for (const struct made_wait *w = at + 1; w < end && w->lane == lane; w++) {
        bool is_poll = w->is_poll && w->node == node && w->cause_lane == SCHEDULE_NONE;
        if (w->from_ns > at->to_ns + (poll->to_ns - poll->from_ns) || acts_between(p, at, w))
            break;
        if (!is_poll && w->node == node)
            return false;
        if (!is_poll && w->kind != WAIT_NO_CPU)
            break;
        at = w;
        if (is_poll) {
            series->since_ns = poll->to_ns;
            series->last = (uint32_t)(w - m->waits.at);
            poll = w;
            polls++;
        }
    }
    return polls >= LEAST && m->lanes.at[lane].end_ns > poll->to_ns + MS;
}

/* For how long a thread worked in [from, to]. `off_ns`: waited_ns, so that it also worked while it
 * was ready to, or off_ns. */
static uint64_t lane_worked(const struct polls *p, const uint64_t *off_ns, uint32_t lane,
                            uint64_t from_ns, uint64_t to_ns)
{
    const struct made_lane *l = &p->m->lanes.at[lane];
    const struct made_wait *w = p->m->waits.at;
    size_t len = p->m->waits.len;
    from_ns = from_ns > l->start_ns ? from_ns : l->start_ns;
    to_ns = to_ns < l->end_ns ? to_ns : l->end_ns;
    if (to_ns <= from_ns)
        return 0;
    size_t begin =
        PARTITION_POINT(len, k, w[k].lane < lane || (w[k].lane == lane && w[k].from_ns < from_ns));
    size_t end =
        PARTITION_POINT(len, k, w[k].lane < lane || (w[k].lane == lane && w[k].from_ns < to_ns));
    uint64_t waited_ns = off_ns[end] - off_ns[begin];
    return to_ns - from_ns > waited_ns ? to_ns - from_ns - waited_ns : 0;
}

/* Who ended since the last poll but one, or stopped for longer than a poll and had worked for a
 * good part of the time. Threads of other processes count if the own one has no other. */
static void series_find_waker(const struct polls *p, struct poll_series *series)
{
    enum { PART = 10 };
    const struct making *m = p->m;
    const struct made_wait *last = &m->waits.at[series->last];
    bool is_own = wait_has_others(m, last);
    uint32_t pid = lane_process(m, last->lane)->pid;
    uint64_t from_ns = m->waits.at[series->first].from_ns, lasted_ns = last->to_ns - from_ns;
    uint64_t poll_ns = last->to_ns - series->since_ns;
    size_t stops = 0, looked = 0;
    for (size_t k = PARTITION_POINT(m->stops.len, i, m->stops.at[i].at_ns <= from_ns);
         k < m->stops.len && m->stops.at[k].at_ns <= last->to_ns && looked < MOST_LOOKED; k++) {
        const struct made_stop *stop = &m->stops.at[k];
        bool has_ended = stop->lasts_ns == UINT64_MAX;
        looked++;
        if (stop->lane == last->lane || stop->lasts_ns < poll_ns ||
            (is_own && lane_process(m, stop->lane)->pid != pid) ||
            (!has_ended &&
             lane_worked(p, p->waited_ns, stop->lane, from_ns, stop->at_ns) < lasted_ns / PART))
            continue;
        stops++;
        if (stop->at_ns > series->since_ns) {
            series->waker = stop->lane;
            series->stopped_ns = stop->at_ns;
        }
    }
    series->part = (double)stops * (double)poll_ns / (double)lasted_ns;
    series->part = looked < MOST_LOOKED ? series->part : 1;
}

/* Series in which others hardly ever stop are judged apart from those in which they often do. */
static double *series_class(double (*classes)[2], const struct polls *p,
                            const struct poll_series *series)
{
    static const double FEW = 0.02;
    uint32_t process = p->m->lanes.at[p->m->waits.at[series->first].lane].process;
    return &classes[process][series->part <= FEW];
}

static void infer_polls(struct polls *p)
{
    static const double FALSE_PART = 0.1;
    struct making *m = p->m;
    double(*expected)[2] = arena_alloc(&m->scratch, (m->r->processes.len + 1) * sizeof *expected);
    double(*found)[2] = arena_alloc(&m->scratch, (m->r->processes.len + 1) * sizeof *found);
    for (uint32_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        struct poll_series series;
        if (!w->is_poll || w->node == RECORDING_NONE || w->cause_lane != SCHEDULE_NONE)
            continue;
        if (series_from(p, i, &series)) {
            series_find_waker(p, &series);
            vec_push(&p->series, series);
        }
        i = series.last;
    }
    for (size_t i = 0; i < p->series.len; i++) {
        const struct poll_series *series = &p->series.at[i];
        *series_class(expected, p, series) += series->part;
        *series_class(found, p, series) += series->waker != SCHEDULE_NONE;
    }
    for (size_t i = 0; i < p->series.len; i++) {
        const struct poll_series *series = &p->series.at[i];
        bool is_chance =
            *series_class(expected, p, series) > FALSE_PART * *series_class(found, p, series);
        if (series->waker == SCHEDULE_NONE || is_chance)
            continue;
        struct made_wait *last = &m->waits.at[series->last];
        last->cause_lane = series->waker;
        last->cause_ns = series->stopped_ns;
        last->why = SCHEDULE_INFERRED;
        /* The others would have found that, too, had it come sooner. */
        for (uint32_t k = series->first; k < series->last; k++)
            m->waits.at[k].is_retry = true;
    }
}

/* A thread of the job was running as a soft interrupt ended the wait, which is its likeliest cause.
 */
static bool wait_is_by_soft_waker(const struct making *m, const struct made_wait *w)
{
    return w->woken == RECORDING_WAKER_SOFT && w->cause_ns > w->from_ns &&
           w->cause_lane == m->lane_of[w->waker] &&
           (w->why == SCHEDULE_GUESSED || w->why == SCHEDULE_INFERRED);
}

/* Soft interrupts, as of sockets, run in whatever thread has the CPU: within a machine in that
 * which sent. If that were chance, a thread would be there as often as it runs. Where threads are
 * there so much more often that it explains nearly all cases, they were the senders. */
static void infer_senders(const struct polls *p)
{
    static const double TRUE_PART = 0.9, DEVIATIONS = 2;
    struct making *m = p->m;
    for (size_t first = 0, end; first < m->waits.len; first = end) {
        double runs = 0, found = 0, all = 0;
        for (end = first; end < m->waits.len && m->waits.at[end].lane == m->waits.at[first].lane;
             end++) {
            const struct made_wait *w = &m->waits.at[end];
            all += w->woken == RECORDING_WAKER_SOFT;
            if (!wait_is_by_soft_waker(m, w))
                continue;
            found++;
            runs += (double)lane_worked(p, p->off_ns, w->cause_lane, w->from_ns, w->cause_ns) /
                    (double)(w->cause_ns - w->from_ns);
        }
        double part = found > 0 ? runs / found : 1, expected = part * all;
        bool is_chance = found - expected < TRUE_PART * (all - expected) ||
                         found - expected <= DEVIATIONS * sqrt(expected * (1 - part));
        for (size_t i = first; i < end && !is_chance; i++)
            if (wait_is_by_soft_waker(m, &m->waits.at[i]))
                m->waits.at[i].why = SCHEDULE_INFERRED;
    }
}

void schedule_find_polled(struct making *m)
{
    struct polls p = {.m = m};
    p.waited_ns = ARENA_NEW(&m->scratch, uint64_t, m->waits.len + 1);
    p.off_ns = ARENA_NEW(&m->scratch, uint64_t, m->waits.len + 1);
    for (size_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        uint64_t ns = w->to_ns - w->from_ns;
        p.waited_ns[i + 1] = p.waited_ns[i] + (w->kind == WAIT_NO_CPU ? 0 : ns);
        p.off_ns[i + 1] = p.off_ns[i] + ns;
    }
    for (size_t i = 0; i < m->forks_len; i++)
        vec_push(&p.acts, (struct act){m->forks[i].maker, m->forks[i].at_ns});
    for (size_t i = 0; i < m->waits.len; i++)
        if (m->waits.at[i].why == SCHEDULE_RECORDED)
            vec_push(&p.acts, (struct act){m->waits.at[i].cause_lane, m->waits.at[i].cause_ns});
    if (p.acts.len)
        qsort(p.acts.at, p.acts.len, sizeof *p.acts.at, acts_in_order);
    find_turns_and_retries(&p);
    if (m->s->has_waits) {
        infer_senders(&p);
        infer_polls(&p);
    }
    vec_free(&p.acts);
    vec_free(&p.series);
}
