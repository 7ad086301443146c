/* At which commits a series turned to another level.
 *
 * A value has an error of sampling, which is known, and runs differ besides. What they differ by is
 * estimated from neighbours: the median of |x[i+1] - x[i]| hardly notices a few turns, and slow
 * drift cancels. Single values far from the median of the five around them (a disturbed machine)
 * are drawn in to four standard deviations, so that one bad run is no turn; commits with
 * several runs are believed.
 *
 * Turns are found by binary segmentation: of all ways to cut a stretch in two, the one whose means
 * are the most standard errors apart, if that is more than chance would make of a thousand commits
 * once in a thousand histories; then the same on both sides. Afterwards each cut is moved to its
 * best place between its neighbours, and dropped if it does not hold there. Cuts that fit nearly as
 * well (a log-likelihood less by 3) are the range in which the turn lies.
 *
 * A level needs two commits, or one with two runs. Time is O(n log n) for few turns.
 *
 * After Scott and Knott 1974; Yao 1988. */
#include "store/store.h"

#include "profile/analysis/compare/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_POINTS = 30 };
#define ALPHA       1e-6 /* of one place at which to cut */
#define ASSUMED     0.02 /* noise where a history is too short to tell */
#define LEAST_NOISE 1e-3 /* of two-byte numbers, and of negligible changes */

/* Values, drawn in, and their weights; sums up to each place. */
struct turns_work {
    const struct store_point *points;
    size_t len;
    double *value, *variance;
    double *weights, *sums; /* of [0, i) */
    uint64_t *runs;         /* likewise */
    double far;             /* standard errors that make a turn */
};

static int turns_by_size(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return l < r ? -1 : l > r;
}

static double turns_median(double *values, size_t len)
{
    if (!len)
        return 0;
    qsort(values, len, sizeof *values, turns_by_size);
    return len % 2 ? values[len / 2] : (values[len / 2 - 1] + values[len / 2]) / 2;
}

/* The variance between runs of a commit, sampling apart, as a part of the value squared. */
static double turns_noise(const struct turns_work *w, double *room)
{
    size_t n = w->len - 1;
    for (size_t i = 0; i < n; i++) {
        double level = fmax(fabs(w->value[i]), fabs(w->value[i + 1]));
        room[i] = level > 0 ? fabs(w->value[i + 1] - w->value[i]) / level : 0;
    }
    double spread = turns_median(room, n) / 0.6745;
    for (size_t i = 0; i < n; i++) {
        double level = fmax(fabs(w->value[i]), fabs(w->value[i + 1]));
        double one = w->points[i].error, other = w->points[i + 1].error;
        room[i] = level > 0 ? (one * one + other * other) / (level * level) : 0;
    }
    double sampling = turns_median(room, n);
    double noise = sqrt(fmax(0, spread * spread - sampling) / 2);
    noise = w->len < FEW_POINTS ? fmax(noise, ASSUMED) : noise;
    return fmax(noise, LEAST_NOISE);
}

/* Draws values in to four deviations from the median of the five around them. */
static void turns_draw_in(struct turns_work *w)
{
    double *drawn = malloc(w->len * sizeof *drawn), five[5];
    if (!drawn)
        memory_exhausted(w->len * sizeof *drawn);
    for (size_t i = 0; i < w->len; i++) {
        size_t from = i < 2 ? 0 : i - 2, to = i + 3 > w->len ? w->len : i + 3;
        memcpy(five, w->value + from, (to - from) * sizeof *five);
        double median = turns_median(five, to - from), most = 4 * sqrt(w->variance[i]);
        bool is_alone = w->points[i].runs < 2; /* two runs do not fail alike */
        drawn[i] = is_alone ? fmin(fmax(w->value[i], median - most), median + most) : w->value[i];
    }
    memcpy(w->value, drawn, w->len * sizeof *drawn);
    free(drawn);
}

static double turns_mean(const struct turns_work *w, size_t from, size_t to)
{
    return (w->sums[to] - w->sums[from]) / (w->weights[to] - w->weights[from]);
}

/* Standard errors between the means of [from, at) and [at, to); 0 if either has too few runs. */
static double turns_score(const struct turns_work *w, size_t from, size_t at, size_t to)
{
    if (w->runs[at] - w->runs[from] < 2 || w->runs[to] - w->runs[at] < 2)
        return 0;
    double variance =
        1 / (w->weights[at] - w->weights[from]) + 1 / (w->weights[to] - w->weights[at]);
    return fabs(turns_mean(w, at, to) - turns_mean(w, from, at)) / sqrt(variance);
}

/* The best place to cut; its score. */
static double turns_cut(const struct turns_work *w, size_t from, size_t to, size_t *at)
{
    double best = 0;
    *at = from;
    for (size_t i = from + 1; i < to; i++) {
        double score = turns_score(w, from, i, to);
        if (score > best)
            best = score, *at = i;
    }
    return best;
}

