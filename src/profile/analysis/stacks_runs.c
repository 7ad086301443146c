/* How sure the times of a mean run are: by what the runs of a series differ.
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
#include "profile/analysis/stacks.h"

#include "profile/analysis/compare/significance.h"

#include <math.h>

/* Of one function over the runs. */
struct moments {
    double sum, squares, by_total;
};

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
