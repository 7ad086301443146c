/* Self and inclusive times as stacks have them, and the calls between functions on them.
 *
 * The tree of stacks is walked once. A function's inclusive time is booked at its outermost frame,
 * so that recursion counts once; so is a pair's, however often one function calls the other on a
 * stack:
 *
 *     main -> f -> g -> f -> h     5 samples, all in h
 *
 *     inclusive: main 5, f 5, g 5, h 5     self: h 5     calls: main-f 5, f-g 5, g-f 5, f-h 5
 *
 * For that, the walk counts for each function and each pair how many frames of it are on the way
 * from the root. What holds: the self times and `unplaced` add up to the samples of the root.
 *
 * The file decides how deep the tree is, so the walk does not recurse. The nodes are put in the
 * order of the walk first, which takes their numbers alone: by the sizes of their subtrees each
 * knows where it stands in that order, and where the last of those below it does. Then all that is
 * kept of frames is on the stack of those on the way from the root.
 *
 *     nodes   1 main  2 f  3 g  4 f (of main)  5 h (of 3)      sizes  5 3 2 1 1
 *     order   1 main  2 f  3 g  5 h  4 f                       ends   5 4 4 5 4
 *
 * Cost: linear in frames; booking the hits of a recursive function goes up the stack again.
 * Memory: three numbers for each node. */
#include "profile/analysis/recording/stacks.h"

#include "base/map.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/analysis/compare/significance.h"

#include <math.h>

/* ---- How sure the times of a run's functions are: the standard error that sampling alone leaves.
 *
 * A thread's samples divide its time into stretches, and each stands for one. What a sample says is
 * uncertain only as far as the code around it could have been other code: if all neighbours in time
 * hit the same function, another draw of the clock would have hit it as well. So this is a
 * stratified sample of a thread's time (Cochran, Sampling Techniques, 1977, chapter 5): with strata
 * of n samples of weights w, of which those in the function have the share p,
 *
 *     var(sum of w x) = sum over strata of f * sum of w^2 (x - p)^2
 *
 * where f is n/(n - 1) for equal weights, and more for others (stratum_factor()).
 *
 * A stratum is as many slices of the run's time as it takes to have LEAST samples of one thread.
 * Threads with fewer samples share strata with others of their kind from the same time. Where code
 * alternates within strata, this is the binomial variance of the actual weights. Where phases last
 * longer it is too much, and there are two ways to see how much less is true. The least counts.
 *
 * By order. Sampling leaves open when the function began and ended: the sample after a change
 * stands for the time since the one before, so it counts as much too much as has passed since the
 * change (or too little, if the function ended). That is the age of a renewal process, of which the
 * variance is (Cox, Renewal Theory, 1962, 5.2)
 *
 *     A = E(w^3) / 3 E(w) - (E(w^2) / 2 E(w))^2
 *
 * Of n samples in order, let d1 be the number that the function has and whose predecessor is not
 * its own, and d2 the same of the one before the predecessor. Then
 *
 *     E(w^2) (d1 + c (d1 - d2)),    c = 1 - 2 A / E(w^2)
 *
 * extrapolates the variogram, d1 and d2 over n, from one and two samples apart to that distance at
 * which it is the variance. It is A for each change if all phases are longer than two samples,
 * binomial if samples are independent, and too much, never too little, for random phases: their
 * variogram is concave.
 *
 *     samples    f f f g g g g f f f f g g     d1 = 2, d2 = 4: 2 E(w^2) (1 - c) = 4 A
 *
 * Long slices have the order of a part of their samples alone, at random. What d1 and d2 are in
 * these parts, and how many of the function's samples have a predecessor there, says what they are
 * of all its samples; by so much more as few changes may be fewer than usual.
 *
 * By batches. Samples that come at nearly even distances share out a rhythm of a few of them more
 * evenly than their order shows. How evenly shows in the function's part of longer stretches of
 * time, as it scatters (batch means: Law, Simulation Modeling and Analysis, 2015, 9.5.3):
 *
 *     n / (n - 1) * sum over n batches of (function's weight - p * all weight)^2
 *
 * which is too large where phases last as long as batches. Both ways want clocks whose periods are
 * drawn all the time. A function that was hit gets the variance of one sample more: where it begins
 * and ends may lie between samples, unseen by these rules.
 *
 * What has an exact length (waits) is no sample: its error is none. But a wait that was not
 * inspected may have been in any function that waited at other times, and be what that waited in:
 * that much more these may be, the function with what it called. Cost: each sample's depth. */

enum { LEAST = 4, BATCH_STRATA = 6, MOST_PLACES = 64 };

/* Samples of one stack in one slice of one thread. */
struct row {
    uint32_t node;
    uint32_t count;
    double weight, squares, cubes; /* in samples: sums of weights, their squares, their cubes */
};

struct function_hits {
    double weight, squares; /* in the stratum */
    uint32_t stratum;       /* + 1 */
    uint32_t row;           /* + 1: recursion counts once */
};

/* A slice of a thread whose periods are drawn all the time. One without samples is between threads.
 */
struct slice {
    uint64_t start;  /* number of its first sample */
    uint32_t len;    /* samples */
    bool is_ordered; /* the place of each of its samples is known */
    double square;   /* mean of the squares of the thread's weights */
};

/* Which samples of a slice a function has. */
struct slice_hits {
    uint32_t slice; /* + 1 */
    uint32_t count;
    uint64_t places; /* of an ordered slice: a bit for each */
};

/* A function's samples in order. What follows a slice says how those in it are placed, so two
 * slices are kept until the next one begins. */
