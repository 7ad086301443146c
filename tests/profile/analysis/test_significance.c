/* Tests on amounts: against printed tables, tests worked out by hand, and sides drawn from laws
 * that are known: so many false alarms, and never less certainty from more runs. */
#include "cases.h"
#include "profile/analysis/compare/significance.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static void close_to(double value, double expected)
{
    assert_true(fabs(value - expected) < 5e-4);
}

/* Upper critical values as statistics books have them. */
CASE(student_table)
{
    close_to(student_above(6.314, 1), 0.05);
    close_to(student_above(2.920, 2), 0.05);
    close_to(student_above(2.228, 10), 0.025);
    close_to(student_above(2.750, 30), 0.005);
    close_to(student_above(1.960, INFINITY), 0.025);
    close_to(student_above(-2.228, 10), 0.975);
    close_to(student_above(0, 7), 0.5);
    close_to(student_quantile(0.05, 1), 6.3138);
    close_to(student_quantile(0.025, 10), 2.2281);
    close_to(student_quantile(0.005, INFINITY), 2.5758);
}

/* --- one run per side --------------------------------------------------------------------------
 */

static struct difference compared(const struct amount *old, const struct amount *new,
                                  double difference)
{
    struct noise n;
    struct difference d;
    noise_assume(&n, difference, 0.99);
    difference_make(&d, old, new, &n, NOISE_CODE);
    return d;
}

/* By hand: 0.02 / sqrt(0.5 * 0.5 / 1000 + 0.52 * 0.48 / 1000) = 0.8948, two-sided 0.3709. */
CASE(sampling_alone)
{
    struct amount old = amount_of_share(0.5, 1000), new = amount_of_share(0.52, 1000);
    struct difference d = compared(&old, &new, 0), back = compared(&new, &old, 0);
    close_to(difference_chance(&d), 0.3709);
    close_to(difference_chance(&back), 0.3709);
    close_to(d.margin, 2.5758 * 0.022352);
    struct difference same = compared(&old, &old, 0);
    assert_true(difference_chance(&same) == 1);
}

/* What a pair is assumed to differ by is where 99 % confidence begins. */
CASE(assumed_difference)
{
    struct amount old = {.mean = 1, .base = 1, .hits = INFINITY, .runs = 1}, new = old;
    new.mean = 1.0001;
    close_to(compared(&old, &new, 0.15).margin, 0.15);
    new.mean = 1.14;
    struct difference below = compared(&old, &new, 0.15);
    assert_true(difference_chance(&below) > 0.01);
    new.mean = 1.2;
    struct difference above = compared(&old, &new, 0.15);
    assert_true(difference_chance(&above) < 0.01);
    new.mean = 2;
    struct difference twice = compared(&old, &new, 0.15);
    assert_true(difference_chance(&twice) < 1e-9);
}

CASE(growth_beyond_what_is_allowed)
{
    struct amount old = amount_of_share(0.5, 1000), new = amount_of_share(0.6, 1000);
    struct difference d = compared(&old, &new, 0), back = compared(&new, &old, 0);
    assert_true(difference_growth_chance(&d, 0) < 1e-5);
    close_to(difference_growth_chance(&d, 0.1), 0.5);
    assert_true(difference_growth_chance(&d, 0.15) > 0.98);
    assert_true(difference_growth_chance(&back, 0) > 0.9999);
}

CASE(few_hits_prove_nothing)
{
    struct amount old = amount_of_share(0, 100), new = amount_of_share(0.09, 100), none = {0};
    struct difference few = compared(&old, &new, 0), no = compared(&none, &new, 0);
    assert_true(difference_chance(&few) == 1);
    assert_true(difference_chance(&no) == 1);
}

/* --- several runs ---------------------------------------------------------------------------- */

/* However little sampling says, a change within what runs differ by is none. */
CASE(spread_between_runs)
{
    struct amount old = {
        .mean = 0.50, .base = 0.5, .sampling = 1e-9, .squares = 0.02, .hits = 1e6, .runs = 3};
    struct amount new = old;
    new.mean = 0.55;
    struct difference d = compared(&old, &new, 0.15);
    assert_true(difference_chance(&d) > 0.5);
    old.squares = new.squares = 0;
    d = compared(&old, &new, 0.15);
    assert_true(difference_chance(&d) < 1e-9);
}

