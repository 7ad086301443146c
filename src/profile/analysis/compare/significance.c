/* Tests on amounts that were measured in one or several runs; significance.h and docs/comparing.md
 * explain the model. In the order of this file:
 *
 *   - Student's t by the incomplete beta function (Abramowitz and Stegun 26.5, 26.7);
 *   - the level of noise, learnt from all rows together, and how much rows differ in it (Smyth,
 * "Linear models and empirical Bayes methods for assessing differential expression in microarray
 * experiments", 2004);
 *   - one pair: Welch's difference of two means ("The generalization of 'Student's' problem when
 * several different population variances are involved", 1947), its variances moderated by the
 * level;
 *   - many pairs at once (Holm, "A simple sequentially rejective multiple test procedure", 1979).
 */
#include "profile/analysis/compare/significance.h"

#include "base/arena.h"
#include "base/sort.h"

#include <math.h>

/* --- Student's t ----------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's
 * method. It converges for x < (a + 1) / (a + b + 2). */
static double significance_beta_fraction(double a, double b, double x)
{
    enum { MOST_TERMS = 300 };
    const double TINY = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double value = d;
    for (int m = 1; m <= MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            c = fabs(c) < TINY ? TINY : c;
            value *= d * c;
        }
        if (fabs(d * c - 1) < 1e-14)
            break;
    }
    return value;
}

/* The regularised incomplete beta function I_x(a, b), by whichever fraction converges. */
static double significance_incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    int sign;
    double scale = lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
                   b * log1p(-x);
    if (x < (a + 1) / (a + b + 2))
        return exp(scale) * significance_beta_fraction(a, b, x) / a;
    return 1 - exp(scale) * significance_beta_fraction(b, a, 1 - x) / b;
}

double student_above(double t, double freedom)
{
    if (isinf(t))
        return t < 0;
    if (freedom > 1e6)
        return erfc(t / M_SQRT2) / 2;
    double tail = significance_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
    return t < 0 ? 1 - tail : tail;
}

/* By halving: the law is monotonic, and a hundred evaluations are nothing beside reading a file. */
double student_quantile(double above, double freedom)
{
    double low = 0, high = 1;
    while (student_above(high, freedom) > above && high < 1e12)
        high *= 2;
    for (int i = 0; i < 100 && high - low > 1e-9 * high; i++) {
        double middle = (low + high) / 2;
        *(student_above(middle, freedom) > above ? &low : &high) = middle;
    }
    return high;
}

/* --- what runs differ by --------------------------------------------------------------------- */

/* A difference of two runs with this probability below it is where the assumption ends. */
#define ASSUMED_CONFIDENCE 0.99

/* Faults and interrupts of one program were seen to differ by 13 to 37 % from run to run, code by
 * 3 to 5 %: what the machine's host, the page cache and other programs do lands there. Most memory
 * is nearly the program's own matter. Seconds: the accounts' ticks, and what starting costs. */
void noise_assume(struct noise *n, double difference, double confidence)
{
    double level =
        difference / (student_quantile((1 - ASSUMED_CONFIDENCE) / 2, INFINITY) * M_SQRT2);
    *n = (struct noise){.assumed = {[NOISE_CODE] = level,
                                    [NOISE_KERNEL] = fmin(10 * level, 0.4),
                                    [NOISE_MEMORY] = level / 2},
                        .scale = 1,
                        .confidence = confidence};
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        n->level[kind] = n->assumed[kind];
}

/* The variance of one run's value, by a level. */
static double significance_amount_variance(const struct amount *m, double level, double floor)
{
    return m->sampling + level * level * m->base * m->base + floor * floor;
}

/* Degrees of freedom that the runs of a pair have themselves. */
static double significance_pair_freedom(const struct amount *old, const struct amount *new)
{
    return (old->runs ? old->runs - 1 : 0) + (new->runs ? new->runs - 1 : 0);
}

/* The pair's own variance, in parts of what the level predicts for it. */
static double significance_pair_ratio(const struct amount *old, const struct amount *new,
                                      double level, double floor)
{
    double o = significance_amount_variance(old, level, floor),
           n = significance_amount_variance(new, level, floor);
    double freedom = significance_pair_freedom(old, new);
    return ((o > 0 ? old->squares / o : 0) + (n > 0 ? new->squares / n : 0)) / freedom;
}

/* The level from the excess of squares over what sampling explains: E[squares] of a side is
 * (runs - 1)(sampling + level^2 base^2). */
