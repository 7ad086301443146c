/* How sure the times of a run's functions are: the standard error that sampling alone leaves.
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
 * Where code alternates within strata, this is the binomial variance of the actual weights; phases
 * that last longer than strata narrow it. Threads with fewer samples share strata with others of
 * their kind from the same time. A function that was hit gets the variance of one sample more:
 * where it begins and ends may lie between strata, unseen by this rule.
 *
 * What has an exact length (waits) is no sample: its error is none. Cost: each sample's depth. */
#include "profile/analysis/recording/stacks.h"

#include "base/sort.h"
#include "profile/analysis/compare/significance.h"

#include <math.h>

enum { LEAST = 4 };

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

/* What the rows of one stratum say of functions: of those that were hit, or of all on the stack. */
struct hits {
    struct function_hits *of; /* per function */
    uint32_t *touched, len;
    double *variance; /* per function, of all strata */
    double *greatest; /* mean square of the heaviest sample of each function */
};

/* Nothing was hit yet; the variances outlive the scratch. */
static void hits_init(struct hits *h, uint32_t functions, struct arena *a, struct arena *scratch)
{
    *h = (struct hits){.of = ARENA_NEW(scratch, struct function_hits, functions),
                       .touched = ARENA_NEW(scratch, uint32_t, functions),
                       .variance = ARENA_NEW(a, double, functions),
                       .greatest = ARENA_NEW(scratch, double, functions)};
}

/* Books a row on a function, once. */
static void hits_add(struct hits *h, uint32_t function, const struct row *r, uint32_t row,
                     uint32_t stratum)
{
    struct function_hits *of = &h->of[function];
    if (of->row == row + 1)
        return;
    if (of->stratum != stratum + 1) {
        *of = (struct function_hits){.stratum = stratum + 1};
        h->touched[h->len++] = function;
    }
    of->row = row + 1;
    of->weight += r->weight;
    of->squares += r->squares;
    h->greatest[function] = fmax(h->greatest[function], r->squares / r->count);
}

/* Whom a sample at the node hit. */
static uint32_t innermost_function(const struct space *s, const struct call_frames *frames,
                                   uint32_t node)
{
    uint32_t place = frames ? frames->place[node] : 0;
    bool has_frames = frames && frames->start[place] < frames->start[place + 1];
    return has_frames ? frames->frame[frames->start[place + 1] - 1] : space_function_of(s, node);
}

/* What the squares of differences from the mean of a stratum are multiplied with, so that they are
 * right on average: p is of the same samples, and the heavier one is, the nearer is p to it. With
 * v = w / sum of w, the expectation of (x - p)^2 is p (1 - p) (1 - 2 v + sum of v^2). For equal
 * weights this is n / (n - 1). */
static double stratum_factor(const struct row *all)
{
    enum { MOST = 8 }; /* of strata that are one sample, nearly */
    double left = 1 - 2 * all->cubes / (all->squares * all->weight) +
                  all->squares / (all->weight * all->weight);
    return left > 1.0 / MOST ? 1 / left : MOST;
}

/* Sum of w^2 (x - p)^2, where x is 1 for the samples of the function and 0 for all others. */
static void hits_end_stratum(struct hits *h, const struct row *all)
{
    double factor = all->count > 1 && all->squares > 0 ? stratum_factor(all) : 0;
    for (uint32_t i = 0; i < h->len; i++) {
        const struct function_hits *of = &h->of[h->touched[i]];
        double p = all->weight > 0 ? fmin(1, of->weight / all->weight) : 1;
        double sum = of->squares * (1 - 2 * p) + p * p * all->squares;
        if (p < 1 && sum > 0)
            h->variance[h->touched[i]] += sum * factor;
    }
    h->len = 0;
}

/* From variances to standard errors, with one sample more of each function that was hit. */
static void hits_finish(struct hits *h, uint32_t functions)
{
    for (uint32_t i = 0; i < functions; i++)
        h->variance[i] = sqrt(h->variance[i] + h->greatest[i]);
}

/* --- strata ---------------------------------------------------------------------------------- */

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
    for (uint32_t i = 0; i < len; i++) {
        const struct recording_sample *sample = &r->samples.at[rows[i].item];
        uint64_t thread = count[sample->thread] < LEAST ? RECORDING_NONE : sample->thread;
        rows[i].key = thread << 32 | sample->slice;
    }
    sort_keyed(rows, len);
    hits_init(&self, f->len, a, &scratch);
    hits_init(&inclusive, f->len, a, &scratch);
    for (uint32_t start = 0, end; start < len; start = end, stratum++) {
        struct row all = {0};
        end = stratum_end(r, rows, len, start);
        for (uint32_t i = start; i < end; i++) {
            const struct recording_sample *sample = &r->samples.at[rows[i].item];
            double weight = (double)sample->weight / (period > 0 ? period : 1);
            struct row row = {sample->node, sample->count, weight, weight * weight / sample->count,
                              weight * weight * weight / sample->count / sample->count};
            all.count += row.count;
            all.weight += row.weight;
            all.squares += row.squares;
            all.cubes += row.cubes;
            uint32_t leaf = innermost_function(s, frames, row.node);
            if (leaf != NO_FUNCTION && !space_is_cut(s, row.node))
                hits_add(&self, leaf, &row, i, stratum);
            for (uint32_t node = row.node; node != RECORDING_ROOT;
                 node = r->nodes.at[node].parent) {
                /* All functions that a node stands for. */
                uint32_t place = frames ? frames->place[node] : 0;
                if (space_function_of(s, node) == NO_FUNCTION)
                    continue;
                hits_add(&inclusive, space_function_of(s, node), &row, i, stratum);
                for (uint32_t k = frames ? frames->start[place] + 1 : 0;
                     frames && k < frames->start[place + 1]; k++)
                    hits_add(&inclusive, frames->frame[k], &row, i, stratum);
            }
        }
        hits_end_stratum(&self, &all);
        hits_end_stratum(&inclusive, &all);
    }
    hits_finish(&self, f->len);
    hits_finish(&inclusive, f->len);
    t->self_error = self.variance;
    t->inclusive_error = inclusive.variance;
    arena_deinit(&scratch);
}

/* --- runs of a series ---
 *
 * How sure the times of a mean run are: by what the runs of a series differ.
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
 * never less than the error by sampling. Cost: the runs' samples once more for each run. */

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