/* A generator whose numbers are the same everywhere; sums of twelve for the normal law. */
static double draw(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*seed >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Runs of a row whose values have these standard deviations of sampling and between runs. */
static struct amount drawn(uint64_t *seed, double mean, double sampling, double level,
                           uint32_t runs)
{
    struct amount m = {
        .base = mean, .sampling = sampling * sampling, .hits = INFINITY, .runs = runs};
    double values[64], squares = 0;
    for (uint32_t i = 0; i < runs; i++) {
        values[i] = mean * (1 + level * draw(seed)) + sampling * draw(seed);
        m.mean += values[i] / runs;
    }
    for (uint32_t i = 0; i < runs; i++)
        squares += (values[i] - m.mean) * (values[i] - m.mean);
    m.squares = squares;
    return m;
}

/* What the recorder adds to a peak is one constant within a series, and another in the next: runs
 * that agree say nothing of it. */
CASE(peaks_have_a_floor)
{
    struct amount old = {.mean = 1.60e6, .base = 1.60e6, .hits = INFINITY, .runs = 3}, new = old;
    struct noise n;
    struct difference d;
    new.mean = new.base = 1.47e6;
    noise_assume(&n, 0.15, 0.99);
    n.floor[NOISE_MEMORY] = 330e3 / 2.5758 / sqrt(2);
    difference_make(&d, &old, &new, &n, NOISE_MEMORY);
    assert_true(d.margin > 130e3);
}

enum { ROWS = 30 };

/* Rows of a program, the first of which is dearer by `growth`; chances of them all. */
static void program_chances(uint64_t *seed, uint32_t runs, double level, double growth,
                            double chances[ROWS])
{
    struct noise_pair pairs[ROWS];
    struct noise n;
    for (int i = 0; i < ROWS; i++) {
        double mean = 1.0 / (1 + i);
        pairs[i] = (struct noise_pair){
            .old = drawn(seed, mean, 0.02 * sqrt(mean), level, runs),
            .new = drawn(seed, i ? mean : mean * (1 + growth), 0.02 * sqrt(mean), level, runs)};
    }
    noise_assume(&n, 0.15, 0.99);
    noise_learn(&n, pairs, ROWS);
    for (int i = 0; i < ROWS; i++) {
        struct difference d;
        difference_make(&d, &pairs[i].old, &pairs[i].new, &n, pairs[i].kind);
        chances[i] = difference_chance(&d);
    }
}

/* A test at 1 % raises an alarm in at most 1 % of the cases: of 60,000 rows that did not change at
 * most 600 and four standard errors, whether runs differ little or much. */
CASE(false_alarms)
{
    static const double levels[] = {0, 0.02, 0.1};
    static const uint32_t runs[] = {2, 3, 5, 10};
    uint64_t seed = 1;
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
        for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            double chances[ROWS];
            int alarms = 0;
            for (int i = 0; i < 500; i++) {
                program_chances(&seed, runs[r], levels[l], 0, chances);
                for (int row = 0; row < ROWS; row++)
                    alarms += chances[row] < 0.01;
            }
            assert_in_range(alarms, 0, 150 + 4 * 13); /* of 15,000; s.d. 12.2 */
        }
}

static int by_size(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* The probability that the changed row has in the middle of many comparisons. */
static double middle_chance(uint32_t runs, double level, double growth)
{
    enum { TIMES = 101 };
    double of[TIMES], chances[ROWS];
    uint64_t seed = 7;
    for (int i = 0; i < TIMES; i++) {
        program_chances(&seed, runs, level, growth, chances);
        of[i] = chances[0];
    }
    qsort(of, TIMES, sizeof *of, by_size);
    return of[TIMES / 2];
}

/* Each run more makes a change that is there more certain. (Welch's test on the runs' values said
 * p = 0.03 of five runs a side where one pair had had 1e-5.) */
CASE(more_runs_are_more_certain)
{
    static const uint32_t runs[] = {1, 2, 3, 5, 10};
    static const double levels[] = {0, 0.01, 0.03};
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        double before = 1;
        for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            double chance = middle_chance(runs[r], levels[l], 0.25);
            assert_true(chance < before || chance < 1e-14);
            before = chance;
        }
        assert_true(before < 1e-9);
    }
}

/* One pair of a row alone says 1e-5; with the same values in five runs it must say less. */
CASE(five_runs_of_one_row)
{
    struct amount old = {.mean = 1, .base = 1, .sampling = 1e-4, .hits = INFINITY, .runs = 1},
                  new = old;
    new.mean = 1.27;
    struct difference one = compared(&old, &new, 0.15);
    assert_true(difference_chance(&one) < 1e-4);
    old.runs = new.runs = 5;
    old.squares = new.squares = 4 * 0.035 * 0.035;
    struct difference five = compared(&old, &new, 0.15);
    assert_true(difference_chance(&five) < difference_chance(&one) / 100);
}

/* Runs side by side, of which each pair was made under other load: the differences are what counts,
 * by Student's t with as many degrees as there are pairs less one. */
CASE(pairs)
{
    struct amount old = {.mean = 1,
                         .base = 1,
                         .squares = 5 * 0.3 * 0.3,
                         .hits = INFINITY,
                         .runs = 6},
                  new = old;
    new.mean = 1.1;
    struct difference d = compared(&old, &new, 0.15);
    assert_true(difference_chance(&d) > 0.3);
    difference_pair(&d, 0.01, 6, 0.99);
    assert_int_equal(d.tests, 2);
    close_to(d.margin, 0.01 * student_quantile(0.0025, 5));
    close_to(difference_chance(&d), 2 * 2 * student_above(10, 5));
    /* The best of several tests has the probability of all of them. */
    difference_pair(&d, 1, 6, 0.99);
    close_to(d.margin, 0.01 * student_quantile(0.01 / 6, 5));
}

CASE(holm)
{
    double chances[] = {0.03, 0.01, 0.04, 0.5};
    chances_adjust(chances, 4);
    close_to(chances[1], 0.04);
    close_to(chances[0], 0.09);
    close_to(chances[2], 0.09); /* 0.08, but not less than the one before */
    close_to(chances[3], 0.5);
}
