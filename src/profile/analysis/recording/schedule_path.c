/* What the graph of a job's points (schedule.c) says: the critical path, slack, and how long the
 * job would have taken if some code took less.
 *
 * The path is found backwards from the last point. A point with a cause goes on there; any other at
 * the one before it in its lane; a wait whose end is open is a step of its own, as what the job
 * hung on then is not known. What lies between a cause and the point that it caused is time in
 * which the thread was woken, and not on a CPU yet.
 *
 * For slack and lengths, each stretch of a lane takes what it took, with one exception: a wait with
 * a cause takes no time of its own, as it ends with its cause. The earliest time of a point is the
 * latest that the one before it and its cause require; with nothing saved it is the recorded one.
 * The latest time, going backwards, is the earliest of those that come after it. Slack is the
 * difference. The end of a thread for which no thread was waiting is needed by the next point at
 * which the parent waits or ends: it may have looked then.
 *
 * Samples say where in a slice a thread's CPU time was, but not when within it: a stretch gets the
 * part of a slice's samples that it has of the thread's running time there. All passes are linear
 * in points, stretches in slices, and samples. */
#include "profile/analysis/recording/schedule.h"

#include "arch/arch.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/analysis/recording/schedule_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The point after this one in its lane, or SCHEDULE_NONE. */
static uint32_t point_next(const struct schedule *s, uint32_t point)
{
    const struct schedule_lane *l = &s->lanes[s->points[point].lane];
    return point + 1 < l->first + l->len ? point + 1 : SCHEDULE_NONE;
}

/* Points of a lane are next to each other, in the order of time. */
static uint32_t point_before(const struct schedule *s, uint32_t point)
{
    return point > s->lanes[s->points[point].lane].first ? point - 1 : SCHEDULE_NONE;
}

/* Whether the stretch that ends with `point` is (the rest of) a wait that ended with its cause. */
static bool point_ends_with_cause(const struct schedule *s, uint32_t point)
{
    uint32_t before = point_before(s, point);
    return before != SCHEDULE_NONE && s->points[before].state == SCHEDULE_WAITS &&
           s->points[point].cause != SCHEDULE_NONE;
}

/* --- CPU time of stretches ------------------------------------------------------------------- */

/* A sample that is CPU time, to be sorted by where it belongs. */
struct placed_sample {
    uint32_t thread, slice, sample;
};

static int samples_by_thread(const void *left, const void *right)
{
    const struct placed_sample *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    return l->slice < r->slice ? -1 : l->slice > r->slice;
}

void schedule_make_rows(struct schedule *s, struct arena *a)
{
    const struct recording *r = s->recording;
    VEC(struct placed_sample) placed = {0};
    bool *spins = ARENA_NEW(a, bool, r->nodes.len + 1);
    for (uint32_t i = 1; i < r->nodes.len; i++)
        spins[i] = schedule_spins_for(s, i) != WAIT_OTHER;
    bool has_turns = s->has_waits && r->turns.len, has_lacks = s->has_waits && !r->turns.len;
    s->row_of = ARENA_NEW(a, uint32_t, r->samples.len + 1);
    for (uint32_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *sample = &r->samples.at[i];
        bool is_lack = has_lacks && schedule_wait_kind(r, sample->node) == WAIT_NO_CPU;
        s->row_of[i] = SCHEDULE_NONE;
        if (sample->event == s->event && (is_lack || !recording_is_wait(r, sample->node)))
            vec_push(&placed, (struct placed_sample){sample->thread, sample->slice, i});
    }
    for (uint32_t i = 0; i < r->turns.len && has_turns; i++)
        vec_push(&placed, (struct placed_sample){r->turns.at[i].thread, r->turns.at[i].slice,
                                                 (uint32_t)r->samples.len + i});
    if (placed.len)
        qsort(placed.at, placed.len, sizeof *placed.at, samples_by_thread);
    s->rows = ARENA_NEW(a, struct schedule_row, placed.len + 1);
    for (size_t i = 0; i < placed.len; i++) {
        const struct placed_sample *p = &placed.at[i];
        if (!i || samples_by_thread(&placed.at[i - 1], p))
            s->rows[s->rows_len++] = (struct schedule_row){.thread = p->thread, .slice = p->slice};
        struct schedule_row *row = &s->rows[s->rows_len - 1];
        if (p->sample >= r->samples.len) {
            row->ran_ns += (double)r->turns.at[p->sample - r->samples.len].ran_ns;
            continue;
        }
        double weight = (double)r->samples.at[p->sample].weight;
        if (recording_is_wait(r, r->samples.at[p->sample].node)) {
            row->lack_ns += weight;
            continue;
        }
        bool is_spin = spins[r->samples.at[p->sample].node];
        *(is_spin ? &row->spun_ns : &row->cpu_ns) += weight;
        row->ran_ns += has_turns ? 0 : weight;
        if (!is_spin)
            s->row_of[p->sample] = (uint32_t)(s->rows_len - 1);
    }
    vec_free(&placed);
}