struct function_order {
    struct slice_hits newer, older;
    struct slice_hits before; /* the one before `older` */
    uint64_t end;             /* number of the sample after those reported */
    double last, second; /* whether the last one of these was the function's, and that before */
    double variance;
    double pairs[2], changes[2]; /* of windows, at one and two samples' distance: d1 and d2 */
};

/* A function's part of some strata that follow each other, and sums over all of these. */
struct function_batch {
    double weight;          /* in the batch */
    double squares, by_all; /* of the batches before: weight^2, weight * all */
    uint32_t batch;         /* + 1 */
};

/* Of all samples. */
struct batches {
    double *all; /* per batch: weight of all that is in it */
    uint32_t len, strata;
    uint64_t thread;
    /* By batches_sum(): */
    double sum, squares; /* of `all` */
    double student;      /* quantile of as many */
};

/* Hits of functions by the rows of one stratum: of those that were hit, or of all on the stack. */
struct hits {
    struct function_hits *of; /* per function */
    uint32_t *touched, len;
    double *variance; /* per function, of all strata */
    double *drawn;    /* of that, those of threads whose periods are drawn all the time */
    double *one;      /* the variance of one sample of each function */
    struct function_batch *batch; /* per function */
    struct function_order *order; /* per function */
    double *weight;               /* per function, in all */
};

/* Nothing was hit yet; the variances outlive the scratch. */
static void hits_init(struct hits *h, uint32_t functions, struct arena *a, struct arena *scratch)
{
    *h = (struct hits){.of = ARENA_NEW(scratch, struct function_hits, functions),
                       .touched = ARENA_NEW(scratch, uint32_t, functions),
                       .variance = ARENA_NEW(a, double, functions),
                       .drawn = ARENA_NEW(scratch, double, functions),
                       .one = ARENA_NEW(scratch, double, functions),
                       .batch = ARENA_NEW(scratch, struct function_batch, functions),
                       .order = ARENA_NEW(scratch, struct function_order, functions),
                       .weight = ARENA_NEW(scratch, double, functions)};
}

/* Adds what a function has in the last batch; a batch without it leaves nothing to add. */
static void batch_end(struct function_batch *f, const struct batches *b)
{
    if (f->batch) {
        f->squares += f->weight * f->weight;
        f->by_all += f->weight * b->all[f->batch - 1];
    }
    f->weight = 0;
}

static void batch_add(struct function_batch *f, const struct batches *b, double weight)
{
    if (f->batch != b->len) {
        batch_end(f, b);
        f->batch = b->len;
    }
    f->weight += weight;
}

static void batches_sum(struct batches *b)
{
    for (uint32_t i = 0; i < b->len; i++) {
        b->sum += b->all[i];
        b->squares += b->all[i] * b->all[i];
    }
    b->student = b->len > 1 ? student_quantile(0.025, b->len - 1) : 0;
}

/* Of a function's time by its part of all batches. Few of them know their own scatter badly. */
static double batches_variance(const struct batches *b, struct function_batch *f, double weight)
{
    enum { FEWEST = 20 };
    const double normal = 1.959963984540054;
    double n = b->len;
    if (b->len < FEWEST)
        return INFINITY;
    batch_end(f, b);
    double p = weight / b->sum, t = b->student / normal;
    return fmax(0, f->squares - 2 * p * f->by_all + p * p * b->squares) * n / (n - 1) * t * t;
}

/* --- order ----------------------------------------------------------------------------------- */

/* The slices of all threads that have an order, and what pairs of their samples count. */
struct order {
    struct slice *slices;
    uint32_t len;
    double extrapolated;    /* c */
    double square;          /* E(w^2) of all threads */
    const bool *is_ordered; /* per sample of the recording */
    bool has_windows;       /* slices are long: those above are parts of them */
};

/* Of a function's samples in a slice: how many follow one of its own, and how many the one before
 * that; whether the first two and the last two are its own. Where that is not known: how likely. */
struct placed {
    double after_one, after_two;
    double head[2], tail[2];
};

/* A slice that is the function's throughout, or not at all, and long enough to say so. */
static bool slice_is_pure(const struct order *o, uint32_t slice, const struct slice_hits *hits,
                          bool is_its_own)
{
    enum { ENOUGH = 2 };
    uint32_t len = slice < o->len ? o->slices[slice].len : 0;
    return len >= ENOUGH && (hits->slice == slice + 1 ? hits->count : 0) == (is_its_own ? len : 0);
}

/* Where the order within a slice is not known, but those around it show one change, that is all
 * that happened: else it is a matter of chance. */
static struct placed order_place(const struct order *o, const struct slice_hits *before,
                                 const struct slice_hits *hits, const struct slice_hits *behind)
{
    uint32_t at = hits->slice - 1, len = o->slices[at].len;
    double n = len, k = hits->count;
    uint64_t places = hits->places;
    bool begins =
        at && slice_is_pure(o, at - 1, before, false) && slice_is_pure(o, at + 1, behind, true);
    bool ends =
        at && slice_is_pure(o, at - 1, before, true) && slice_is_pure(o, at + 1, behind, false);
    if (k >= n)
        return (struct placed){n - 1, fmax(n - 2, 0), {1, 1}, {1, 1}};
    if (o->slices[at].is_ordered)
        return (struct placed){__builtin_popcountll(places & places >> 1),
                               __builtin_popcountll(places & places >> 2),
                               {places & 1, places >> 1 & 1},
                               {places >> (len - 1) & 1, len > 1 ? places >> (len - 2) & 1 : 0}};
    if (begins || ends) {
        double two = k >= 2, but_one = k + 1 >= n;
        return begins ? (struct placed){k - 1, fmax(k - 2, 0), {0, but_one}, {1, two}}
                      : (struct placed){k - 1, fmax(k - 2, 0), {1, two}, {0, but_one}};
    }
    double pairs = k * (k - 1) / n, p = k / n;
    return (struct placed){pairs, pairs * (n - 2) / (n - 1), {p, p}, {p, p}};
}

