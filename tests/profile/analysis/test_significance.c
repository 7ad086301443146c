/* Tests on shares: against printed tables and a two-proportion test worked out by hand. */
#include "profile/analysis/compare/significance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void close_to(double value, double expected)
{
    assert_true(fabs(value - expected) < 5e-4);
}

/* Upper critical values as statistics books have them. */
static void student_table(void **state)
{
    (void)state;
    close_to(student_above(6.314, 1), 0.05);
    close_to(student_above(2.920, 2), 0.05);
    close_to(student_above(2.228, 10), 0.025);
    close_to(student_above(2.750, 30), 0.005);
    close_to(student_above(1.960, INFINITY), 0.025);
    close_to(student_above(-2.228, 10), 0.975);
    close_to(student_above(0, 7), 0.5);
}

static void two_proportions(void **state)
{
    (void)state;
    struct measured_share old = {0.5, 1000, 0, 1}, new = {0.52, 1000, 0, 1};
    close_to(share_difference_chance(&old, &new), 0.371);
    close_to(share_difference_chance(&new, &old), 0.371);
    assert_true(share_difference_chance(&old, &old) == 1);
}

static void growth_beyond_what_is_allowed(void **state)
{
    (void)state;
    struct measured_share old = {0.5, 1000, 0, 1}, new = {0.6, 1000, 0, 1};
    assert_true(share_growth_chance(&old, &new, 0) < 1e-5);
    close_to(share_growth_chance(&old, &new, 0.1), 0.5);
    assert_true(share_growth_chance(&old, &new, 0.15) > 0.98);
    assert_true(share_growth_chance(&new, &old, 0) > 0.9999);
}

static void few_hits_prove_nothing(void **state)
{
    (void)state;
    struct measured_share old = {0, 100, 0, 1}, new = {0.09, 100, 0, 1};
    assert_true(share_difference_chance(&old, &new) == 1);
    struct measured_share none = {0};
    assert_true(share_difference_chance(&none, &new) == 1);
}

/* However many samples there are, a change within what runs differ by is none. */
static void spread_between_runs(void **state)
{
    (void)state;
    struct measured_share old = {0.50, 1e6, 0.01, 3}, new = {0.55, 1e6, 0.01, 3};
    assert_true(share_difference_chance(&old, &new) > 0.5);
    old.spread = new.spread = 0;
    assert_true(share_difference_chance(&old, &new) < 1e-9);
}

static void holm(void **state)
{
    (void)state;
    double chances[] = {0.03, 0.01, 0.04, 0.5};
    chances_adjust(chances, 4);
    close_to(chances[1], 0.04);
    close_to(chances[0], 0.09);
    close_to(chances[2], 0.09); /* 0.08, but not less than the one before */
    close_to(chances[3], 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_table),
        cmocka_unit_test(two_proportions),
        cmocka_unit_test(growth_beyond_what_is_allowed),
        cmocka_unit_test(few_hits_prove_nothing),
        cmocka_unit_test(spread_between_runs),
        cmocka_unit_test(holm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