static void significance_noise_learn_level(struct noise *n, const struct noise_pair *pairs,
                                           size_t len, enum noise_kind kind)
{
    double excess = 0, weight = 0, fourth = 0;
    for (size_t i = 0; i < len; i++) {
        if (pairs[i].kind != kind)
            continue;
        const struct amount *sides[] = {&pairs[i].old, &pairs[i].new};
        for (int side = 0; side < 2; side++) {
            const struct amount *m = sides[side];
            double freedom = m->runs ? m->runs - 1 : 0;
            excess += m->squares - freedom * m->sampling;
            double square = m->base * m->base;
            weight += freedom * square;
            fourth += freedom * square * square;
        }
    }
    if (!(weight > 0))
        return;
    n->level[kind] = sqrt(fmax(0, excess / weight));
    n->level_weight[kind] = weight;
    n->level_freedom[kind] = weight * weight / fourth;
}

/* psi'(x), psi(x): upwards by recurrence, then the asymptotic series (Abramowitz and Stegun 6.4.12,
 * 6.3.18). */
static double significance_trigamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum += 1 / (x * x);
    double y = 1 / (x * x);
    return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y / 30)));
}

static double significance_digamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    double y = 1 / (x * x);
    return sum + log(x) - 1 / (2 * x) - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

/* Rows with fewer hits in a run have squares whose logarithm says more of rounding than of runs. */
enum { LEAST_RUN_HITS = 5, LEAST_ROWS = 4 };

static bool significance_pair_tells_scale(const struct noise_pair *p)
{
    double runs = p->old.runs + p->new.runs;
    return significance_pair_freedom(&p->old, &p->new) > 0 &&
           p->old.hits + p->new.hits >= LEAST_RUN_HITS *runs && p->old.squares + p->new.squares > 0;
}

/* Fits a scaled F law to the ratios by the moments of their logarithms (Smyth 2004, section 6.2):
 * all rows have one freedom of their own. */
static void significance_noise_learn_scale(struct noise *n, const struct noise_pair *pairs,
                                           size_t len)
{
    double sum = 0, squares = 0, own = 0;
    size_t rows = 0;
    for (size_t i = 0; i < len; i++) {
        const struct noise_pair *p = &pairs[i];
        if (!significance_pair_tells_scale(p))
            continue;
        double ratio =
            significance_pair_ratio(&p->old, &p->new, n->level[p->kind], n->floor[p->kind]);
        own = significance_pair_freedom(&p->old, &p->new);
        double e = log(fmax(ratio, 1e-6)) - significance_digamma(own / 2) + log(own / 2);
        sum += e;
        squares += e * e;
        rows++;
    }
    n->freedom = 0;
    n->scale = 1;
    if (rows < LEAST_ROWS)
        return;
    /* Scatter of the logarithms beyond what the freedom of the ratios explains is the rows' own. */
    double mean = sum / (double)rows;
    double excess = (squares - mean * sum) / (double)(rows - 1) - significance_trigamma(own / 2);
    if (excess <= 0) {
        n->freedom = 1e4;
        n->scale = exp(mean);
        return;
    }
    /* Of the rows' own law: the value whose trigamma is the excess, by halving on a logarithmic
     * scale. */
    double low = 1e-4, half = 1e8;
    for (int i = 0; i < 200 && half > low * (1 + 1e-9); i++) {
        double middle = sqrt(low * half);
        *(significance_trigamma(middle) > excess ? &low : &half) = middle;
    }
    n->freedom = 2 * half;
    n->scale = exp(mean + significance_digamma(half) - log(half));
}

void noise_learn(struct noise *n, const struct noise_pair *pairs, size_t len)
{
    double most = 0;
    for (size_t i = 0; i < len; i++)
        most = fmax(most, significance_pair_freedom(&pairs[i].old, &pairs[i].new));
    if (!(most > 0))
        return;
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        significance_noise_learn_level(n, pairs, len, (enum noise_kind)kind);
    significance_noise_learn_scale(n, pairs, len);
}

/* --- one pair -------------------------------------------------------------------------------- */

/* Of a side's mean: never less than what sampling alone leaves. */
static double significance_side_error_squared(const struct amount *m, double variance)
{
    return m->runs ? fmax(variance, m->sampling) / m->runs : 0;
}

/* The degrees of freedom that other rows lend to this one: as many as rows are alike, no more than
 * the level is known with as far as the variance is the level's, and none for the part of the level
 * that was learnt of this row itself. */
static double significance_lent_freedom(const struct amount *old, const struct amount *new,
                                        const struct noise *n, enum noise_kind kind)
{
    double level = n->level[kind], squares = old->base * old->base + new->base *new->base;
    double all = old->sampling + new->sampling + level *level *squares;
    double of_level = level * level * squares;
    double own = (old->runs ? old->runs - 1 : 0) * old->base * old->base +
                 (new->runs ? new->runs - 1 : 0) * new->base *new->base;
    if (!(n->freedom > 0) || !(n->level_weight[kind] > 0))
        return 0;
    /* Degrees of freedom of a sum of variances add up as Satterthwaite has it: by the squares of
     * their parts. */
    double unsure = 1 / n->freedom;
    if (all > 0)
        unsure += of_level * of_level / (all * all) / n->level_freedom[kind];
    return fmax(0, 1 - own / n->level_weight[kind] * (all > 0 ? of_level / all : 0)) / unsure;
}