/* Calls for each slice that [from, to) touches and in which the thread has CPU time. `ns` is how
 * much of the slice lies in [from, to). Rows are sorted by thread and slice, so the first is
 * found by bisection and the rest follow. */
static void rows_each(struct schedule *s, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                      void (*each)(struct schedule_row *, double ns, void *), void *context)
{
    uint64_t length = s->recording->slice_ns;
    size_t row =
        PARTITION_POINT(s->rows_len, k,
                        s->rows[k].thread < thread ||
                            (s->rows[k].thread == thread && s->rows[k].slice < from_ns / length));
    for (; row < s->rows_len && s->rows[row].thread == thread; row++) {
        uint64_t begin = length * s->rows[row].slice, end = begin + length;
        if (begin >= to_ns)
            return;
        uint64_t low = begin > from_ns ? begin : from_ns, high = end < to_ns ? end : to_ns;
        if (high > low)
            each(&s->rows[row], (double)(high - low), context);
    }
}

/* Two passes: the first sums up how long a thread ran in each slice, the second gives each
 * stretch its part of the slice's CPU time. `room_ns` is therefore never 0 in the second. */
static void row_room(struct schedule_row *row, double ns, void *context)
{
    (void)context;
    row->room_ns += ns;
}

static void row_path(struct schedule_row *row, double ns, void *context)
{
    (void)context;
    row->path_ns += ns;
}

static void row_cpu(struct schedule_row *row, double ns, void *context)
{
    struct schedule_point *p = context;
    double ran = fmax(0, row->ran_ns - row->spun_ns);
    double lack = fmin(row->lack_ns, fmax(0, row->room_ns - ran));
    p->cpu_ns += row->cpu_ns * ns / row->room_ns;
    p->saved_ns += row->saved_ns * ns / row->room_ns;
    p->lack_ns += lack * ns / row->room_ns;
    p->off_ns -= (ran + lack) * ns / row->room_ns;
}

/* What a thread that runs was off a CPU: in waits too short to be kept, or that were lost. Of each
 * lane alone, as one such wait is next to nothing, and so is what switching takes. Where switches
 * were not reported, samples say it, of the lane as a whole, as they may be late; and the job
 * begins with the recorder's own work. */
static void lane_off(struct schedule *s, const struct schedule_lane *l)
{
    static const double LEAST_NS = 4e6, PART = 0.05, PART_BY_SAMPLES = 0.1;
    bool by_samples = !s->has_waits || !s->recording->turns.len;
    bool is_known = s->has_ran || s->recording->method == RECORDING_METHOD_PTRACE;
    double all = 0, sum = 0, whole = 0, part = by_samples ? PART_BY_SAMPLES : PART;
    for (uint32_t i = l->first; i < l->first + l->len; i++) {
        struct schedule_point *p = &s->points[i];
        bool is_start = i == l->first && !l->main, is_last = i + 1 == l->first + l->len;
        double lasts = is_last ? 0 : (double)(s->points[i + 1].at_ns - p->at_ns);
        bool counts = p->state == SCHEDULE_RUNS && !is_start && is_known && s->lanes_len > 1;
        whole += counts ? lasts + p->off_ns : 0;
        p->off_ns = counts ? fmin(fmax(0, lasts + p->off_ns), lasts) : 0;
        all += counts ? lasts : 0;
        sum += p->off_ns;
    }
    for (uint32_t i = l->first; i < l->first + l->len; i++)
        s->points[i].off_ns *= fmin(sum, by_samples ? whole : sum) >= fmax(LEAST_NS, part * all);
}