/* Adds the older slice of the two, which is followed by the newer one or by one without the
 * function. */
static void order_tell_older(const struct order *o, struct function_order *f)
{
    const struct slice_hits *hits = &f->older;
    if (hits->slice) {
        const struct slice *slice = &o->slices[hits->slice - 1];
        struct placed p = order_place(o, &f->before, hits, &f->newer);
        uint64_t gap = slice->start - f->end;
        double last = gap ? 0 : f->last, second = gap > 1 ? 0 : gap ? f->last : f->second;
        double after_one = p.after_one + last * p.head[0];
        double after_two = p.after_two + second * p.head[0] + last * p.head[1] * (slice->len > 1);
        f->variance +=
            slice->square * (hits->count - after_one + o->extrapolated * (after_two - after_one));
        double first = slice->len > 1 ? p.head[0] + p.head[1] : p.head[0];
        f->pairs[0] += hits->count - p.head[0];
        f->pairs[1] += hits->count - first;
        f->changes[0] += hits->count - p.head[0] - p.after_one;
        f->changes[1] += hits->count - first - p.after_two;
        f->last = p.tail[0];
        f->second = slice->len > 1 ? p.tail[1] : last;
        f->end = slice->start + slice->len;
        f->before = *hits;
    }
    f->older = f->newer;
    f->newer = (struct slice_hits){0};
}

/* Of a function that has that many samples. In windows, twice the scatter of a small number of
 * changes is added to it: there may be more outside. */
static double order_variance(const struct order *o, struct function_order *f, double samples)
{
    enum { FEWEST = 30 };
    order_tell_older(o, f);
    order_tell_older(o, f);
    if (!o->has_windows)
        return fmax(f->variance, 0);
    if (f->pairs[1] < FEWEST)
        return INFINITY;
    double one = f->changes[0] / f->pairs[0], two = f->changes[1] / f->pairs[1];
    double more = (1 + 2 * sqrt(f->changes[0] + 1)) / f->pairs[0];
    return o->square * samples * fmax(one + more + o->extrapolated * (one - two), 0);
}

/* `count` samples of a slice, from number `from` of it on, are the function's. */
static void order_add(const struct order *o, struct function_order *f, uint32_t slice,
                      uint32_t from, uint32_t count)
{
    if (f->newer.slice != slice + 1) {
        order_tell_older(o, f);
        f->newer.slice = slice + 1;
    }
    f->newer.count += count;
    for (uint32_t i = from; i < from + count && i < MOST_PLACES; i++)
        f->newer.places |= UINT64_C(1) << i;
}

/* --- strata and batches ---------------------------------------------------------------------- */

/* Where a row of a stratum is. */
struct place {
    uint32_t row, stratum;
    bool is_drawn;  /* the thread's periods are drawn all the time */
    bool is_placed; /* and there is an order of slices that it is in: then */
    uint32_t slice, from;
    double one; /* the variance of one sample */
};

/* Books a row on a function, once. */
static void hits_add(struct hits *h, uint32_t function, const struct row *r, const struct place *at,
                     const struct order *order)
{
    struct function_hits *of = &h->of[function];
    if (of->row == at->row + 1 && of->stratum == at->stratum + 1)
        return;
    if (of->stratum != at->stratum + 1) {
        *of = (struct function_hits){.stratum = at->stratum + 1};
        h->touched[h->len++] = function;
    }
    of->row = at->row + 1;
    of->weight += r->weight;
    of->squares += r->squares;
    if (h->one[function] < at->one)
        h->one[function] = at->one;
    if (at->is_placed)
        order_add(order, &h->order[function], at->slice, at->from, r->count);
}

/* Whom a sample at the node hit. */
static uint32_t innermost_function(const struct space *s, const struct call_frames *frames,
                                   uint32_t node)
{
    uint32_t place = frames ? frames->place[node] : 0;
    bool has_frames = frames && frames->start[place] < frames->start[place + 1];
    return has_frames ? frames->frame[frames->start[place + 1] - 1] : space_function_of(s, node);
}

/* The factor of squared differences from the mean of a stratum that makes them right on average: p
 * is of the same samples, and the heavier one is, the nearer is p to it. With v = w / sum of w, the
 * expectation of (x - p)^2 is p (1 - p) (1 - 2 v + sum of v^2). For equal weights this is n / (n -
 * 1). */
static double stratum_factor(const struct row *all)
{
    enum { MOST = 8 }; /* of strata that are one sample, nearly */
    double left = 1 - 2 * all->cubes / (all->squares * all->weight) +
                  all->squares / (all->weight * all->weight);
    return left > 1.0 / MOST ? 1 / left : MOST;
}

/* Sum of w^2 (x - p)^2, where x is 1 for the samples of the function and 0 for all others. */
static void hits_end_stratum(struct hits *h, const struct row *all, bool is_drawn,
                             const struct batches *batches)
{
    double factor = all->count > 1 && all->squares > 0 ? stratum_factor(all) : 0;
    for (uint32_t i = 0; i < h->len; i++) {
        uint32_t function = h->touched[i];
        const struct function_hits *of = &h->of[function];
        double p = all->weight > 0 ? fmin(1, of->weight / all->weight) : 1;
        double sum = of->squares * (1 - 2 * p) + p * p * all->squares;
        double variance = p < 1 && sum > 0 ? sum * factor : 0;
        h->variance[function] += variance;
        if (!is_drawn)
            continue;
        h->drawn[function] += variance;
        h->weight[function] += of->weight;
        batch_add(&h->batch[function], batches, of->weight);
    }
    h->len = 0;
}