/* Variances as the level predicts them, moved towards the row's own by its part of the degrees of
 * freedom. */
static struct standard_error significance_error_measured(const struct amount *old,
                                                         const struct amount *new,
                                                         const struct noise *n,
                                                         enum noise_kind kind)
{
    double own = significance_pair_freedom(old, new),
           lent = significance_lent_freedom(old, new, n, kind);
    double level = n->level[kind], floor = n->floor[kind];
    double ratio = significance_pair_ratio(old, new, level, floor);
    double factor = (lent * n->scale + own * ratio) / (lent + own);
    double o = significance_side_error_squared(
        old, factor * significance_amount_variance(old, level, floor));
    double w = significance_side_error_squared(
        new, factor * significance_amount_variance(new, level, floor));
    /* The recorder's part of small peaks is one constant in a series, and another in the next. */
    double constant = kind == NOISE_MEMORY ? floor * floor : 0;
    return (struct standard_error){sqrt(o + w + 2 * constant), own + lent};
}

/* The narrowest interval, each with its part of what all may miss. */
static void significance_margin(struct difference *d, double confidence)
{
    double above = (1 - confidence) / 2 / d->tests;
    d->margin = INFINITY;
    for (int i = 0; i < d->tests; i++)
        d->margin = fmin(d->margin, d->by[i].error * student_quantile(above, d->by[i].freedom));
}

/* Few runs know their spread badly, so that three could say less than one of which it is assumed.
 * As long as they do not differ by more than was assumed, the assumption may therefore speak as
 * well; that there are two tests to choose from doubles the probability of the better one. */
void difference_make(struct difference *d, const struct amount *old, const struct amount *new,
                     const struct noise *n, enum noise_kind kind)
{
    *d = (struct difference){.change = new->mean - old->mean,
                             .is_known =
                                 old->runs &&new->runs && old->hits + new->hits >= LEAST_HITS};
    bool has_spread = significance_pair_freedom(old, new) > 0;
    if (has_spread)
        d->by[d->tests++] = significance_error_measured(old, new, n, kind);
    if (!has_spread || (n->level[kind] <= n->assumed[kind] &&
                        significance_pair_ratio(old, new, n->assumed[kind], n->floor[kind]) <= 1)) {
        double level = n->assumed[kind], floor = n->floor[kind];
        double o =
            significance_side_error_squared(old, significance_amount_variance(old, level, floor));
        double w =
            significance_side_error_squared(new, significance_amount_variance(new, level, floor));
        d->by[d->tests++] = (struct standard_error){sqrt(o + w), INFINITY};
    }
    significance_margin(d, n->confidence);
}

void difference_pair(struct difference *d, double error, uint32_t pairs, double confidence)
{
    d->by[d->tests++] = (struct standard_error){error, pairs - 1};
    significance_margin(d, confidence);
}

/* The probability of more than `beyond` by chance, upwards: of several tests the best one, counted
 * as often as there are. */
static double significance_difference_above(const struct difference *d, double beyond)
{
    double least = 1;
    for (int i = 0; i < d->tests; i++) {
        const struct standard_error *by = &d->by[i];
        least = fmin(least, by->error > 0 ? student_above(beyond / by->error, by->freedom)
                            : beyond > 0  ? 0
                                          : 1);
    }
    return fmin(1, d->tests * least);
}

double difference_chance(const struct difference *d)
{
    if (!d->is_known || d->change == 0)
        return 1;
    return fmin(1, 2 * significance_difference_above(d, fabs(d->change)));
}

double difference_growth_chance(const struct difference *d, double allowed)
{
    return d->is_known ? significance_difference_above(d, d->change - allowed) : 1;
}

struct amount amount_of_share(double share, double samples)
{
    double half = 0.5 / (samples + 1);
    double p = share < half ? half : share > 1 - half ? 1 - half : share;
    return (struct amount){.mean = share,
                           .base = share * (1 - share),
                           .sampling = samples > 0 ? p * (1 - p) / samples : 1,
                           .hits = share * samples,
                           .runs = samples > 0};
}

/* --- many at once ---------------------------------------------------------------------------- */

static int significance_by_chance(uint32_t left, uint32_t right, const void *context)
{
    const double *chances = context;
    return (chances[left] > chances[right]) - (chances[left] < chances[right]);
}

void chances_adjust(double *chances, uint32_t len)
{
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    for (uint32_t i = 0; i < len; i++)
        order[i] = i;
    sort_u32(order, len, significance_by_chance, chances);
    /* The least probability times all, the next times all but one, and so on; never less than the
     * one before. */
    double least = 0;
    for (uint32_t i = 0; i < len; i++) {
        least = fmax(least, fmin(1, chances[order[i]] * (len - i)));
        chances[order[i]] = least;
    }
    arena_deinit(&scratch);
}
