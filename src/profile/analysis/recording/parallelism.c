/* Parallelism from switches, or from the slices of time of samples.
 *
 * Where the recorder saw switches (`--off-cpu`), turns and times at each parallelism are exact, and
 * are only looked up here.
 *
 * Else a slice says how much CPU time each thread's samples have in it, and that is all:
 *
 *   1. A sample stands for the time before it. What a slice has beyond its length (or beyond the
 *      thread's life in it) ran in the slice before: it is carried there, the last slice first.
 *   2. Within a slice, starts and ends of threads, which are exact, bound stretches in which the
 *      same threads lived. In a stretch each thread runs for a fraction d of the time.
 *   3. Threads are taken to run independently of each other. Then a thread's part is
 *      d * E[1 / (1 + others)], and E[1 / (1 + N)] for a sum N of independent 0s and 1s is the
 *      integral over x from 0 to 1 of the product of (1 - d + d x): three times eight points of
 *      Gauss and Legendre's have it exact up to sixteen threads, and to a thousandth up to some
 *      hundred.
 *   4. With more threads than CPUs they compete, and are not independent: then as few run at a time
 *      as have the same sum.
 *
 * Threads that run all the time, and threads that do not overlap, come out right; threads that hand
 * work to each other within a slice seem to overlap a little. Cost: linear in samples, times 24;
 * distributions of numbers are cut at MOST threads. */
#include "profile/analysis/recording/parallelism.h"

#include "base/err.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256, POINTS = 8 };

/* Gauss-Legendre on [0, 1]: Abramowitz and Stegun, table 25.4, n = 8, moved from [-1, 1]. */
static const double POINT[POINTS] = {
    0.019855071751231884, 0.101666761293186630, 0.237233795041835507, 0.408282678752175098,
    0.591717321247824902, 0.762766204958164493, 0.898333238706813370, 0.980144928248768116};
static const double WEIGHT[POINTS] = {
    0.050614268145188130, 0.111190517226687235, 0.156853322938943644, 0.181341891689180991,
    0.181341891689180991, 0.156853322938943644, 0.111190517226687235, 0.050614268145188130};

/* Panels of the integral: the more threads, the more of it lies close to 1. */
static const double PANEL[] = {0, 0.6, 0.9, 1};
enum { PANELS = 3, NODES = PANELS * POINTS };

/* The n-th of NODES places at which the product is taken: eight in each panel. */
static double integral_point(int i)
{
    double from = PANEL[i / POINTS], to = PANEL[i / POINTS + 1];
    return from + (to - from) * POINT[i % POINTS];
}

static double integral_weight(int i)
{
    return (PANEL[i / POINTS + 1] - PANEL[i / POINTS]) * WEIGHT[i % POINTS];
}

/* --- from samples ---------------------------------------------------------------------------- */

/* A turn that is being estimated: where in its slice the thread lived. `density` is the part of
 * its life in the slice for which it ran, 0 to 1. `shared` is the result: ns of CPU time, each
 * divided by how many ran at that moment. */
struct estimated_turn {
    uint64_t from_ns, to_ns; /* of the slice */
    double density, shared;
};

/* When a thread of the run lived: threads of a program that has executed another end then. */
static uint64_t turn_end_of(const struct recording *r, uint32_t thread)
{
    const struct recording_thread *t = &r->threads.at[thread];
    uint64_t end = t->end_ns ? t->end_ns : r->processes.at[t->process].end_ns;
    return end > t->start_ns ? end : UINT64_MAX;
}

/* Slice first: the turns of one slice, which share it, must be neighbours. */
static int turns_by_place(const void *left, const void *right)
{
    const struct recording_turn *l = left, *r = right;
    if (l->slice != r->slice)
        return l->slice < r->slice ? -1 : 1;
    return l->thread < r->thread ? -1 : l->thread > r->thread;
}

/* CPU time by slice and thread, as the samples have it. Samples of a thread in a slice mostly
 * follow each other, so most are summed up before the sort; the rest after it. */