/* From variances to standard errors: the least of the three, and some more, as that is less than
 * each on average; with one sample more of each function that was hit. */
static void hits_finish(struct hits *h, uint32_t functions, const struct batches *b,
                        const struct order *o)
{
    const double more = 1.2;
    for (uint32_t i = 0; i < functions; i++) {
        double least = h->drawn[i];
        if (least > 0) {
            least = fmin(least, order_variance(o, &h->order[i], h->weight[i]));
            least = fmin(least, batches_variance(b, &h->batch[i], h->weight[i]));
        }
        h->variance[i] = sqrt(h->variance[i] - h->drawn[i] + more * least + h->one[i]);
    }
}

/* The end of the stratum that begins at `start`: with a slice in which it has enough samples. What
 * would be left of the thread without being enough belongs to it as well. */
static uint32_t stratum_end(const struct recording *r, const struct keyed *rows, uint32_t len,
                            uint32_t start)
{
    uint64_t has = 0, behind = 0;
    uint32_t end = start;
    for (; end < len && rows[end].key >> 32 == rows[start].key >> 32; end++) {
        if (has >= LEAST && rows[end].key != rows[end - 1].key)
            break;
        has += r->samples.at[rows[end].item].count;
    }
    uint32_t rest = end;
    for (; rest < len && rows[rest].key >> 32 == rows[start].key >> 32 && behind < LEAST; rest++)
        behind += r->samples.at[rows[rest].item].count;
    return behind < LEAST ? rest : end;
}

/* What strata are made of, and whose hits they are. */
struct strata {
    const struct space *space;
    const struct call_frames *frames;
    const struct keyed *rows; /* samples by thread and slice */
    uint32_t len;
    double period;
    struct hits *self, *inclusive;
    struct batches batches;
    struct order order;
    bool *is_drawn; /* per thread of the recording */
};

static struct row strata_row(const struct strata *t, uint32_t i)
{
    const struct recording_sample *sample = &t->space->recording->samples.at[t->rows[i].item];
    double weight = (double)sample->weight / t->period;
    return (struct row){sample->node, sample->count, weight, weight * weight / sample->count,
                        weight * weight * weight / sample->count / sample->count};
}

/* The rows of one slice, from `i` to before the next one's. */
static uint32_t strata_slice_end(const struct strata *t, uint32_t i)
{
    uint32_t end = i + 1;
    while (end < t->len && t->rows[end].key == t->rows[i].key)
        end++;
    return end;
}

static void row_add(struct row *all, const struct row *r)
{
    all->count += r->count;
    all->weight += r->weight;
    all->squares += r->squares;
    all->cubes += r->cubes;
}

/* Of windows, the first entries; of short slices, all. */
static bool strata_is_placed(const struct strata *t, uint32_t i)
{
    return !t->order.has_windows || t->order.is_ordered[t->rows[i].item];
}

/* Lists the slices of the threads whose periods are drawn, one thread apart from the next. */
static void strata_find_order(struct strata *t, struct arena *scratch)
{
    enum { APART = 2 };
    struct order *o = &t->order;
    struct row all = {0};
    uint64_t start = APART;
    o->has_windows = t->space->recording->slice_ns > RECORDING_ORDERED_NS;
    o->is_ordered = recording_find_ordered(t->space->recording, scratch);
    o->slices = ARENA_NEW(scratch, struct slice, 2 * (size_t)t->len + 1);
    for (uint32_t i = 0, end; i < t->len; i = end) {
        uint64_t thread = t->rows[i].key >> 32;
        bool is_drawn = thread != RECORDING_NONE && t->is_drawn[thread];
        uint32_t first = o->len;
        struct row sum = {0};
        for (end = i; end < t->len && t->rows[end].key >> 32 == thread;) {
            uint32_t next = strata_slice_end(t, end);
            struct slice slice = {.start = start, .is_ordered = true};
            for (uint32_t k = end; k < next && is_drawn; k++) {
                struct row row = strata_row(t, k);
                row_add(&sum, &row);
                if (!strata_is_placed(t, k))
                    continue;
                slice.len += row.count;
                slice.is_ordered &= slice.len <= MOST_PLACES;
            }
            slice.is_ordered |= next == end + 1;
            start += slice.len + (o->has_windows ? APART : 0);
            if (is_drawn)
                o->slices[o->len++] = slice;
            end = next;
        }
        for (uint32_t k = first; k < o->len; k++)
            o->slices[k].square = sum.squares / sum.count;
        if (is_drawn)
            o->slices[o->len++] = (struct slice){.start = start};
        start += APART;
        row_add(&all, &sum);
    }
    if (!(all.weight > 0))
        return;
    o->square = all.squares / all.count;
    double mean = all.squares / (2 * all.weight);
    double of_change = all.cubes / (3 * all.weight) - mean * mean;
    o->extrapolated = fmax(0, 1 - 2 * of_change * all.count / all.squares);
}

/* Books a sample on all functions on its stack. */
static void strata_add_row(struct strata *t, const struct row *row, const struct place *at)
{
    const struct call_frames *frames = t->frames;
    const struct recording *r = t->space->recording;
    uint32_t leaf = innermost_function(t->space, frames, row->node);
    if (leaf != NO_FUNCTION && !space_is_cut(t->space, row->node))
        hits_add(t->self, leaf, row, at, &t->order);
    for (uint32_t node = row->node; node != RECORDING_ROOT; node = r->nodes.at[node].parent) {
        /* All functions that a node stands for. */
        uint32_t place = frames ? frames->place[node] : 0;
        if (space_function_of(t->space, node) == NO_FUNCTION)
            continue;
        hits_add(t->inclusive, space_function_of(t->space, node), row, at, &t->order);
        for (uint32_t k = frames ? frames->start[place] + 1 : 0;
             frames && k < frames->start[place + 1]; k++)
            hits_add(t->inclusive, frames->frame[k], row, at, &t->order);
    }
}

