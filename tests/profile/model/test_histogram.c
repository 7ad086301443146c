/* Counters grow where a sum needs it, saturate at the very end, and add up the same whatever widths
 * are mixed. */
#include "cases.h"
#include "profile/model/profile.h"

#include <string.h>

static struct histogram histogram_of(uint32_t bins, uint8_t width)
{
    struct histogram h = {.high = 4 * (uint64_t)bins, .bins = bins, .width = width};
    histogram_alloc(&h);
    return h;
}

CASE(test_counters_grow)
{
    struct histogram h = histogram_of(3, 0);
    assert_int_equal(h.width, 2);
    histogram_add(&h, 1, 65535);
    assert_int_equal(h.width, 2);
    histogram_add(&h, 1, 1);
    assert_int_equal(h.width, 4);
    histogram_add(&h, 2, UINT64_C(1) << 40);
    assert_int_equal(h.width, 8);
    assert_true(histogram_get(&h, 0) == 0);
    assert_true(histogram_get(&h, 1) == 65536);
    assert_true(histogram_get(&h, 2) == UINT64_C(1) << 40);
    assert_true(histogram_total(&h) == (UINT64_C(1) << 40) + 65536);
    assert_true(histogram_peak(&h) == UINT64_C(1) << 40);
    histogram_add(&h, 2, UINT64_MAX);
    assert_true(histogram_get(&h, 2) == UINT64_MAX);
    assert_true(histogram_total(&h) == UINT64_MAX);
    histogram_deinit(&h);
}

/* What each pair of widths sums to, against additions one by one. The values overflow in one bin
 * far from the start, so that some blocks are added before the counters grow. */
static void check_widths(uint8_t into_width, uint8_t from_width)
{
    enum { BINS = 10007, FULL = 9000 };
    struct histogram into = histogram_of(BINS, into_width), from = histogram_of(BINS, from_width);
    uint64_t most_into = UINT64_MAX >> (64 - 8 * into_width);
    uint64_t most_from = UINT64_MAX >> (64 - 8 * from_width);
    for (uint32_t i = 0; i < BINS; i++) {
        histogram_add(&into, i, i % 251);
        histogram_add(&from, i, i % 241);
    }
    histogram_add(&into, FULL, most_into - histogram_get(&into, FULL));
    histogram_add(&from, FULL, most_from - histogram_get(&from, FULL));
    histogram_add_all(&into, &from);
    for (uint32_t i = 0; i < BINS; i++)
        assert_true(histogram_get(&into, i) ==
                    (i == FULL ? add_saturating(most_into, most_from) : i % 251 + i % 241));
    histogram_deinit(&into);
    histogram_deinit(&from);
}

/* A sum in which nothing overflows, of the first bins of longer tables: no other bin is touched. */
static void check_part(uint8_t into_width, uint8_t from_width)
{
    enum { BINS = 256, PART = 64 };
    struct histogram into = histogram_of(BINS, into_width), from = histogram_of(BINS, from_width);
    for (uint32_t i = 0; i < BINS; i++) {
        histogram_add(&into, i, i % 5);
        histogram_add(&from, i, i % 7);
    }
    histogram_widen(&into, from_width);
    into.bins = from.bins = PART;
    histogram_add_all(&into, &from);
    for (uint32_t i = 0; i < BINS; i++)
        assert_int_equal(histogram_get(&into, i), i % 5 + (i < PART ? i % 7 : 0));
    assert_int_equal(histogram_peak(&into), 10);
    histogram_deinit(&into);
    histogram_deinit(&from);
}

CASE(test_adding_all)
{
    for (uint8_t into = 2; into <= 8; into *= 2)
        for (uint8_t from = 2; from <= 8; from *= 2) {
            check_widths(into, from);
            check_part(into, from);
        }
}

/* The next bin that is not empty, from wherever the search starts. */
CASE(test_next)
{
    static const uint32_t taken[] = {0, 3, 4, 21, 37};
    for (uint8_t width = 2; width <= 8; width *= 2) {
        struct histogram h = histogram_of(39, width);
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            histogram_add(&h, taken[i], 1);
        for (uint32_t from = 0, i = 0; from <= 39; from++) {
            while (i < sizeof taken / sizeof *taken && taken[i] < from)
                i++;
            uint32_t expected = i < sizeof taken / sizeof *taken ? taken[i] : 39;
            assert_int_equal(histogram_next(&h, from), expected);
        }
        histogram_deinit(&h);
    }
}

/* The largest ranges and most bins: the product needs 96 bits. A bin's number times what a bin has
 * is known for ranges that the bins divide, and one more or less than that rounds. */
CASE(test_bin_starts)
{
    const uint64_t each = UINT64_C(0xffffffff);
    struct histogram h = {.low = 0, .high = each * UINT32_MAX, .bins = UINT32_MAX};
    static const uint32_t numbers[] = {0, 1, 2, 0x7fffffff, 0x80000001, UINT32_MAX - 1, UINT32_MAX};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        uint32_t i = numbers[k];
        h.high = each * UINT32_MAX;
        assert_true(histogram_bin_floor(&h, i) == each * i);
        assert_true(histogram_bin_ceiling(&h, i) == each * i);
        h.high++; /* (each * bins + 1) * i / bins is each * i and i / bins */
        assert_true(histogram_bin_floor(&h, i) == each * i + i / h.bins);
        assert_true(histogram_bin_ceiling(&h, i) == each * i + (i > 0));
        h.high -= 2;
        assert_true(histogram_bin_floor(&h, i) == each * i - (i > 0));
        assert_true(histogram_bin_ceiling(&h, i) == each * i - i / h.bins);
    }
    struct histogram small = {.low = 100, .high = 110, .bins = 4};
    assert_true(histogram_bin_floor(&small, 1) == 102 && histogram_bin_ceiling(&small, 1) == 103);
    assert_true(histogram_bin_floor(&small, 4) == 110 && histogram_bin_ceiling(&small, 4) == 110);
    struct histogram none = {.low = 9, .high = 9, .bins = 4},
                     wrong = {.low = 9, .high = 3, .bins = 4};
    assert_true(histogram_bin_ceiling(&none, 3) == 9 && histogram_bin_ceiling(&wrong, 3) == 9);
}

CASE(test_no_bins)
{
    struct histogram a = histogram_of(0, 0), b = histogram_of(0, 8);
    histogram_add_all(&a, &b);
    assert_true(histogram_total(&a) == 0 && histogram_peak(&a) == 0);
    assert_true(histogram_bin_bytes(&a) == 0);
    histogram_deinit(&a);
    histogram_deinit(&b);
}