static struct recording_turn *turns_of_samples(const struct recording *r, uint32_t event,
                                               size_t *len, struct arena *a)
{
    struct recording_turn *turns = ARENA_NEW(a, struct recording_turn, r->samples.len);
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (s->event != event || recording_is_wait(r, s->node))
            continue;
        bool is_same =
            all && turns[all - 1].slice == s->slice && turns[all - 1].thread == s->thread;
        if (!is_same)
            turns[all++] = (struct recording_turn){.slice = s->slice, .thread = s->thread};
        turns[all - 1].ran_ns += s->weight;
    }
    qsort(turns, all, sizeof *turns, turns_by_place);
    for (size_t i = 0; i < all; i++)
        if (kept && !turns_by_place(&turns[kept - 1], &turns[i]))
            turns[kept - 1].ran_ns += turns[i].ran_ns;
        else
            turns[kept++] = turns[i];
    *len = kept;
    return turns;
}

/* Carries what a turn has too much into the slice before: it may get a turn by that. Short of
 * its first turn, what is left over is dropped: it was rounded up there. Example: slices of 10
 * ms and a sample that stands for 25 ms in slice 7. Slice 7 keeps 10, slice 6 gets 10 and slice
 * 5 gets 5, if the thread has a turn before these. So many slices are filled, and no more: two
 * samples of a thread may claim a million slices between them. */
static struct recording_turn *turns_carried(const struct recording *r,
                                            const struct recording_turn *turns, size_t *len,
                                            struct arena *a)
{
    uint64_t *carry = ARENA_NEW(a, uint64_t, r->threads.len + 1);
    uint32_t *next = ARENA_NEW(a, uint32_t, r->threads.len + 1); /* slice of the later turn + 1 */
    enum { ALWAYS_FILLED = 1 << 20, FILLED_A_TURN = 16 };
    VEC(struct recording_turn) out = {0};
    size_t left = ALWAYS_FILLED + FILLED_A_TURN * *len;
    for (size_t i = *len; i-- > 0;) {
        struct recording_turn t = turns[i];
        uint64_t start = r->threads.at[t.thread].start_ns, end = turn_end_of(r, t.thread);
        /* Slices between this turn and the later one, filled from the end. */
        for (uint32_t slice = next[t.thread] ? next[t.thread] - 1 : t.slice;
             carry[t.thread] && left && slice-- > t.slice + 1; left--) {
            uint64_t ran = carry[t.thread] < r->slice_ns ? carry[t.thread] : r->slice_ns;
            vec_push(&out, (struct recording_turn){slice, t.thread, ran, 0});
            carry[t.thread] -= ran;
        }
        uint64_t low = r->slice_ns * t.slice, high = low + r->slice_ns;
        uint64_t from = start > low && start < high ? start : low;
        uint64_t to = end > low && end < high ? end : high, have = t.ran_ns + carry[t.thread];
        uint64_t room = to > from ? to - from : 1;
        t.ran_ns = have < room ? have : room;
        carry[t.thread] = have - t.ran_ns;
        next[t.thread] = t.slice + 1;
        vec_push(&out, t);
    }
    struct recording_turn *kept = ARENA_NEW(a, struct recording_turn, out.len + 1);
    if (out.len) {
        memcpy(kept, out.at, out.len * sizeof *kept);
        qsort(kept, out.len, sizeof *kept, turns_by_place);
    }
    *len = out.len;
    vec_free(&out);
    return kept;
}

/* A stretch in which `k` threads live, each with a density, into parts of time and numbers.
 * `numbers[n]` grows by the time in which n threads ran, and the whole of `ns` is handed out in
 * each case. With k threads of density 1 each gets ns / k. The chances of n threads are the
 * usual convolution, one thread after the other, from above so that each is used once. */
