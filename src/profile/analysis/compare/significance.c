/* Tests on shares of samples. */
#include "profile/analysis/compare/significance.h"

#include "base/arena.h"
#include "base/sort.h"

#include <math.h>

/* --- Student's t ----------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's
 * method. It converges for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
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

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    int sign;
    double scale = lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
                   b * log1p(-x);
    if (x < (a + 1) / (a + b + 2))
        return exp(scale) * beta_fraction(a, b, x) / a;
    return 1 - exp(scale) * beta_fraction(b, a, 1 - x) / b;
}

double student_above(double t, double freedom)
{
    if (isinf(t))
        return t < 0;
    if (isinf(freedom))
        return erfc(t / M_SQRT2) / 2;
    double tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
    return t < 0 ? 1 - tail : tail;
}

/* --- shares ---------------------------------------------------------------------------------- */

static bool has_enough(const struct measured_share *old, const struct measured_share *new)
{
    return old->samples > 0 && new->samples > 0 &&
           old->share * old->samples + new->share *new->samples >= LEAST_HITS;
}

/* The variance of a side's share, and with how many degrees of freedom it is known. A share of
 * nothing at all has no variance of its own: it is taken to have half a hit. */
static double share_variance(const struct measured_share *s, double *freedom)
{
    double p = s->share, half = 0.5 / (s->samples + 1);
    p = p < half ? half : p > 1 - half ? 1 - half : p;
    double sampling = p * (1 - p) / s->samples;
    double between = s->runs > 1 ? s->spread / s->runs : 0;
    *freedom = between > sampling ? s->runs - 1 : INFINITY;
    return between > sampling ? between : sampling;
}

/* Welch and Satterthwaite. */
static double welch_above(const struct measured_share *old, const struct measured_share *new,
                          double difference)
{
    double old_freedom, new_freedom;
    double o = share_variance(old, &old_freedom), n = share_variance(new, &new_freedom);
    double freedom =
        (o + n) * (o + n) / (o * o / old_freedom + n * n / new_freedom); /* x / INFINITY is 0 */
    return student_above(difference / sqrt(o + n), freedom);
}

double share_difference_chance(const struct measured_share *old, const struct measured_share *new)
{
    double difference = fabs(new->share - old->share);
    if (!has_enough(old, new) || difference == 0)
        return 1;
    if (old->runs > 1 || new->runs > 1)
        return fmin(1, 2 * welch_above(old, new, difference));
    double p =
        (old->share * old->samples + new->share *new->samples) / (old->samples + new->samples);
    double deviation = sqrt(p * (1 - p) * (1 / old->samples + 1 / new->samples));
    return deviation > 0 ? fmin(1, 2 * student_above(difference / deviation, INFINITY)) : 1;
}

double share_growth_chance(const struct measured_share *old, const struct measured_share *new,
                           double allowed)
{
    if (!has_enough(old, new))
        return 1;
    return welch_above(old, new, new->share - old->share - allowed);
}

/* --- many at once ---------------------------------------------------------------------------- */

static int by_chance(uint32_t left, uint32_t right, const void *context)
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
    sort_u32(order, len, by_chance, chances);
    double least = 0;
    for (uint32_t i = 0; i < len; i++) {
        least = fmax(least, fmin(1, chances[order[i]] * (len - i)));
        chances[order[i]] = least;
    }
    arena_deinit(&scratch);
}
