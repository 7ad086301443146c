/* Weights of young samples, against clocks whose lives are known: what the kernel does with a
 * period that was drawn is done here, for thousands of clocks. */
#include "record/perf/periods.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { NOMINAL = 1000000, CLOCKS = 400000 };

/* What the samples of many clocks of one length weigh, as a share of what they lived. */
static double weigh_lives(uint64_t length, uint64_t seed)
{
    struct periods p;
    double sum = 0;
    periods_init(&p, NOMINAL, seed);
    for (uint64_t clock = 1; clock <= CLOCKS; clock++) {
        uint64_t period = periods_draw(&p);
        bool is_young;
        for (uint64_t age = period; age <= length; age += period)
            sum += (double)periods_weigh(&p, clock, period, &is_young);
    }
    periods_deinit(&p);
    return sum / ((double)length * CLOCKS);
}

/* Whatever the length: also of lives in which no clock of the nominal period would tick. */
static void sums_are_right_on_average(void **state)
{
    static const uint64_t lengths[] = {400000,  700000,  1000000, 1700000,
                                       2600000, 5000000, 30000000};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        double share = weigh_lives(lengths[i], 12345 + i);
        if (fabs(share - 1) > 0.02)
            fail_msg("lives of %.1f ms weigh %.4f of what they are", (double)lengths[i] / 1e6,
                     share);
    }
}

static void draws_stay_within_their_bounds(void **state)
{
    struct periods p;
    uint64_t least = UINT64_MAX, most = 0;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    for (int i = 0; i < 100000; i++) {
        uint64_t drawn = periods_draw(&p);
        least = drawn < least ? drawn : least;
        most = drawn > most ? drawn : most;
    }
    assert_in_range(least, NOMINAL / 5, NOMINAL / 5 + NOMINAL / 1000);
    assert_in_range(most, NOMINAL * 5 / 2 - NOMINAL / 1000, NOMINAL * 5 / 2);
    periods_deinit(&p);
}

/* The first thread's clocks have the period that was asked for. */
static void clocks_that_were_not_drawn_weigh_their_period(void **state)
{
    struct periods p;
    bool is_young = true;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    assert_int_equal(periods_weigh(&p, 7, NOMINAL, &is_young), NOMINAL);
    assert_false(is_young);
    for (int i = 0; i < 10; i++) /* age 3 and older */
        periods_weigh(&p, 8, 300000, &is_young);
    assert_int_equal(periods_weigh(&p, 8, 300000, &is_young), 300000);
    assert_false(is_young);
    periods_deinit(&p);
}

/* Memory is bounded: clocks that were seen before the list was full are old from then on. */
static void many_clocks_are_forgotten(void **state)
{
    struct periods p;
    bool is_young;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    for (uint64_t clock = 1; clock <= 300000; clock++)
        periods_weigh(&p, clock, 500000, &is_young);
    assert_true(is_young);
    assert_in_range(p.clocks.len, 1, 100000);
    assert_int_equal(periods_weigh(&p, 5, 500000, &is_young), 500000);
    assert_false(is_young);
    periods_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right_on_average),
        cmocka_unit_test(draws_stay_within_their_bounds),
        cmocka_unit_test(clocks_that_were_not_drawn_weigh_their_period),
        cmocka_unit_test(many_clocks_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