static void stretch_share(struct estimated_turn **alive, size_t k, double ns, uint32_t cpus,
                          double *numbers)
{
    double sum = 0, product[NODES];
    for (size_t i = 0; i < k; i++)
        sum += alive[i]->density;
    if (!k || !(ns > 0)) {
        numbers[0] += ns > 0 ? ns : 0;
        return;
    }
    if (cpus && k > cpus) { /* they compete */
        double low = floor(sum), part = sum - low, busy = low >= 1 ? 1 : part;
        uint32_t at = low < MOST - 1 ? (uint32_t)low : MOST - 1;
        for (size_t i = 0; i < k && sum > 0; i++)
            alive[i]->shared += ns * alive[i]->density * busy / sum;
        numbers[at] += ns * (1 - part);
        numbers[at + 1] += ns * part;
        return;
    }
    for (int p = 0; p < NODES; p++) {
        product[p] = 1;
        for (size_t i = 0; i < k; i++)
            product[p] *= 1 - alive[i]->density * (1 - integral_point(p));
    }
    for (size_t i = 0; i < k; i++) {
        double mean = 0; /* E[1 / (1 + others)] */
        for (int p = 0; p < NODES; p++)
            mean +=
                integral_weight(p) * product[p] / (1 - alive[i]->density * (1 - integral_point(p)));
        alive[i]->shared += ns * alive[i]->density * mean;
    }
    double chance[MOST + 1] = {1};
    size_t most = k < MOST ? k : MOST;
    for (size_t i = 0; i < k; i++)
        for (size_t n = (i + 1 < most ? i + 1 : most) + 1; n-- > 0;)
            chance[n] =
                chance[n] * (1 - alive[i]->density) + (n ? chance[n - 1] * alive[i]->density : 0);
    for (size_t n = 0; n <= most; n++)
        numbers[n] += ns * chance[n];
}

static int moments_in_order(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return l < r ? -1 : l > r;
}

static int turns_by_start(const void *left, const void *right)
{
    const struct estimated_turn *l = *(struct estimated_turn *const *)left;
    const struct estimated_turn *r = *(struct estimated_turn *const *)right;
    if (l->from_ns != r->from_ns)
        return l->from_ns < r->from_ns ? -1 : 1;
    return l < r ? -1 : l > r;
}

/* The turns of one slice: its stretches lie between the starts and ends of threads. Only live ones
 * are inspected in each, as a slice may have thousands of short threads one after the other.
 */
static void slice_share(const struct recording *r, struct recording_turn *turns, size_t len,
                        double *numbers, struct arena *a)
{
    struct estimated_turn *all = ARENA_NEW(a, struct estimated_turn, len);
    struct estimated_turn **alive = ARENA_NEW(a, struct estimated_turn *, len);
    struct estimated_turn **sorted = ARENA_NEW(a, struct estimated_turn *, len);
    uint64_t *moments = ARENA_NEW(a, uint64_t, 2 * len + 2);
    uint64_t low = r->slice_ns * turns[0].slice, high = low + r->slice_ns;
    size_t moments_len = 2, next = 0, k = 0;
    moments[0] = low;
    moments[1] = high < r->length_ns || low >= r->length_ns ? high : r->length_ns;
    for (size_t i = 0; i < len; i++) {
        uint64_t start = r->threads.at[turns[i].thread].start_ns;
        uint64_t end = turn_end_of(r, turns[i].thread);
        all[i].from_ns = start > low && start < high ? start : low;
        all[i].to_ns = end > all[i].from_ns && end < high ? end : high;
        all[i].density = fmin(1, (double)turns[i].ran_ns / (double)(all[i].to_ns - all[i].from_ns));
        sorted[i] = &all[i];
        if (all[i].from_ns > low)
            moments[moments_len++] = all[i].from_ns;
        if (all[i].to_ns < high)
            moments[moments_len++] = all[i].to_ns;
    }
    qsort(moments, moments_len, sizeof *moments, moments_in_order);
    qsort(sorted, len, sizeof *sorted, turns_by_start);
    for (size_t m = 0; m + 1 < moments_len; m++) {
        size_t kept = 0;
        for (; next < len && sorted[next]->from_ns <= moments[m]; next++)
            alive[k++] = sorted[next];
        for (size_t i = 0; i < k; i++)
            if (alive[i]->to_ns >= moments[m + 1])
                alive[kept++] = alive[i];
        k = kept;
        stretch_share(alive, k, (double)(moments[m + 1] - moments[m]), r->cpus, numbers);
    }
    for (size_t i = 0; i < len; i++)
        turns[i].shared_ns = (uint64_t)(all[i].shared + 0.5);
}