/* All stretches in which a thread runs. */
static void points_each(struct schedule *s, void (*each)(struct schedule_row *, double ns, void *),
                        bool is_for_point)
{
    for (uint32_t i = 0; i < s->points_len; i++) {
        struct schedule_point *p = &s->points[i];
        uint32_t next = point_next(s, i);
        if (next != SCHEDULE_NONE && p->state == SCHEDULE_RUNS)
            rows_each(s, p->thread, p->at_ns, s->points[next].at_ns, each, is_for_point ? p : NULL);
    }
}

/* `saved` has for each node the part of its time that would go, 0 to 1; NULL: nothing. Waits that
 * others end take as long as those need. Call it
 * before lengths or paths are requested, as it also sets the CPU time of stretches. */
void schedule_save(struct schedule *s, const double *saved)
{
    const struct recording *r = s->recording;
    for (size_t i = 0; i < s->rows_len; i++)
        s->rows[i].saved_ns = s->rows[i].room_ns = 0;
    for (uint32_t i = 0; i < r->samples.len && saved; i++)
        if (s->row_of[i] != SCHEDULE_NONE)
            s->rows[s->row_of[i]].saved_ns +=
                (double)r->samples.at[i].weight * saved[r->samples.at[i].node];
    for (uint32_t i = 0; i < s->points_len; i++)
        s->points[i].cpu_ns = s->points[i].saved_ns = s->points[i].lack_ns = s->points[i].off_ns =
            0;
    points_each(s, row_room, false);
    points_each(s, row_cpu, true);
    for (uint32_t i = 0; i < s->points_len && saved; i++) {
        struct schedule_point *p = &s->points[i];
        if (schedule_point_waits(p)) /* of a wait the end is a point, too */
            p->saved_ns = saved[p->node] * (double)(p[1].at_ns - p->at_ns);
    }
    /* Records of waits may be wrong about that where some were lost. */
    s->stray_ns = 0;
    for (size_t i = 0; i < s->rows_len; i++)
        s->stray_ns += s->rows[i].room_ns > 0 ? 0 : s->rows[i].saved_ns;
    for (uint32_t i = 0; i < s->lanes_len; i++)
        lane_off(s, &s->lanes[i]);
}

/* --- lengths --------------------------------------------------------------------------------- */

/* The ends for which a wait was seen. */
static bool *points_needed(const struct schedule *s, struct arena *a)
{
    bool *is_needed = ARENA_NEW(a, bool, s->points_len + 1);
    for (uint32_t i = 0; i < s->points_len; i++)
        if (s->points[i].cause != SCHEDULE_NONE && s->points[i].why == SCHEDULE_ENDED)
            is_needed[s->points[i].cause] = true;
    return is_needed;
}

/* The next point of its lane, or itself, at which a thread waits; the lane's last one if none does.
 */
static uint32_t *points_next_wait(const struct schedule *s, struct arena *a)
{
    uint32_t *next_wait = ARENA_NEW(a, uint32_t, s->points_len + 1);
    for (uint32_t i = s->points_len; i-- > 0;) {
        bool is_it = s->points[i].state == SCHEDULE_WAITS || point_next(s, i) == SCHEDULE_NONE;
        next_wait[i] = is_it ? i : next_wait[i + 1];
    }
    return next_wait;
}

/* Ends are at once that are not further apart. */
#define AT_ONCE_NS UINT64_C(1000000)

/* For each point at which a thread woke another, as reported: where that one's wait begins, plus
 * one. As threads meet, it might have had to wait for that one instead, if it came sooner: not for
 * one that ends at once, as those do that idle when their process ends. */
static uint32_t *points_waited_for(const struct schedule *s, struct arena *a)
{
    uint32_t *waited = ARENA_NEW(a, uint32_t, s->points_len + 1);
    for (uint32_t i = 0; i < s->points_len; i++) {
        const struct schedule_point *p = &s->points[i];
        const struct schedule_lane *l = &s->lanes[p->lane];
        bool goes_on = s->points[l->first + l->len - 1].at_ns > p->at_ns + AT_ONCE_NS;
        if (p->cause != SCHEDULE_NONE && p->why == SCHEDULE_RECORDED && goes_on &&
            point_before(s, i) != SCHEDULE_NONE)
            waited[p->cause] = point_before(s, i) + 1;
    }
    return waited;
}

