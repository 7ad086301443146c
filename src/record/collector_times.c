/* When threads ran, waited and were made: what a recording knows beside its samples.
 *
 *   turns      how long each thread ran in each slice, and its part of the time in which any did
 *   parallel   how long exactly so many threads ran, by slice
 *   waits      each time off the CPU of some length, with where that was
 *   delays     how long woken threads had to wait for a CPU: they go into the samples
 *   pauses     when the recorder stopped a thread, which is no wait
 *   creators   who made each thread
 *
 * The first two stand in the tally as events of their own, beside those of samples, so that they
 * follow when slices get longer, and are taken out here. Waits are bounded by their number: when
 * there are too many, the shorter half goes, and so do all of that length from then on.
 *
 * A delay is known by amount, for a stretch of a thread's life; a wait has no more of it than its
 * length. Each wait that ended in the stretch is followed by one wake-up, so the amount is shared
 * out by the number of waits that ended in a row of samples, and moved from there to a row of the
 * same stack that ends in [ready to run]: sums of stacks and threads stay what they are. What finds
 * no wait is left out. Linear in samples and delays, but for a search of each delay's first row. */
#include "record/collector_private.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORTEST_WAIT_NS = 100 * 1000,
    MOST_WAITS = 1 << 17,
    MOST_DELAYS = 1 << 18,
    MOST_PAUSES = 1 << 20,          /* over an hour of them */
    LONGEST_PAUSE_NS = 5 * 1000000, /* on a busy machine */
    MOST_PARALLEL = 4096,           /* threads that run at a time */
};

void collector_creator(struct collector *c, pid_t tid, pid_t creator)
{
    const uint32_t *new = map_find(&c->thread_of, tid, 0);
    const uint32_t *old = map_find(&c->thread_of, creator, 0);
    if (new &&old &&*new != RECORDING_NONE &&*old != RECORDING_NONE &&*new != *old)
        vec_push(&c->creators, (struct recording_creator){*new, *old});
}

uint64_t collector_slice_ns(const struct collector *c)
{
    return c->tally.slice_ns;
}

void collector_turn(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                    uint64_t shared_ns)
{
    uint32_t thread = collector_thread(c, pid, tid, to_ns);
    uint64_t from = collector_since_start(c, from_ns), to = collector_since_start(c, to_ns);
    if (to <= from)
        return;
    struct recording_sample ran = {
        .thread = thread, .event = COLLECTOR_RAN_EVENT, .weight = to - from};
    struct recording_sample shared = {
        .thread = thread, .event = COLLECTOR_SHARED_EVENT, .weight = shared_ns};
    tally_add_over(&c->tally, from, to, &ran);
    tally_add_over(&c->tally, from, to, &shared);
}

void collector_parallel(struct collector *c, uint32_t threads, uint64_t at_ns, uint64_t ns)
{
    threads = threads < MOST_PARALLEL ? threads : MOST_PARALLEL;
    if (ns && threads && c->threads.len)
        tally_add_over(
            &c->tally, collector_since_start(c, at_ns), collector_since_start(c, at_ns),
            &(struct recording_sample){.event = COLLECTOR_PARALLEL_EVENT + threads, .weight = ns});
}

void collector_waited(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                      bool is_ready, const struct collector_place *place)
{
    if (!c->shortest_wait_ns)
        c->shortest_wait_ns = SHORTEST_WAIT_NS;
    if (to_ns < from_ns + c->shortest_wait_ns)
        return;
    uint32_t node = RECORDING_NONE, thread = collector_thread(c, pid, tid, to_ns);
    if (place)
        node = place->node;
    else if (is_ready)
        node = tally_node(&c->tally, RECORDING_ROOT, c->wait, RECORDING_WAIT_READY);
    /* Without what was waited while recording was switched off. */
    uint32_t process = c->threads.at[thread].process;
    for (uint64_t at = from_ns, until; at < to_ns; at = until) {
        until = collector_counts_until(c, process, at);
        until = until < to_ns ? until : to_ns;
        if (collector_counts(c, process, at) && until - at >= c->shortest_wait_ns)
            vec_push(&c->waits, (struct recording_wait){.thread = thread,
                                                        .node = node,
                                                        .from_ns = collector_since_start(c, at),
                                                        .length_ns = until - at});
    }
    while (c->waits.len >= MOST_WAITS) {
        size_t kept = 0;
        c->shortest_wait_ns *= 2;
        for (size_t i = 0; i < c->waits.len; i++)
            if (c->waits.at[i].length_ns >= c->shortest_wait_ns)
                c->waits.at[kept++] = c->waits.at[i];
        c->waits.len = kept;
    }
}

