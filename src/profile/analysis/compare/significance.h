/* Whether two measured shares differ by more than chance explains. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_SIGNIFICANCE_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_SIGNIFICANCE_H

#include <stdbool.h>
#include <stdint.h>

/* A share as one side measured it. */
struct measured_share {
    double share;   /* 0 to 1: of the samples of all runs together */
    double samples; /* of all runs, of equal weight */
    double spread;  /* variance of the share between runs; 0 if there is but one */
    uint32_t runs;
};

/* Fewer hits than these on both sides together prove nothing: the test's approximation needs
 * some on which to stand. */
enum { LEAST_HITS = 10 };

/* The probability that shares differ as much as these (by chance alone) in either direction. One
 * run a side: the two-proportion test with pooled variance. Several: Welch's, where a side's
 * variance is that between its runs, if that is more than what sampling alone explains. 1 if there
 * are too few samples to tell. */
double share_difference_chance(const struct measured_share *old, const struct measured_share *new);

/* The probability that `new` exceeds `old` as much as it does if the true growth is `allowed`
 * (in parts of 1) or less. */
double share_growth_chance(const struct measured_share *old, const struct measured_share *new,
                           double allowed);

/* Holm's correction of `len` probabilities for being the least of many, in place: so adjusted, one
 * below 1 - C is meant with confidence C for all of them together. */
void chances_adjust(double *chances, uint32_t len);

/* Student's t: the probability of a value above t; `freedom` of INFINITY is the normal law. */
double student_above(double t, double freedom);

#endif
