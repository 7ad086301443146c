/* Whether two measured amounts differ by more than chance explains; docs/comparing.md explains the
 * model.
 *
 * An amount (a function's seconds, a share, a run's CPU time) was measured in one or several runs
 * of each side. A run's value has an error from sampling, whose variance is known, and runs differ
 * besides: by a part of the amount that is alike for rows of one kind, the level. The level is
 * measured where a side has several runs, over all rows together, and each row's own spread moves
 * its variance away from what the level predicts by as much as rows are seen to differ in that
 * (Smyth, "Linear models and empirical Bayes methods", 2004). Where all sides have one run, the
 * level is assumed, and a printed verdict says so. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_SIGNIFICANCE_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What runs differ by depends on what is measured. */
enum noise_kind {
    NOISE_CODE,   /* code of the program and its libraries */
    NOISE_KERNEL, /* system calls, faults, interrupts, waits: what others do counts, too */
    NOISE_MEMORY, /* most memory of a process */
    NOISE_KINDS
};

/* An amount as one side measured it. */
struct amount {
    double mean;     /* of a run */
    double base;     /* what the differences between runs are a part of: a time itself; of a share
                        what it has in common with its rest */
    double sampling; /* variance of one run's value that sampling explains; 0: it was measured */
    double squares;  /* sum over the runs of squared deviations from the mean */
    double hits;     /* samples of all runs; INFINITY: it was not sampled */
    uint32_t runs;
};

/* How amounts differ from run to run, sampling apart. */
struct noise {
    double level[NOISE_KINDS];   /* standard deviation, as a part of the amount */
    double assumed[NOISE_KINDS]; /* the same where nothing is measured */
    double floor[NOISE_KINDS];   /* standard deviation that does not grow with the amount */
    double freedom;              /* degrees that rows alike lend to one row's variance */
    double level_freedom[NOISE_KINDS], level_weight[NOISE_KINDS]; /* of what the level was learnt */
    double scale;      /* typical ratio of a row's variance to what the level predicts */
    double confidence; /* of intervals, 0 to 1 */
};

/* Fewer hits than these on both sides together prove nothing: the test's approximation needs
 * some on which to stand. */
enum { LEAST_HITS = 10 };

/* What two runs of one program are taken to differ by, beyond sampling, where no side has several:
 * parts of the amount, which a difference exceeds in one of a hundred pairs. */
#define NOISE_OF_RUNS 0.15

/* When a change counts, unless the user knows better: not by chance with this probability, for all
 * rows together, and by this part of the old side's whole. */
#define CHANGE_CONFIDENCE 0.99
#define LEAST_CHANGE      0.01

/* `difference`: NOISE_OF_RUNS, or what the user knows better. */
void noise_assume(struct noise *n, double difference, double confidence);

/* A pair of amounts of which the level is learnt, and its kind. */
struct noise_pair {
    struct amount old, new;
    enum noise_kind kind;
};
/* Takes level, freedom and scale from pairs of which a side has several runs; without such, what
 * was assumed stays. */
void noise_learn(struct noise *n, const struct noise_pair *pairs, size_t len);

/* What a pair amounts to. */
struct difference {
    double change; /* new less old */
    double margin; /* of the interval around it, with the noise's confidence */
    struct standard_error {
        double error, freedom; /* degrees; INFINITY: known, or assumed */
    } by[3];
    int tests;     /* of several the best one speaks, and counts as often as there are */
    bool is_known; /* there were samples enough */
};
void difference_make(struct difference *d, const struct amount *old, const struct amount *new,
                     const struct noise *n, enum noise_kind kind);

/* One more test: `error` of the mean of the differences of `pairs` runs that were made side by
 * side. What changes from one pair to the next, as other load on the machine, is in neither. */
void difference_pair(struct difference *d, double error, uint32_t pairs, double confidence);

/* The probability that amounts differ as much by chance alone, in either direction. 1 if there are
 * too few samples to tell. */
double difference_chance(const struct difference *d);

/* The probability of a change as large as it is if the true one is `allowed` or less. */
double difference_growth_chance(const struct difference *d, double allowed);

/* Holm's correction of `len` probabilities for being the least of many, in place: so adjusted, one
 * below 1 - C is meant with confidence C for all of them together. */
void chances_adjust(double *chances, uint32_t len);

/* A share of samples as one run measured it: 0.5 hits are the variance of none. */
struct amount amount_of_share(double share, double samples);

/* Student's t: the probability of a value above t; `freedom` of INFINITY is the normal law. And the
 * value that is exceeded with a probability below 1/2. */
double student_above(double t, double freedom);
double student_quantile(double above, double freedom);

#endif