/* Whether a slice is within the chosen times. By its middle, as a slice is not divided. No
 * window at all means all of the time. */
static bool slice_is_chosen(const struct recording *r, const struct recording_choice *c,
                            uint32_t slice)
{
    uint64_t middle = r->slice_ns * slice + r->slice_ns / 2;
    for (size_t i = 0; c && i < c->windows_len; i++)
        if (middle >= c->windows[i].from_ns && middle < c->windows[i].to_ns)
            return true;
    return !c || !c->windows_len;
}

static int windows_in_order(const void *left, const void *right)
{
    const struct recording_window *l = left, *r = right;
    return l->from_ns < r->from_ns ? -1 : l->from_ns > r->from_ns;
}

/* The first slice whose middle is not before a moment. */
static uint64_t slice_from(const struct recording *r, uint64_t at_ns)
{
    uint64_t half = r->slice_ns / 2;
    return at_ns > half ? (at_ns - half - 1) / r->slice_ns + 1 : 0;
}

/* The length of all chosen slices, each once where windows overlap. Counted, and not walked over:
 * a file may claim any number of slices. */
static double slices_chosen_ns(const struct recording *r, const struct recording_choice *c)
{
    struct arena scratch = {0};
    double sum = 0;
    if (!r->slice_ns || !r->length_ns || !c || !c->windows_len)
        return r->slice_ns ? (double)r->length_ns : 0;
    struct recording_window *sorted = ARENA_NEW(&scratch, struct recording_window, c->windows_len);
    memcpy(sorted, c->windows, c->windows_len * sizeof *sorted);
    qsort(sorted, c->windows_len, sizeof *sorted, windows_in_order);
    uint64_t slices = (r->length_ns - 1) / r->slice_ns + 1, next = 0;
    for (size_t i = 0; i < c->windows_len; i++) {
        uint64_t first = slice_from(r, sorted[i].from_ns), end = slice_from(r, sorted[i].to_ns);
        first = first > next ? first : next;
        end = end < slices ? end : slices;
        if (end <= first)
            continue;
        /* The last slice of all ends with the recording. */
        sum += (double)(end < slices ? end * r->slice_ns : r->length_ns) -
               (double)(first * r->slice_ns);
        next = end;
    }
    arena_deinit(&scratch);
    return sum;
}

/* `numbers`: NULL, or MOST + 2 sums that get how long so many ran in chosen slices that have a
 * turn. */
static struct recording_turn *turns_estimate(const struct recording *r, uint32_t event,
                                             const struct recording_choice *c, double *numbers,
                                             size_t *len, struct arena *a)
{
    struct arena scratch = {0};
    double ignored[MOST + 2];
    struct recording_turn *turns = turns_of_samples(r, event, len, &scratch);
    turns = turns_carried(r, turns, len, a);
    for (size_t i = 0, end; i < *len; i = end) {
        for (end = i; end < *len && turns[end].slice == turns[i].slice; end++)
            continue;
        bool is_chosen = numbers && slice_is_chosen(r, c, turns[i].slice);
        slice_share(r, &turns[i], end - i, is_chosen ? numbers : ignored, &scratch);
    }
    arena_deinit(&scratch);
    return turns;
}

/* --- of both --------------------------------------------------------------------------------- */

/* What a thread ran in each slice, by slice and thread: as it was measured, or as samples of
 * `event` let it seem. */
static struct recording_turn *parallelism_turns(const struct recording *r, uint32_t event,
                                                size_t *len, struct arena *a)
{
    if (!r->turns.len)
        return turns_estimate(r, event, NULL, NULL, len, a);
    *len = r->turns.len;
    return r->turns.at;
}

/* The chosen event's place among those of the file: added ones follow. Copies of that event have
 * the same samples, so either gives the same answer. */