/* Whether a thread waited until its process ended, which has ended it: nobody waited for that. */
static bool point_is_idle_end(const struct schedule *s, uint32_t point,
                              const struct schedule_lane *maker)
{
    const struct schedule_lane *own = &s->lanes[s->points[point].lane];
    uint64_t end_ns = s->points[maker->first + maker->len - 1].at_ns;
    for (uint32_t i = point; i > own->first && s->points[i].at_ns + AT_ONCE_NS >= end_ns; i--)
        if (s->points[i - 1].state == SCHEDULE_WAITS)
            return own->pid == maker->pid;
    return false;
}

/* Where the maker of a lane may have noticed its end, though it had no need to wait for it: when
 * the wait in which it was then is over, or it waits next, or ends. SCHEDULE_NONE: the point is no
 * such end. */
static uint32_t point_that_looks(const struct schedule *s, uint32_t point, const bool *is_needed,
                                 const uint32_t *next_wait)
{
    uint32_t maker = s->points[s->lanes[s->points[point].lane].first].cause;
    if (point_next(s, point) != SCHEDULE_NONE || is_needed[point] || point == s->end ||
        maker == SCHEDULE_NONE)
        return SCHEDULE_NONE;
    const struct schedule_lane *l = &s->lanes[s->points[maker].lane];
    if (point_is_idle_end(s, point, l))
        return SCHEDULE_NONE;
    uint32_t last = l->first + l->len;
    uint32_t next =
        maker + (uint32_t)PARTITION_POINT(last - maker, k,
                                          s->points[maker + k].at_ns < s->points[point].at_ns);
    if (next < last && next > maker && s->points[next - 1].state == SCHEDULE_WAITS)
        return next;
    return next < last ? next_wait[next] : SCHEDULE_NONE;
}

/* By how much a stretch that begins with `b` gets shorter, at most by what it lasts. Who has less
 * to do on a busy machine waits less for a CPU, too: that is as likely as that it waits as long, so
 * each bound takes the way that lies on its side. `share`: of what its lane ran last, the part that
 * goes. A wait at an unknown place may have been in a call of which time goes. */
static double stretch_saves(const struct schedule *s, const struct schedule_point *b, double lasts,
                            double share, enum schedule_bound bound)
{
    bool is_soonest = bound == SCHEDULE_SOONEST, is_wide = is_soonest ? share > 0 : share < 0;
    double saves = b->saved_ns;
    if (is_wide && b->state != SCHEDULE_WAITS)
        saves = is_soonest ? fmax(saves, lasts * share) : fmin(saves, lasts * share);
    if (is_soonest && b->state == SCHEDULE_WAITS && b->node == RECORDING_NONE)
        saves = lasts * s->saved_unknown;
    else if (is_soonest && b->state == SCHEDULE_RUNS)
        saves += b->off_ns * s->saved_unknown;
    return fmin(saves, lasts);
}

/* When a stretch ends that begins at `time`. Waits within it that were not kept are open: they end
 * sooner by as much as anything in the job can. */
static double stretch_ends(const struct schedule_point *p, const struct schedule_point *b,
                           double time, double saves, double most)
{
    double ends = time + (double)(p->at_ns - b->at_ns) - saves;
    return fmin(ends, fmax(ends - b->off_ns, (double)p->at_ns - most));
}

/* Short waits of a lane whose causes are unknown: how many, how long they lasted in all, and how
 * long they may have. */
struct short_waits {
    uint32_t len;
    double lasted, allowed;
};

/* How late a stretch ends at the latest that begins at `begins`, and is a wait of unknown cause, or
 * in part: when it did, or after some times its length. If something else ended it, that it came so
 * soon was chance: in 98 of 100 cases a mean wait is not longer than 50 times what one lasted, 10
 * times what two did, and so on, as sums of exponential lengths have a gamma distribution (Wilson
 * and Hilferty). Short waits are judged by their sum. */
static double open_ends(const struct schedule *s, const struct schedule_point *p,
                        const struct schedule_point *b, double begins, struct short_waits *shorts)
{
    static const double ONE = 50, QUANTILE = 2.054, SHORT_NS = 2e6;
    double lasted = (double)(p->at_ns - b->at_ns), waited = lasted;
    if (b->state == SCHEDULE_RUNS)
        waited = s->recording->turns.len ? b->off_ns : INFINITY;
    if (!s->has_waits || b->ending == SCHEDULE_BY_STOPPED)
        return (double)p->at_ns;
    double most = ONE * waited;
    if (waited <= SHORT_NS) {
        double n = ++shorts->len, part = 1 - 1 / (9 * n) - QUANTILE / (3 * sqrt(n));
        shorts->lasted += waited;
        most = shorts->lasted * (n > 1 ? 1 / (part * part * part) : ONE);
        most = fmax(waited, most - shorts->allowed);
        shorts->allowed += most;
    }
    return fmin((double)p->at_ns, begins + lasted - waited + most);
}