static int turns_by_place(const void *left, const void *right)
{
    size_t l = *(const size_t *)left, r = *(const size_t *)right;
    return l < r ? -1 : l > r;
}

struct turns_places {
    VEC(size_t) at;
};

/* Stretches wait on a list of their ends; those without a turn are done. */
static void turns_segment(const struct turns_work *w, struct turns_places *found)
{
    struct turns_places ends = {0};
    vec_push(&ends.at, 0);
    vec_push(&ends.at, w->len);
    while (ends.at.len) {
        size_t to = ends.at.at[ends.at.len - 1], from = ends.at.at[ends.at.len - 2], at;
        ends.at.len -= 2;
        if (turns_cut(w, from, to, &at) < w->far)
            continue;
        vec_push(&found->at, at);
        const size_t both[] = {from, at, at, to};
        for (size_t i = 0; i < 4; i++)
            vec_push(&ends.at, both[i]);
    }
    vec_free(&ends.at);
    if (found->at.len)
        qsort(found->at.at, found->at.len, sizeof *found->at.at, turns_by_place);
}

/* Moves each cut between its neighbours until nothing moves; drops what does not hold, or is too
 * small to report. */
static void turns_settle(const struct turns_work *w, double least, struct turns_places *found)
{
    enum { MOST_ROUNDS = 20 };
    bool is_moving = true;
    for (int round = 0; is_moving && round < MOST_ROUNDS; round++) {
        is_moving = false;
        for (size_t i = 0; i < found->at.len; i++) {
            size_t from = i ? found->at.at[i - 1] : 0, at;
            size_t to = i + 1 < found->at.len ? found->at.at[i + 1] : w->len;
            bool holds = turns_cut(w, from, to, &at) >= w->far;
            double before = holds ? turns_mean(w, from, at) : 0;
            holds = holds && fabs(turns_mean(w, at, to) - before) >= least * fabs(before);
            is_moving |= !holds || at != found->at.at[i];
            found->at.at[i] = at;
            if (!holds) {
                memmove(&found->at.at[i], &found->at.at[i + 1],
                        (found->at.len - i - 1) * sizeof *found->at.at);
                found->at.len--;
                i--;
            }
        }
    }
}

/* The turn at a place between two others, with the range of places that fit nearly as well. */
static struct turn turns_describe(const struct turns_work *w, size_t from, size_t at, size_t to)
{
    enum { NEARLY = 6 }; /* twice the log-likelihood */
    struct turn t = {.at = at,
                     .first = at,
                     .last = at,
                     .before = turns_mean(w, from, at),
                     .after = turns_mean(w, at, to),
                     .score = turns_score(w, from, at, to)};
    for (size_t i = from + 1; i < to; i++) {
        double score = turns_score(w, from, i, to);
        if (score * score < t.score * t.score - NEARLY)
            continue;
        t.first = i < t.first ? i : t.first;
        t.last = i > t.last ? i : t.last;
    }
    return t;
}

void turns_find(const struct store_point *points, size_t len, double least, struct turns *out)
{
    struct arena scratch = {0};
    struct turns_work w = {.points = points, .len = len};
    struct turns_places found = {0};
    *out = (struct turns){0};
    if (len < 2)
        return;
    w.value = ARENA_NEW(&scratch, double, len);
    w.variance = ARENA_NEW(&scratch, double, len);
    w.weights = ARENA_NEW(&scratch, double, len + 1);
    w.sums = ARENA_NEW(&scratch, double, len + 1);
    w.runs = ARENA_NEW(&scratch, uint64_t, len + 1);
    for (size_t i = 0; i < len; i++)
        w.value[i] = points[i].value;
    out->noise = turns_noise(&w, ARENA_NEW(&scratch, double, len));
    for (size_t i = 0; i < len; i++) {
        double between = out->noise * w.value[i] / sqrt(points[i].runs);
        w.variance[i] = points[i].error * points[i].error + between * between;
        w.variance[i] = w.variance[i] > 0 ? w.variance[i] : 1e-18;
    }
    turns_draw_in(&w);
    for (size_t i = 0; i < len; i++) {
        w.weights[i + 1] = w.weights[i] + 1 / w.variance[i];
        w.sums[i + 1] = w.sums[i] + w.value[i] / w.variance[i];
        w.runs[i + 1] = w.runs[i] + points[i].runs;
    }
    /* The noise was estimated by a median, which is as sure as a third of the values would be;
     * where it was assumed, it is large enough. */
    w.far = student_quantile(ALPHA / 2, len < FEW_POINTS ? INFINITY : (double)len * 0.37);
    turns_segment(&w, &found);
    turns_settle(&w, least, &found);
    for (size_t i = 0; i < found.at.len; i++)
        vec_push(&out->at, turns_describe(&w, i ? found.at.at[i - 1] : 0, found.at.at[i],
                                          i + 1 < found.at.len ? found.at.at[i + 1] : len));
    vec_free(&found.at);
    arena_deinit(&scratch);
}
