/* Samples are booked on functions by bytes, and none is lost. */
#include "cases.h"
#include "profile/analysis/toy.h"

static double attributed(const struct toy *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < b->functions.len; i++)
        sum += b->time.self[i];
    return sum;
}

CASE(test_finds_functions)
{
    struct toy b = {0};
    toy_functions(&b, 1000, 12);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(functions_find(&b.functions, address_of(i)), i);
        assert_int_equal(functions_find(&b.functions, address_of(i) + 11), i);
        assert_int_equal(functions_find(&b.functions, address_of(i) + 12), NO_FUNCTION);
    }
    assert_int_equal(functions_find(&b.functions, FIRST - 1), NO_FUNCTION);
    assert_int_equal(functions_find(&b.functions, UINT64_MAX), NO_FUNCTION);
    toy_deinit(&b);
}

CASE(test_splits_by_bytes)
{
    struct toy b = {0};
    toy_functions(&b, 2, 16);
    struct histogram *h = toy_histogram(&b, FIRST + 12, FIRST + 28, 1);
    histogram_add(h, 0, 16);
    toy_analyse(&b);
    assert_close(b.time.self[0], 4);
    assert_close(b.time.self[1], 12);
    assert_close(b.time.unattributed, 0);
    toy_deinit(&b);
}

/* A bin that begins at a function's last byte, and one that ends at its first. */
CASE(test_single_bytes)
{
    struct toy b = {0};
    toy_functions(&b, 2, 16);
    histogram_add(toy_histogram(&b, FIRST + 15, FIRST + 19, 1), 0, 16);
    histogram_add(toy_histogram(&b, FIRST + 29, FIRST + 33, 1), 0, 12);
    histogram_add(toy_histogram(&b, FIRST - 3, FIRST + 1, 1), 0, 5);
    toy_analyse(&b);
    assert_close(b.time.self[0], 4 + 5);
    assert_close(b.time.self[1], 12 + 12);
    assert_close(b.time.unattributed, 0);
    toy_deinit(&b);
}

/* glibc divides ranges into bins that begin between two addresses; the bin [15.97, 19.96) of this
 * one holds addresses 16 to 19. */
CASE(test_fractional_bins)
{
    struct toy b = {0};
    toy_functions(&b, 100, 1);
    struct histogram *h = toy_histogram(&b, FIRST, FIRST + 1597, 400);
    histogram_add(h, 4, 1);
    toy_analyse(&b);
    assert_close(b.time.self[1], 1);
    assert_close(b.time.unattributed, 0);
    toy_deinit(&b);
}

CASE(test_gaps_are_unattributed)
{
    struct toy b = {0};
    toy_functions(&b, 4, 8);
    struct histogram *h = toy_histogram(&b, FIRST - 64, FIRST + 128, 24); /* 8 bytes a bin */
    for (uint32_t i = 0; i < 24; i++)
        histogram_add(h, i, 3);
    toy_analyse(&b);
    for (uint32_t i = 0; i < 4; i++)
        assert_close(b.time.self[i], 3);
    assert_close(b.time.unattributed, 3 * 20);
    assert_close(b.time.total, 3 * 24);
    toy_deinit(&b);
}

/* Any bins over any functions; several ranges; counters near the end of 64 bits' exact doubles. */
CASE(test_nothing_is_lost)
{
    uint64_t seed = 1;
    for (int round = 0; round < 200; round++) {
        struct toy b = {0};
        toy_functions(&b, 1 + next_random(&seed) % 50, 1 + next_random(&seed) % 16);
        for (int k = 0; k < 3; k++) {
            uint64_t low = FIRST - 100 + next_random(&seed) % 600;
            uint32_t bins = 1 + next_random(&seed) % 300;
            struct histogram *h = toy_histogram(&b, low, low + 1 + next_random(&seed) % 900, bins);
            for (uint32_t i = 0; i < bins; i++)
                histogram_add(h, i, next_random(&seed) % 5 ? 0 : next_random(&seed) % 100000);
        }
        toy_analyse(&b);
        assert_close(b.time.total, (double)profile_samples(&b.profile));
        assert_close(attributed(&b) + b.time.unattributed, b.time.total);
        toy_deinit(&b);
    }
}

CASE(test_empty)
{
    struct toy b = {0};
    toy_functions(&b, 0, 16);
    struct histogram *h = toy_histogram(&b, FIRST, FIRST + 64, 8);
    histogram_add(h, 3, 9);
    toy_call(&b, 1, 2, 3);
    toy_analyse(&b);
    assert_close(b.time.unattributed, 9);
    assert_int_equal(b.summary.unknown_callees, 3);
    toy_deinit(&b);
}

CASE(test_interval)
{
    struct interval half = share_interval(50, 100), none = share_interval(0, 100),
                    all = share_interval(100, 100), nothing = share_interval(0, 0);
    assert_true(fabs(half.low - 0.4038) < 1e-4 && fabs(half.high - 0.5962) < 1e-4);
    assert_true(none.low == 0 && fabs(none.high - 0.0370) < 1e-4);
    assert_true(fabs(all.low - 0.9630) < 1e-4 && all.high == 1);
    assert_true(nothing.low == 0 && nothing.high == 1);
}