/* How late a wait of the process's own threads ends that a limit of time ended: it had waited long
 * enough, and if it was the last, it may have seen what one of those had done that ran then.
 * `latest`: per lane, the last point before. */
static double inside_ends(const struct schedule *s, const uint32_t *next_lane,
                          const uint32_t *latest, const double *at, const struct schedule_point *p,
                          const struct schedule_point *b)
{
    enum { MOST_LANES = 512 };
    double lasted = (double)(p->at_ns - b->at_ns), ends = at[b - s->points] + lasted;
    int looked = 0;
    for (uint32_t i = next_lane[p->lane]; i != p->lane && b->is_turn; i = next_lane[i]) {
        uint32_t point = latest[i];
        if (++looked > MOST_LANES)
            return (double)p->at_ns;
        if (point == SCHEDULE_NONE)
            continue;
        const struct schedule_point *q = &s->points[point];
        bool ran = point_next(s, point) != SCHEDULE_NONE && q->state != SCHEDULE_WAITS;
        if (ran || q->at_ns + MS >= b->at_ns)
            ends = fmax(ends, (double)p->at_ns + at[point] - (double)q->at_ns + lasted);
    }
    return fmin(ends, (double)p->at_ns);
}

/* Both bounds come from one pass in the order of points. The early one takes the cause of a wait
 * for true where no other can have been it: what a thread waits for comes sooner. Of other waits it
 * only knows that they were not ended sooner than anything in the job is: `most` is by how much any
 * thread can be sooner by then, and `late` by how much later, if code takes longer. The late one
 * believes only in ends, starts and wakes that were reported, which are exact; a lock or a pipe may
 * have been released by another thread, so such waits end no sooner than they did. A thread cannot
 * save more than a stretch lasts. */