/* A stratum; `slice` is the next of those that have an order. */
static void strata_add(struct strata *t, uint32_t start, uint32_t end, uint32_t stratum,
                       uint32_t *slice)
{
    struct row all = {0};
    uint64_t thread = t->rows[start].key >> 32;
    struct place at = {.stratum = stratum,
                       .is_drawn = thread != RECORDING_NONE && t->is_drawn[thread]};
    for (uint32_t i = start, next; i < end; i = next) {
        next = strata_slice_end(t, i);
        at.slice = *slice;
        at.from = 0;
        for (uint32_t k = i; k < next; k++) {
            struct row row = strata_row(t, k);
            at.row = k;
            at.one = at.is_drawn ? t->order.slices[*slice].square : row.squares / row.count;
            at.is_placed = at.is_drawn && strata_is_placed(t, k) &&
                           (t->order.slices[*slice].is_ordered || !t->order.has_windows);
            strata_add_row(t, &row, &at);
            row_add(&all, &row);
            at.from += at.is_placed ? row.count : 0;
        }
        *slice += at.is_drawn;
    }
    bool is_last = end == t->len || t->rows[end].key >> 32 != thread;
    *slice += at.is_drawn && is_last;
    struct batches *b = &t->batches;
    if (at.is_drawn) {
        if (!b->len || b->thread != thread || b->strata == BATCH_STRATA) {
            b->thread = thread;
            b->strata = 0;
            b->len++;
        }
        b->strata++;
        b->all[b->len - 1] += all.weight;
    }
    hits_end_stratum(t->self, &all, at.is_drawn, b);
    hits_end_stratum(t->inclusive, &all, at.is_drawn, b);
}

/* A wait is below the function that waits; one without a place is in none. Functions have waits in
 * their inclusive time alone: what waited itself is what stands for the wait. How long they had no
 * CPU says what else the machine did. */
static void stacks_measure_waits(struct stacks *t, const struct space *s, const struct functions *f,
                                 const struct call_frames *frames, const double *weights,
                                 struct arena *a)
{
    const struct recording *r = s->recording;
    struct arena scratch = {0};
    uint32_t *seen = ARENA_NEW(&scratch, uint32_t, f->len); /* recursion counts once */
    t->waits = ARENA_NEW(a, bool, f->len);
    t->is_wait = ARENA_NEW(a, bool, f->len);
    t->off_below = ARENA_NEW(a, double, f->len);
    t->ready_below = ARENA_NEW(a, double, f->len);
    for (uint32_t i = 0; i < r->nodes.len; i++) {
        if (!(weights[i] > 0) || !recording_is_wait(r, i))
            continue;
        bool is_ready = r->nodes.at[i].address == RECORDING_WAIT_READY;
        if (r->nodes.at[i].address == RECORDING_WAIT_UNKNOWN) {
            t->unplaced_waits += weights[i];
            continue;
        }
        uint32_t itself = innermost_function(s, frames, i);
        if (itself != NO_FUNCTION && !is_ready)
            t->is_wait[itself] = t->waits[itself] = true;
        for (uint32_t node = r->nodes.at[i].parent; node != RECORDING_ROOT;
             node = r->nodes.at[node].parent) {
            uint32_t place = frames ? frames->place[node] : 0, first = space_function_of(s, node);
            uint32_t k = frames ? frames->start[place] : 0,
                     end = frames ? frames->start[place + 1] : 0;
            for (uint32_t function = first; function != NO_FUNCTION;
                 function = k < end ? frames->frame[k++] : NO_FUNCTION) {
                if (seen[function] == i + 1)
                    continue;
                seen[function] = i + 1;
                t->off_below[function] += weights[i];
                t->ready_below[function] += is_ready ? weights[i] : 0;
                t->waits[function] |= !is_ready;
            }
        }
    }
    arena_deinit(&scratch);
}