/* Of what was recorded in pieces, the last one ended so. */
void collector_woken(struct collector *c, uint64_t until_ns, const struct collector_wake *wake)
{
    struct recording_wait *w = c->waits.len ? &c->waits.at[c->waits.len - 1] : NULL;
    uint64_t at_ns = collector_since_start(c, wake->at_ns);
    if (!w || w->from_ns + w->length_ns != collector_since_start(c, until_ns) ||
        at_ns < w->from_ns || at_ns > w->from_ns + w->length_ns)
        return;
    const uint32_t *waker = wake->tid ? map_find(&c->thread_of, (uint32_t)wake->tid, 0) : NULL;
    bool is_known = waker && *waker != RECORDING_NONE && !wake->is_interrupt;
    w->woke_ns = at_ns - w->from_ns;
    w->waker = is_known ? *waker : 0;
    if (is_known)
        w->woken = wake->is_soft_interrupt ? RECORDING_WAKER_SOFT : RECORDING_WAKER_THREAD;
    else if (wake->is_interrupt || wake->is_soft_interrupt || !wake->tid)
        w->woken = RECORDING_WAKER_INTERRUPT;
    else
        w->woken = RECORDING_WAKER_OUTSIDE;
}

void collector_reports_wakes(struct collector *c)
{
    c->reports_wakes = true;
}

void collector_delayed(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                       uint64_t ns)
{
    uint32_t thread = collector_thread(c, pid, tid, to_ns);
    if (ns && c->delays.len < MOST_DELAYS)
        vec_push(&c->delays, (struct collected_delay){thread, collector_since_start(c, from_ns),
                                                      collector_since_start(c, to_ns), ns});
}

void collector_paused(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    uint32_t thread = collector_thread(c, pid, tid, at_ns);
    if (c->pauses.len < MOST_PAUSES)
        vec_push(&c->pauses, (struct collected_pause){thread, collector_since_start(c, at_ns)});
}

/* --- at the end ------------------------------------------------------------------------------ */

/* By slice and thread, as they come: the two events of a turn are adjacent. */
static void times_take_out(struct recording *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->samples.len; i++) {
        const struct recording_sample s = out->samples.at[i];
        struct recording_turn *last = out->turns.len ? &out->turns.at[out->turns.len - 1] : NULL;
        if (s.event < COLLECTOR_RAN_EVENT) {
            out->samples.at[kept++] = s;
        } else if (s.event >= COLLECTOR_PARALLEL_EVENT) {
            vec_push(&out->parallel, (struct recording_parallel){
                                         s.slice, s.event - COLLECTOR_PARALLEL_EVENT, s.weight});
        } else if (s.event == COLLECTOR_RAN_EVENT) {
            vec_push(&out->turns, (struct recording_turn){s.slice, s.thread, .ran_ns = s.weight});
        } else if (last && last->slice == s.slice && last->thread == s.thread) {
            last->shared_ns = s.weight;
        }
    }
    out->samples.len = kept;
}

/* Rows of samples in which a thread waited, by thread and slice. */
struct waited_rows {
    uint32_t *at;    /* rows */
    uint32_t *first; /* of each thread, and one more */
};

static bool times_is_wait(const struct collector *c, const struct recording_sample *s)
{
    const struct recording_node *n = &c->tally.nodes.at[s->node];
    return n->object == c->wait && n->address != RECORDING_WAIT_READY &&
           n->address != RECORDING_WAIT_STOPPED;
}

/* Two passes: how many each thread has, and which. Samples are in the order of slices. */
static struct waited_rows times_rows(const struct collector *c, const struct recording *out,
                                     struct arena *a)
{
    struct waited_rows rows = {.first = ARENA_NEW(a, uint32_t, c->threads.len + 2)};
    for (size_t i = 0; i < out->samples.len; i++)
        if (times_is_wait(c, &out->samples.at[i]))
            rows.first[out->samples.at[i].thread + 2]++;
    for (size_t i = 2; i < c->threads.len + 2; i++)
        rows.first[i] += rows.first[i - 1];
    rows.at = ARENA_NEW(a, uint32_t, rows.first[c->threads.len + 1]);
    for (size_t i = 0; i < out->samples.len; i++)
        if (times_is_wait(c, &out->samples.at[i]))
            rows.at[rows.first[out->samples.at[i].thread + 1]++] = (uint32_t)i;
    return rows;
}