double schedule_length(const struct schedule *s, enum schedule_bound bound, struct arena *a)
{
    enum { MOSTLY = 4 }; /* a stretch is waits, if a part of so many is */
    double *at = ARENA_NEW(a, double, s->points_len + 1);
    double *looked_at = ARENA_NEW(a, double, s->points_len + 1);
    const bool *is_needed = points_needed(s, a);
    const uint32_t *next_wait = points_next_wait(s, a);
    /* Of one thread that was not seen to wait, nothing says that it did. */
    bool is_alone = s->lanes_len == 1 && !s->has_waits;
    const uint32_t *waited = points_waited_for(s, a);
    double *saves = ARENA_NEW(a, double, s->points_len + 1);
    double *share = ARENA_NEW(a, double, s->lanes_len + 1);
    double *skipped = ARENA_NEW(a, double, s->lanes_len + 1); /* of waits that take no time here */
    double *spare = ARENA_NEW(a, double, s->lanes_len + 1);
    double most = fmax(0, s->stray_ns), late = fmax(0, -s->stray_ns);
    struct short_waits *shorts = ARENA_NEW(a, struct short_waits, s->lanes_len + 1);
    uint32_t *next_lane = ARENA_NEW(a, uint32_t, s->lanes_len + 1); /* of the process, in a ring */
    struct map last_of = {0};                                       /* by pid */
    for (uint32_t i = 0; i < s->lanes_len; i++) {
        const uint32_t *last = map_find(&last_of, s->lanes[i].pid, 0);
        next_lane[i] = last ? next_lane[*last] : i;
        if (last)
            next_lane[*last] = i;
        map_set(&last_of, s->lanes[i].pid, 0, i);
    }
    map_deinit(&last_of);
    uint32_t *latest =
        ARENA_NEW(a, uint32_t, s->lanes_len + 1); /* per lane, the last point so far */
    memset(latest, 0xff, (s->lanes_len + 1) * sizeof *latest);
    for (uint32_t i = 0; i < s->points_len; i++) {
        uint32_t point = s->order[i], before = point_before(s, point);
        uint32_t next = point_next(s, point);
        const struct schedule_point *p = &s->points[point];
        const struct schedule_point *b = before == SCHEDULE_NONE ? NULL : &s->points[before];
        const struct schedule_point *c = p->cause == SCHEDULE_NONE ? NULL : &s->points[p->cause];
        bool is_sure = p->why == SCHEDULE_MADE || p->why == SCHEDULE_ENDED ||
                       p->why == SCHEDULE_RECORDED || p->why == SCHEDULE_INFERRED;
        bool has_cause = point_ends_with_cause(s, point);
        bool is_open = b && b->state == SCHEDULE_WAITS && !is_alone &&
                       (has_cause ? p->why == SCHEDULE_GUESSED : !c && schedule_is_open(b->ending));
        double time = b ? at[before] : 0;
        if (!b && !c)
            time = (double)p->at_ns; /* it was there before, or its cause is unknown */
        /* Who polls notices at the next turn: what came sooner may save a turn more, or none. */
        double turn = is_open && b->is_turn ? (double)(p->at_ns - b->at_ns) : 0;
        if (is_open)
            time = fmax(time, (double)p->at_ns - most - saves[before] - (most > 0 ? turn : 0));
        else if (b && !has_cause && !b->is_retry)
            time = stretch_ends(p, b, time, saves[before], most);
        else if (b && b->is_retry)
            skipped[p->lane] += (double)(p->at_ns - b->at_ns);
        if (is_open || c)
            skipped[p->lane] = 0;
        if (c && !is_open) {
            double takes = (double)(p->at_ns - c->at_ns);
            /* Who polls sees at its next turn what came sooner, or later. */
            if (b && b->is_turn && fabs(at[p->cause] - (double)c->at_ns) >= 1)
                takes = bound == SCHEDULE_LATEST ? fmax(takes, (double)(p->at_ns - b->at_ns)) : 0;
            time = fmax(time, at[p->cause] + takes);
        }
        bool is_off = b && !has_cause && b->off_ns * MOSTLY > (double)(p->at_ns - b->at_ns);
        if ((is_open || is_off || (has_cause && !is_sure)) && bound == SCHEDULE_LATEST) {
            double ends = !is_open && !is_off ? (double)p->at_ns
                          : b->is_inside      ? inside_ends(s, next_lane, latest, at, p, b)
                                              : open_ends(s, p, b, at[before], &shorts[p->lane]);
            time = fmax(time, ends + (is_open || is_off ? late : 0) + (late > 0 ? turn : 0));
        }
        if (bound == SCHEDULE_LATEST && waited[point])
            time = fmax(time, at[waited[point] - 1]);
        time = fmax(time, looked_at[point]);
        at[point] = time;
        latest[p->lane] = point;
        double lasts = next == SCHEDULE_NONE ? 0 : (double)(s->points[next].at_ns - p->at_ns);
        if (p->state == SCHEDULE_RUNS && p->cpu_ns > 0)
            share[p->lane] = p->saved_ns / p->cpu_ns;
        saves[point] = stretch_saves(s, p, lasts, share[p->lane], bound);
        /* A sample may stand for more than the slice that it is in, where its thread had no CPU for
         * long: the saving is in the gaps, which are open. */
        spare[p->lane] += s->has_waits ? 0 : fmax(0, p->saved_ns - saves[point]);
        most = fmax(most, (double)p->at_ns - time - skipped[p->lane] + saves[point] +
                              spare[p->lane] + fmax(0, s->stray_ns));
        late = fmax(late, time - (double)p->at_ns + fmax(-saves[point], 0) - fmin(0, s->stray_ns));
        uint32_t looks = bound == SCHEDULE_LATEST ? point_that_looks(s, point, is_needed, next_wait)
                                                  : SCHEDULE_NONE;
        if (looks != SCHEDULE_NONE)
            looked_at[looks] = fmax(looked_at[looks], time);
    }
    return at[s->end];
}

/* The latest time at which each point may be. The same graph backwards, with nothing saved. A
 * point from which no way leads to the end stays at infinity: its slack is not known. */