void stacks_measure_errors(struct stacks *t, const struct space *s, const struct functions *f,
                           const struct call_frames *frames, const struct recording_choice *c,
                           const double *weights, struct arena *a)
{
    struct arena scratch = {0};
    struct hits self, inclusive;
    const struct recording *r = s->recording;
    double period = c->event < r->events.len ? (double)r->events.at[c->event].period : 1;
    uint32_t len = 0, stratum = 0;
    /* Samples that count, by thread and slice; threads with too few for a stratum are one. */
    struct keyed *rows = ARENA_NEW(&scratch, struct keyed, r->samples.len);
    uint64_t *count = ARENA_NEW(&scratch, uint64_t, r->threads.len);
    for (uint32_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *sample = &r->samples.at[i];
        if (!sample->count || !sample->weight || !(weights[sample->node] > 0) ||
            recording_is_wait(r, sample->node) || !recording_choice_admits(c, r, sample))
            continue;
        count[sample->thread] += sample->count;
        rows[len++].item = i;
    }
    /* Recordings that are reported together follow each other in time as they were named, which
     * says nothing of them: threads that share strata do so by the time since their run began, with
     * its first process. Parents precede their children, also where a pid comes again. */
    uint64_t *begin = ARENA_NEW(&scratch, uint64_t, r->processes.len);
    struct map latest = {0};
    for (uint32_t i = 0; i < r->processes.len; i++) {
        const struct recording_process *p = &r->processes.at[i];
        const uint32_t *parent = map_find(&latest, p->parent_pid, 0);
        begin[i] = parent ? begin[*parent] : p->start_ns / (r->slice_ns ? r->slice_ns : 1);
        map_set(&latest, p->pid, 0, i);
    }
    map_deinit(&latest);
    for (uint32_t i = 0; i < len; i++) {
        const struct recording_sample *sample = &r->samples.at[rows[i].item];
        uint64_t from = begin[r->threads.at[sample->thread].process];
        from = from < sample->slice ? from : sample->slice;
        rows[i].key = count[sample->thread] < LEAST
                          ? map_two(RECORDING_NONE, sample->slice - (uint32_t)from)
                          : map_two(sample->thread, sample->slice);
    }
    sort_keyed(rows, len);
    hits_init(&self, f->len, a, &scratch);
    hits_init(&inclusive, f->len, a, &scratch);
    struct strata strata = {.space = s,
                            .frames = frames,
                            .rows = rows,
                            .len = len,
                            .period = period > 0 ? period : 1,
                            .self = &self,
                            .inclusive = &inclusive};
    strata.is_drawn = recording_redrawn_threads(r, c->event, &scratch);
    strata.batches.all = ARENA_NEW(&scratch, double, len);
    strata_find_order(&strata, &scratch);
    for (uint32_t start = 0, end, slice = 0; start < len; start = end, stratum++) {
        end = stratum_end(r, rows, len, start);
        strata_add(&strata, start, end, stratum, &slice);
    }
    batches_sum(&strata.batches);
    hits_finish(&self, f->len, &strata.batches, &strata.order);
    hits_finish(&inclusive, f->len, &strata.batches, &strata.order);
    t->self_error = self.variance;
    t->inclusive_error = inclusive.variance;
    stacks_measure_waits(t, s, f, frames, weights, a);
    arena_deinit(&scratch);
}

/* --- runs of a series ---
 *
 * The errors of the times of a mean run: from the variation of the runs of a series.
 *
 * Of n runs, function f has x_j samples in run j, of which T_j are all. Its share p = sum x / sum T
 * is a ratio estimate, whose residuals d_j = x_j - p T_j give its standard error (Cochran, Sampling
 * Techniques, 1977, 6.4); its time is a mean, with residuals from that:
 *
 *     share: sqrt(n/(n - 1) sum d_j^2)     time: sqrt(n/(n - 1) sum (x_j - mean)^2)
 *
 * both in samples of the sum. Few runs say little of their own spread: errors are made larger by
 * Student's t, so that a bound of the normal law's 95 % is one of Student's. What sampling adds is
 * in them. Functions with few samples may happen to have the same number in each run: theirs are
 * never less than the error by sampling. Cost: another pass over the runs' samples for each run. */

/* Of one function over the runs. */
struct moments {
    double sum, squares, by_total;
};

/* Adds one run: what functions have in it, and how that goes along with the run's length. */
static void moments_add(struct moments *m, uint32_t len, const double *samples, double total)
{
    for (uint32_t i = 0; i < len; i++) {
        m[i].sum += samples[i];
        m[i].squares += samples[i] * samples[i];
        m[i].by_total += samples[i] * total;
    }
}

void stacks_measure_between(struct stacks *t, const struct space *s, const struct functions *f,
                            const struct call_frames *frames, const struct recording_choice *c,
                            const double *weights, struct arena *a)
{
    enum { FEW = 10 };
    const double normal = 1.959963984540054;
    struct arena scratch = {0};
    const struct recording *r = s->recording;
    double n = recording_count(r), totals = 0, total_squares = 0;
    if (n < 2)
        return;
    struct moments *self = ARENA_NEW(&scratch, struct moments, f->len);
    struct moments *inclusive = ARENA_NEW(&scratch, struct moments, f->len);
    bool *threads = ARENA_NEW(&scratch, bool, r->threads.len);
    struct recording_choice of_run = *c;
    of_run.threads = threads;
    for (uint32_t part = 0; part < r->parts.len; part++) {
        struct arena one = {0};
        struct recording_weights w;
        struct stacks times;
        for (size_t i = 0; i < r->threads.len; i++)
            threads[i] = (!c->threads || c->threads[i]) &&
                         recording_part_of(r, r->threads.at[i].process) == part;
        recording_weigh(&w, r, &of_run, &one);
        for (size_t i = 0; i < r->nodes.len; i++)
            w.node[i] = weights[i] > 0 ? w.node[i] : 0;
        stacks_measure(&times, s, f, frames, w.node, &one);
        moments_add(self, f->len, times.self, times.samples);
        moments_add(inclusive, f->len, times.inclusive, times.samples);
        totals += times.samples;
        total_squares += times.samples * times.samples;
        arena_deinit(&one);
    }
    /* Errors are widened so that a bound of the normal law is one of Student's. */
    double larger = student_quantile(0.025, n - 1) / normal * sqrt(n / (n - 1));
    t->self_between = ARENA_NEW(a, double, f->len);
    struct {
        const struct moments *of;
        double *share, *time;
    } both[] = {{self, t->self_error, t->self_between}, {inclusive, t->inclusive_error, NULL}};
    for (size_t k = 0; k < sizeof both / sizeof *both; k++)
        for (uint32_t i = 0; i < f->len && totals > 0; i++) {
            const struct moments *m = &both[k].of[i];
            double p = m->sum / totals;
            double about_share = m->squares - 2 * p * m->by_total + p * p * total_squares;
            double about_mean = m->squares - m->sum * m->sum / n;
            double by_sampling = both[k].share[i], error = larger * sqrt(fmax(about_share, 0));
            both[k].share[i] = m->sum < FEW ? fmax(error, by_sampling) : error;
            if (both[k].time)
                both[k].time[i] = normal * fmax(larger * sqrt(fmax(about_mean, 0)),
                                                m->sum < FEW ? by_sampling : 0);
        }
    arena_deinit(&scratch);
}