static uint32_t parallelism_base(const struct recording *r)
{
    for (uint32_t i = 0; i < r->events.len; i++)
        if (!strcmp(r->events.at[i].name, PARALLELISM_CPU_EVENT))
            return i;
    return 0;
}

/* Time in which no thread ran is the rest of the chosen time: no slice without a turn has it. More
 * than MOST threads at a time are counted as MOST. */
void parallelism_measure(struct parallelism *p, const struct recording *r,
                         const struct recording_choice *c, struct arena *a)
{
    double *numbers = ARENA_NEW(a, double, MOST + 2);
    *p = (struct parallelism){.ns = numbers, .is_measured = r->turns.len > 0};
    if (!p->is_measured) {
        size_t len;
        struct arena scratch = {0};
        turns_estimate(r, parallelism_base(r), c, numbers, &len, &scratch);
        arena_deinit(&scratch);
    }
    for (size_t i = 0; i < r->parallel.len && p->is_measured; i++) {
        const struct recording_parallel *one = &r->parallel.at[i];
        if (slice_is_chosen(r, c, one->slice))
            numbers[one->threads < MOST ? one->threads : MOST] += (double)one->ns;
    }
    for (uint32_t n = 1; n < MOST + 2; n++) {
        p->busy_ns += numbers[n];
        p->cpu_ns += n * numbers[n];
        p->len = numbers[n] > 0 ? n + 1 : p->len;
    }
    numbers[0] = fmax(0, slices_chosen_ns(r, c) - p->busy_ns);
    p->len = p->len ? p->len : 1;
}

/* Samples of a slice without a turn, as of threads that were reported late, get what the thread had
 * last. Each sample is there twice afterwards, with its CPU time and with its latency: the
 * original event stays as it is. Samples and turns are both by slice, and are merged in one
 * pass. */
static void parallelism_weigh(struct recording *r, uint32_t base, uint32_t cpu, uint32_t latency)
{
    struct arena scratch = {0};
    size_t len, turn = 0, samples = r->samples.len;
    const struct recording_turn *turns = parallelism_turns(r, base, &len, &scratch);
    double *last = ARENA_NEW(&scratch, double, r->threads.len + 1);
    for (size_t i = 0; i < r->threads.len; i++)
        last[i] = 1;
    VEC(struct recording_sample) sorted = {0};
    for (size_t i = 0; i < samples; i++)
        if (r->samples.at[i].event == base && !recording_is_wait(r, r->samples.at[i].node))
            vec_push(&sorted, r->samples.at[i]);
    for (size_t i = 0; i < sorted.len; i++) {
        struct recording_sample s = sorted.at[i];
        for (; turn < len && turns[turn].slice <= s.slice; turn++)
            if (turns[turn].ran_ns)
                last[turns[turn].thread] =
                    fmin(1, (double)turns[turn].shared_ns / (double)turns[turn].ran_ns);
        s.event = cpu;
        vec_push(&r->samples, s);
        s.event = latency;
        s.weight = (uint64_t)((double)s.weight * last[s.thread] + 0.5);
        vec_push(&r->samples, s);
    }
    vec_free(&sorted);
    arena_deinit(&scratch);
}

/* Two events are added at the end, so that numbers of those in the file stay valid. */
bool parallelism_add_event(struct recording *r, const char *event, struct err *e)
{
    uint32_t base = recording_find_event(r, event);
    if (base == RECORDING_NONE)
        return err_set(e, "--latency: the event '%s' was not recorded", event ? event : "cpu");
    if (r->events.at[base].unit != RECORDING_UNIT_NS)
        return err_set(e, "--latency needs samples of time, and '%s' counts events",
                       r->events.at[base].name);
    struct recording_event added = r->events.at[base];
    uint32_t cpu = (uint32_t)r->events.len;
    added.name = PARALLELISM_CPU_EVENT;
    vec_push(&r->events, added);
    added.name = PARALLELISM_EVENT;
    vec_push(&r->events, added);
    parallelism_weigh(r, base, cpu, cpu + 1);
    return true;
}