static double *schedule_latest(const struct schedule *s, struct arena *a)
{
    double *latest = ARENA_NEW(a, double, s->points_len + 1);
    const bool *is_needed = points_needed(s, a);
    const uint32_t *next_wait = points_next_wait(s, a);
    for (uint32_t i = 0; i < s->points_len; i++)
        latest[i] = INFINITY;
    latest[s->end] = (double)s->points[s->end].at_ns;
    for (uint32_t i = s->points_len; i-- > 0;) {
        uint32_t point = s->order[i], before = point_before(s, point);
        const struct schedule_point *p = &s->points[point];
        uint32_t looks = point_that_looks(s, point, is_needed, next_wait);
        if (looks != SCHEDULE_NONE)
            latest[point] = fmin(latest[point], latest[looks]);
        if (p->cause != SCHEDULE_NONE)
            latest[p->cause] = fmin(latest[p->cause],
                                    latest[point] - (double)(p->at_ns - s->points[p->cause].at_ns));
        if (before == SCHEDULE_NONE)
            continue;
        const struct schedule_point *b = &s->points[before];
        double takes =
            point_ends_with_cause(s, point) || b->is_retry ? 0 : (double)(p->at_ns - b->at_ns);
        latest[before] = fmin(latest[before], latest[point] - takes);
    }
    return latest;
}

/* --- the path -------------------------------------------------------------------------------- */

typedef VEC(struct schedule_step) step_list;

/* Puts a stretch in front of the path so far: into its first step, if that is of the same thread
 * and did not begin with a cause, and both are open for the same reason or neither is. `point`:
 * where the stretch begins; is_late: woken, not on a CPU yet. Steps are gathered backwards, so the
 * last of the list is the earliest so far. Of the waits of a step the longest one gives it its
 * call. */
static void path_put(struct schedule *s, struct schedule_path *p, step_list *steps, uint32_t point,
                     uint64_t from_ns, uint64_t to_ns, bool is_late)
{
    const struct schedule_point *at = &s->points[point];
    double ns = (double)(to_ns - from_ns);
    struct schedule_step *step = steps->len ? &steps->at[steps->len - 1] : NULL;
    bool is_open = !is_late && at->state == SCHEDULE_WAITS && schedule_is_open(at->ending);
    uint8_t open = is_open ? at->ending : SCHEDULE_BY_CAUSE;
    if (!step || step->thread != at->thread || step->why || step->open != open) {
        vec_push(steps, (struct schedule_step){.thread = at->thread,
                                               .open = open,
                                               .from_ns = to_ns,
                                               .to_ns = to_ns,
                                               .node = RECORDING_NONE});
        step = &steps->at[steps->len - 1];
    }
    step->from_ns = from_ns;
    if (is_late || at->state == SCHEDULE_READY) {
        step->ready_ns += ns;
    } else if (at->state == SCHEDULE_WAITS) {
        *(at->ending == SCHEDULE_BY_STOPPED ? &step->rest_ns : &step->waits_ns) += ns;
        if (at->node != RECORDING_NONE && !schedule_is_open(at->ending))
            p->node_ns[at->node] += ns;
        p->ended_ns[at->ending] += ns;
        if (to_ns - from_ns > step->longest_ns) {
            step->longest_ns = to_ns - from_ns;
            step->node = at->node;
        }
    } else {
        step->cpu_ns += at->cpu_ns;
        step->rest_ns += ns - at->cpu_ns;
        step->lack_ns += at->lack_ns;
        step->off_ns += at->off_ns;
        rows_each(s, at->thread, from_ns, to_ns, row_path, NULL);
    }
}

/* In which call a thread waited. */
static const char *path_call(const struct recording *r, uint32_t node)
{
    if (node == RECORDING_NONE || !node ||
        r->objects.at[r->nodes.at[node].object].kind != RECORDING_OBJECT_WAIT)
        return NULL;
    uint64_t address = r->nodes.at[node].address;
    if (address == RECORDING_WAIT_FAULT)
        return "page fault";
    if (address == RECORDING_WAIT_STOPPED)
        return "stopped";
    return address >= RECORDING_WAIT_READY ? NULL : arch_syscall_name(r->machine, address);
}

/* Sums of a path's steps, by thread and by node. Samples get the part of their slice that is on
 * the path. This is where functions on the path come from. */