#define NO_CALL UINT32_MAX

/* A frame on the way from the root. A node is several, one inside the other, where its address is
 * in inlined code. */
struct frame {
    uint32_t end; /* in the walk: after all frames further in */
    uint32_t function;
    uint32_t call;            /* by the next frame out: the number of the pair */
    bool is_counted : 1;      /* the function is in no frame further out */
    bool is_call_counted : 1; /* nor is the pair */
    bool is_cut : 1;          /* no frame: callers that are not known */
    bool is_piece : 1;        /* of its function */
    bool has_caller : 1;      /* the stack goes on outside of it, inlined code apart */
    double samples;           /* of this frame and those further in that were left */
};

/* A pair, and how many frames of it are on the way: together, since pairs are met in no order, and
 * those of a large recording are in no cache. */
struct walk_call {
    struct stack_call times;
    uint32_t depth;
};

/* A function's latest pair as callee: most frames have the caller of the one before. */
struct latest_call {
    uint32_t caller;
    uint32_t call; /* + 1 */
};

/* What the walk knows of the way from the root to where it is. */
struct walk {
    const struct space *space;
    const struct call_frames *frames;
    struct stacks *out;
    VEC(struct frame) way; /* [0] is the root */
    uint32_t *depth;       /* per function: frames of it on the way */
    struct map pairs;
    struct latest_call *latest; /* per function */
    VEC(struct walk_call) calls;
};

/* Numbers the pair of a frame and the one around it. A function's piece around itself is no call.
 */
static void stacks_enter_call(struct walk *w, struct frame *frame)
{
    uint32_t caller = w->way.len > 2 ? frame[-1].function : NO_FUNCTION;
    struct latest_call *latest = &w->latest[frame->function];
    bool is_new = false;
    if (caller == NO_FUNCTION || (caller == frame->function && frame->is_piece))
        return;
    if (latest->call && latest->caller == caller)
        frame->call = latest->call - 1;
    else
        frame->call = map_index(&w->pairs, caller, frame->function, w->calls.len, &is_new);
    if (is_new)
        vec_push(&w->calls, (struct walk_call){{.caller = caller, .callee = frame->function}, 0});
    *latest = (struct latest_call){caller, frame->call + 1};
    frame->is_call_counted = w->calls.at[frame->call].depth++ == 0;
}

/* The samples that hit a function belong to whichever calls of it are on the stack. */
static void stacks_hit(struct walk *w, const struct frame *innermost)
{
    uint32_t function = innermost->function, left = w->depth[function];
    for (const struct frame *frame = innermost; innermost->samples > 0 && left > 0; frame--) {
        if (frame->function != function)
            continue;
        left--;
        if (frame->call != NO_CALL && frame->is_call_counted)
            w->calls.at[frame->call].times.self += innermost->samples;
    }
}

/* Books what hit the frame itself. */
static void stacks_enter(struct walk *w, struct frame entered)
{
    struct stacks *out = w->out;
    vec_push(&w->way, entered);
    struct frame *frame = &w->way.at[w->way.len - 1];
    bool is_placed = frame->function != NO_FUNCTION && !frame->is_cut;
    out->with_callers += frame->has_caller ? frame->samples : 0;
    if (is_placed)
        out->self[frame->function] += frame->samples;
    else
        out->unplaced += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    frame->is_counted = w->depth[frame->function]++ == 0;
    stacks_enter_call(w, frame);
    stacks_hit(w, frame);
}

/* Books what hit the innermost frame and those that were further in, and passes it outwards. */
static void stacks_leave(struct walk *w)
{
    struct stacks *out = w->out;
    const struct frame *frame = &w->way.at[--w->way.len];
    w->way.at[w->way.len - 1].samples += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    w->depth[frame->function]--;
    if (frame->is_counted)
        out->inclusive[frame->function] += frame->samples;
    if (frame->call == NO_CALL)
        return;
    w->calls.at[frame->call].depth--;
    if (frame->is_call_counted)
        w->calls.at[frame->call].times.inclusive += frame->samples;
}

/* The nodes as the walk meets them, children in their order, and per node where in that order those
 * below it end. Parents precede their children. */
static void stacks_order(const struct recording *r, uint32_t *order, uint32_t *end,
                         struct arena *scratch)
{
    uint32_t nodes = (uint32_t)r->nodes.len, *size = ARENA_NEW(scratch, uint32_t, nodes);
    for (uint32_t i = nodes; i-- > 1;)
        size[r->nodes.at[i].parent] += ++size[i];
    /* Until all children have their places, `end` is where the next one goes. */
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t at = i ? end[r->nodes.at[i].parent] : 0;
        if (i)
            end[r->nodes.at[i].parent] += size[i];
        order[at] = i;
        end[i] = at + 1;
    }
}

/* Leaves what is over at the node's place, and enters its frames, inlined ones inside. Its samples
 * are the innermost one's. */