/* Moves a part of a row's time to [ready to run] of the same stack; returns how much it was. */
static uint64_t times_move(struct collector *c, struct recording *out, uint32_t row, uint64_t ns)
{
    struct recording_sample *s = &out->samples.at[row], moved = *s;
    ns = ns < s->weight ? ns : s->weight;
    if (!ns)
        return 0;
    s->weight -= ns;
    moved.node =
        tally_node(&c->tally, c->tally.nodes.at[s->node].parent, c->wait, RECORDING_WAIT_READY);
    moved.weight = ns;
    moved.count = 0;
    vec_push(&out->samples, moved); /* which may move the list */
    return ns;
}

/* Shares a delay out over the rows of its stretch: by the number of waits that ended in them, and
 * what finds no room there by their order, from the last one on. */
static void times_delay(struct collector *c, struct recording *out, const struct waited_rows *rows,
                        const struct collected_delay *d)
{
    const uint32_t *at = rows->at + rows->first[d->thread];
    size_t len = rows->first[d->thread + 1] - rows->first[d->thread];
    uint64_t from = d->from_ns / out->slice_ns, to = d->to_ns / out->slice_ns, ends = 0;
    size_t begin = PARTITION_POINT(len, k, out->samples.at[at[k]].slice < from), end = begin;
    for (; end < len && out->samples.at[at[end]].slice <= to; end++)
        ends += out->samples.at[at[end]].count;
    uint64_t left = d->ns, passed = 0, given = 0;
    for (size_t i = begin; i < end && ends; i++) {
        passed += out->samples.at[at[i]].count;
        uint64_t so_far = (uint64_t)((double)d->ns * (double)passed / (double)ends);
        left -= times_move(c, out, at[i], so_far - given);
        given = so_far;
    }
    for (size_t i = end; i-- > begin && left;)
        left -= times_move(c, out, at[i], left);
}

static int times_by_thread(const void *left, const void *right)
{
    const struct recording_wait *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    return l->from_ns < r->from_ns ? -1 : l->from_ns > r->from_ns;
}

static int times_pauses(const void *left, const void *right)
{
    const struct collected_pause *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    return l->at_ns < r->at_ns ? -1 : l->at_ns > r->at_ns;
}

/* Whether the recorder stopped the thread in a wait of which nothing else is known. */
static bool times_is_pause(const struct collector *c, const struct recording_wait *w)
{
    const struct collected_pause *at = c->pauses.at;
    if (w->node != RECORDING_NONE || w->length_ns > LONGEST_PAUSE_NS)
        return false;
    size_t k = PARTITION_POINT(c->pauses.len, i,
                               at[i].thread < w->thread ||
                                   (at[i].thread == w->thread && at[i].at_ns < w->from_ns));
    return k < c->pauses.len && at[k].thread == w->thread &&
           at[k].at_ns <= w->from_ns + w->length_ns;
}

static int times_by_new(const void *left, const void *right)
{
    const struct recording_creator *l = left, *r = right;
    return l->thread < r->thread ? -1 : l->thread > r->thread;
}

void collector_times_finish(struct collector *c, struct recording *out)
{
    struct arena scratch = {0};
    times_take_out(out);
    if (c->delays.len) {
        struct waited_rows rows = times_rows(c, out, &scratch);
        for (size_t i = 0; i < c->delays.len; i++)
            times_delay(c, out, &rows, &c->delays.at[i]);
        tally_sum_up(out, false);
        for (size_t i = out->nodes.len; i < c->tally.nodes.len; i++)
            vec_push(&out->nodes, c->tally.nodes.at[i]);
    }
    out->reports_wakes = c->reports_wakes;
    if (c->pauses.len)
        qsort(c->pauses.at, c->pauses.len, sizeof *c->pauses.at, times_pauses);
    for (size_t i = 0; i < c->waits.len; i++)
        if (!times_is_pause(c, &c->waits.at[i]))
            vec_push(&out->waits, c->waits.at[i]);
    if (out->waits.len)
        qsort(out->waits.at, out->waits.len, sizeof *out->waits.at, times_by_thread);
    vec_copy(&out->creators, &c->creators);
    if (out->creators.len)
        qsort(out->creators.at, out->creators.len, sizeof *out->creators.at, times_by_new);
    size_t kept = 0;
    for (size_t i = 0; i < out->creators.len; i++)
        if (!kept || out->creators.at[kept - 1].thread != out->creators.at[i].thread)
            out->creators.at[kept++] = out->creators.at[i];
    out->creators.len = kept;
    arena_deinit(&scratch);
}