static void path_sum(const struct schedule *s, struct schedule_path *p)
{
    for (size_t i = 0; i < p->len; i++) {
        const struct schedule_step *step = &p->steps[i];
        double *sums = step->open == SCHEDULE_BY_POLL      ? p->polled_ns
                       : step->open == SCHEDULE_BY_UNKNOWN ? p->unknown_ns
                       : step->open == SCHEDULE_BY_STOPPED ? p->stopped_ns
                                                           : p->on_path_ns;
        double lack_ns = fmin(step->lack_ns, fmax(0, step->rest_ns));
        double off_ns = fmin(step->off_ns, fmax(0, step->rest_ns - lack_ns));
        sums[step->thread] += (double)(step->to_ns - step->from_ns) - off_ns;
        p->unknown_ns[step->thread] += off_ns;
        p->ended_ns[SCHEDULE_BY_UNKNOWN] += off_ns;
        p->steps[i].waits_ns += off_ns;
        p->steps[i].ready_ns += lack_ns;
        p->steps[i].rest_ns -= lack_ns + off_ns;
        if (step->rest_ns < 0) { /* samples weigh more than the time that they are of, by chance */
            p->steps[i].cpu_ns = fmax(0, step->cpu_ns + step->rest_ns);
            p->steps[i].rest_ns = 0;
        }
        p->cpu_ns += step->cpu_ns;
        p->ready_ns += step->ready_ns;
        p->waits_ns += step->waits_ns;
        p->rest_ns += step->rest_ns;
    }
    for (uint32_t i = 0; i < s->recording->samples.len; i++) {
        const struct recording_sample *sample = &s->recording->samples.at[i];
        const struct schedule_row *row =
            s->row_of[i] == SCHEDULE_NONE ? NULL : &s->rows[s->row_of[i]];
        if (row)
            p->thread_cpu_ns[row->thread] += (double)sample->weight;
        if (row && row->room_ns > 0)
            p->node_ns[sample->node] += (double)sample->weight * row->path_ns / row->room_ns;
    }
}

/* Each turn of the loop goes to an earlier point, as `order` has it; the count is a guard
 * against files whose times go in circles. Steps that last no time, as those of forks in one
 * moment, are dropped. */
void schedule_find_path(struct schedule *s, struct schedule_path *p, struct arena *a)
{
    const struct recording *r = s->recording;
    step_list steps = {0};
    *p = (struct schedule_path){.on_path_ns = ARENA_NEW(a, double, r->threads.len + 1),
                                .polled_ns = ARENA_NEW(a, double, r->threads.len + 1),
                                .unknown_ns = ARENA_NEW(a, double, r->threads.len + 1),
                                .stopped_ns = ARENA_NEW(a, double, r->threads.len + 1),
                                .slack_ns = ARENA_NEW(a, double, r->threads.len + 1),
                                .thread_cpu_ns = ARENA_NEW(a, double, r->threads.len + 1),
                                .node_ns = ARENA_NEW(a, double, r->nodes.len + 1)};
    schedule_save(s, NULL);
    for (size_t i = 0; i < s->rows_len; i++)
        s->rows[i].path_ns = 0;
    uint32_t point = s->end;
    for (uint32_t n = 0; n <= s->points_len && point != SCHEDULE_NONE; n++) {
        const struct schedule_point *at = &s->points[point];
        uint32_t before = point_before(s, point);
        if (at->cause != SCHEDULE_NONE) {
            path_put(s, p, &steps, point, s->points[at->cause].at_ns, at->at_ns, true);
            steps.at[steps.len - 1].why = at->why;
            point = at->cause;
            continue;
        }
        if (before != SCHEDULE_NONE)
            path_put(s, p, &steps, before, s->points[before].at_ns, at->at_ns, false);
        point = before;
    }
    p->steps = ARENA_NEW(a, struct schedule_step, steps.len + 1);
    for (size_t i = 0; i < steps.len; i++)
        if (steps.at[steps.len - 1 - i].to_ns > steps.at[steps.len - 1 - i].from_ns)
            p->steps[p->len++] = steps.at[steps.len - 1 - i];
    for (size_t i = 0; i < p->len; i++)
        p->steps[i].call = path_call(r, p->steps[i].node);
    vec_free(&steps);
    struct arena scratch = {0};
    double *latest = schedule_latest(s, &scratch);
    for (size_t i = 0; i < r->threads.len; i++)
        p->slack_ns[i] = -1;
    for (uint32_t i = 0; i < s->points_len; i++) {
        uint32_t next = point_next(s, i), thread = s->points[i].thread;
        bool is_last = next == SCHEDULE_NONE || s->points[next].thread != thread;
        if (is_last && isfinite(latest[i])) /* of an entry: how much later it could have ended */
            p->slack_ns[thread] = fmax(0, latest[i] - (double)s->points[i].at_ns);
    }
    arena_deinit(&scratch);
    path_sum(s, p);
}