static void stacks_visit(struct walk *w, uint32_t at, uint32_t node, uint32_t end, double samples)
{
    const struct space *s = w->space;
    const struct call_frames *frames = w->frames;
    uint32_t outer = s->recording->nodes.at[node].parent, place = frames ? frames->place[node] : 0;
    uint32_t own = frames ? frames->start[place + 1] - frames->start[place] : 1;
    while (w->way.at[w->way.len - 1].end <= at)
        stacks_leave(w);
    struct frame frame = {.end = end,
                          .function = space_function_of(s, node),
                          .call = NO_CALL,
                          .is_cut = space_is_cut(s, node),
                          .is_piece = s->is_piece && s->is_piece[node],
                          .has_caller = outer && !space_is_cut(s, outer)};
    own = own ? own : 1; /* what has no function */
    for (uint32_t k = 0; k < own; k++, frame.is_piece = false) {
        frame.function = k ? frames->frame[frames->start[place] + k] : frame.function;
        frame.samples = k + 1 == own ? samples : 0;
        stacks_enter(w, frame);
    }
}

/* The calls by their ends. Calls on stacks that were not chosen do not count. */
static void stacks_sort_calls(const struct walk *w, size_t functions, struct arena *a,
                              struct arena *scratch)
{
    struct stacks *t = w->out;
    struct keyed *order = ARENA_NEW(scratch, struct keyed, w->calls.len);
    for (size_t k = 0; k < w->calls.len; k++) {
        const struct stack_call *call = &w->calls.at[k].times;
        if (call->inclusive > 0)
            order[t->calls_len++] =
                (struct keyed){(uint64_t)call->caller * functions + call->callee, (uint32_t)k};
    }
    sort_keyed(order, t->calls_len);
    t->calls = ARENA_NEW(a, struct stack_call, t->calls_len);
    for (size_t k = 0; k < t->calls_len; k++)
        t->calls[k] = w->calls.at[order[k].item].times;
}

void stacks_measure(struct stacks *t, const struct space *s, const struct functions *f,
                    const struct call_frames *frames, const double *weights, struct arena *a)
{
    enum { AHEAD = 8 }; /* nodes: about as long as memory takes, twice */
    struct arena scratch = {0};
    uint32_t nodes = (uint32_t)s->recording->nodes.len;
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, nodes);
    uint32_t *end = ARENA_NEW(&scratch, uint32_t, nodes);
    struct walk w = {.space = s,
                     .frames = frames,
                     .out = t,
                     .depth = ARENA_NEW(&scratch, uint32_t, f->len),
                     .latest = ARENA_NEW(&scratch, struct latest_call, f->len)};
    *t = (struct stacks){.self = ARENA_NEW(a, double, f->len),
                         .inclusive = ARENA_NEW(a, double, f->len),
                         .unplaced = weights[0]};
    stacks_order(s->recording, order, end, &scratch);
    vec_push(&w.way, (struct frame){.end = nodes, .function = NO_FUNCTION, .samples = weights[0]});
    for (uint32_t at = 1; at < nodes; at++) {
        uint32_t soon = order[at + AHEAD < nodes ? at + AHEAD : at];
        uint32_t later = order[at + 2 * AHEAD < nodes ? at + 2 * AHEAD : at];
        const uint32_t *call =
            map_find(&w.pairs, space_function_of(s, s->recording->nodes.at[soon].parent),
                     space_function_of(s, soon));
        if (call)
            __builtin_prefetch(&w.calls.at[*call], 1);
        map_prefetch(&w.pairs, space_function_of(s, s->recording->nodes.at[later].parent),
                     space_function_of(s, later));
        stacks_visit(&w, at, order[at], end[order[at]], weights[order[at]]);
    }
    while (w.way.len > 1)
        stacks_leave(&w);
    t->samples = w.way.at[0].samples;
    stacks_sort_calls(&w, f->len, a, &scratch);
    vec_free(&w.way);
    vec_free(&w.calls);
    map_deinit(&w.pairs);
    for (size_t k = 0; k < t->calls_len; k++)
        for (uint32_t why = 0; why < RECORDING_CUTS; why++) {
            const struct stack_call *call = &t->calls[k];
            if (call->caller != s->cut[why])
                continue;
            if (!t->cut)
                t->cut = ARENA_NEW(a, struct stack_cut, f->len);
            t->cut[call->callee].samples[why] += call->inclusive;
        }
    arena_deinit(&scratch);
}

/* --- times and errors at once ---------------------------------------------------------------- */

/* What both ask for, and what each finds. */
struct both {
    const struct space *space;
    const struct functions *functions;
    const struct call_frames *frames;
    const struct recording_choice *choice;
    const double *weights;
    struct stacks times, errors;
    struct arena arenas[2];
};

static void stacks_measure_one(size_t i, void *context)
{
    struct both *b = context;
    if (i)
        stacks_measure(&b->times, b->space, b->functions, b->frames, b->weights, &b->arenas[i]);
    else
        stacks_measure_errors(&b->errors, b->space, b->functions, b->frames, b->choice, b->weights,
                              &b->arenas[i]);
}

/* Neither looks at what the other finds. Few nodes are not worth a thread. */
void stacks_measure_both(struct stacks *t, const struct space *s, const struct functions *f,
                         const struct call_frames *frames, const struct recording_choice *c,
                         const double *weights, struct arena *a)
{
    enum { MANY = 1 << 16 };
    struct both b = {.space = s, .functions = f, .frames = frames, .choice = c, .weights = weights};
    parallel_for(2, s->recording->nodes.len < MANY ? 1 : 2, stacks_measure_one, &b);
    *t = b.times;
    t->self_error = b.errors.self_error;
    t->inclusive_error = b.errors.inclusive_error;
    t->waits = b.errors.waits;
    t->is_wait = b.errors.is_wait;
    t->off_below = b.errors.off_below;
    t->ready_below = b.errors.ready_below;
    t->unplaced_waits = b.errors.unplaced_waits;
    for (size_t i = 0; i < 2; i++)
        arena_join(a, &b.arenas[i]);
}
