/* How each kind of counter is summed and scaled, on values small enough to do in the head. */
#include "cases.h"
#include "coverage/model/coverage.h"

#include "wire/gcov_dialects.h"

#include <stdlib.h>
#include <string.h>

#define LEN(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

#define GCC_8  gcov_dialect_numbered(800)
#define GCC_10 gcov_dialect_numbered(1000)
#define GCC_12 gcov_dialect_numbered(1202)
#define GCC_14 gcov_dialect_numbered(1400)

/* into + from == sum */
#define EXPECT_SUM(KIND, VERSION, INTO, FROM, ...)                  \
    do {                                                            \
        uint64_t into[] = INTO, from[] = FROM, sum[] = __VA_ARGS__; \
        kind_add(KIND, VERSION, into, from, LEN(into));             \
        assert_memory_equal(into, sum, sizeof sum);                 \
    } while (0)
#define V(...)      \
    {               \
        __VA_ARGS__ \
    }

CASE(test_counts_add)
{
    static const enum counter_kind KIND[] = {KIND_ARCS, KIND_INTERVAL, KIND_POW2, KIND_AVERAGE};
    for (size_t i = 0; i < LEN(KIND); i++)
        EXPECT_SUM(KIND[i], GCC_12, V(1, 0, 40), V(2, 5, 2), V(3, 5, 42));
}

CASE(test_counts_stop_at_the_largest)
{
    EXPECT_SUM(KIND_ARCS, GCC_12, V(INT64_MAX - 1, INT64_MAX, INT64_MAX), V(1, 1, INT64_MAX),
               V(INT64_MAX, INT64_MAX, INT64_MAX));
}

CASE(test_masks_unite)
{
    EXPECT_SUM(KIND_IOR, GCC_12, V(5, 0), V(6, 8), V(7, 8));
    EXPECT_SUM(KIND_CONDITIONS, GCC_14, V(1, 2), V(3, 0), V(3, 2));
    EXPECT_SUM(KIND_PATHS, GCC_14, V(1, UINT64_MAX), V(8, 1), V(9, UINT64_MAX));
}

CASE(test_the_earliest_visit_stays)
{
    EXPECT_SUM(KIND_TIME, GCC_12, V(7, 2, 0, 3, 0), V(4, 9, 6, 0, 0), V(4, 2, 6, 3, 0));
}

/* {value, votes, all}: an equal value agrees, another one takes votes away or wins. */
CASE(test_one_value_is_voted_on)
{
    EXPECT_SUM(KIND_SINGLE, GCC_8, V(11, 5, 9), V(11, 3, 4), V(11, 8, 13));
    EXPECT_SUM(KIND_SINGLE, GCC_8, V(11, 5, 9), V(12, 3, 4), V(11, 2, 13));
    EXPECT_SUM(KIND_INDIRECT, GCC_8, V(11, 3, 4), V(12, 5, 9), V(12, 2, 13));
    EXPECT_SUM(KIND_SINGLE, GCC_8, V(11, 1, 1, 21, 2, 2), V(11, 1, 1, 21, 3, 3),
               V(11, 2, 2, 21, 5, 5));
}

/* The first of four is the value seen last, and stays. */
CASE(test_a_difference_is_voted_on)
{
    EXPECT_SUM(KIND_DELTA, GCC_8, V(100, 4, 5, 9), V(200, 4, 3, 4), V(100, 4, 8, 13));
}

/* 5 takes the place of 4, which is rarer; 6 is rarer than 3 and counts against it. A negative total
 * says that values were dropped. */
CASE(test_four_most_frequent_stay)
{
    EXPECT_SUM(KIND_TOPN, GCC_10, V(10, 1, 9, 2, 7, 3, 5, 4, 1), V(20, 2, 4, 5, 6, 6, 2, 0, 0),
               V((uint64_t)-30, 1, 9, 2, 11, 3, 3, 5, 6));
}

CASE(test_which_kinds_are_lists)
{
    assert_true(kind_is_list(KIND_TOPN, GCC_12));
    assert_true(kind_is_list(KIND_INDIRECT_TOPN, GCC_12));
    assert_false(kind_is_list(KIND_TOPN, GCC_10));
    assert_false(kind_is_list(KIND_ARCS, GCC_12));
}

CASE(test_lists_are_whole)
{
    size_t lists;
    const uint64_t two[] = {3, 1, 77, 3, 0, 0};
    assert_true(kind_lists_are_whole(two, LEN(two), &lists));
    assert_int_equal(lists, 2);
    assert_true(kind_lists_are_whole(two, 0, &lists));
    assert_int_equal(lists, 0);
    assert_false(kind_lists_are_whole(two, LEN(two) - 1, &lists));
    assert_false(kind_lists_are_whole(two, 3, &lists));
    const uint64_t endless[] = {1, UINT64_MAX, 5, 5};
    assert_false(kind_lists_are_whole(endless, LEN(endless), &lists));
}

CASE(test_lists_join)
{
    const uint64_t into[] = {9, 2, 100, 5, 101, 4, 0, 0},
                   from[] = {7, 2, 101, 1, 102, 6, 3, 1, 8, 3};
    const uint64_t sum[] = {16, 3, 100, 5, 101, 5, 102, 6, 3, 1, 8, 3};
    struct value_list out = {{0}};
    kind_join_lists(into, LEN(into), from, &out);
    assert_int_equal(out.values.len, LEN(sum));
    assert_memory_equal(out.values.at, sum, sizeof sum);
    vec_free(&out.values);
}

/* A list of `len` values from `first` on, each seen as often as its number here, from 2. */
static size_t make_list(uint64_t *list, uint64_t first, uint64_t len)
{
    list[0] = list[1] = 0;
    for (; list[1] < len; list[1]++) {
        list[2 + 2 * list[1]] = first + list[1];
        list[3 + 2 * list[1]] = 2 + list[1];
        list[0] += 2 + list[1];
    }
    return 2 + 2 * (size_t)len;
}

/* The rarest of a full list, seen twice, gives way to what was seen more often; the total's sign
 * then says that something is missing, and goes on saying it. */
CASE(test_a_full_list_drops_its_rarest)
{
    enum { FULL = 32 };
    uint64_t into[2 + 2 * FULL], from[] = {5, 1, 7, 5}, rare[] = {1, 1, 8, 1};
    size_t len = make_list(into, 1000, FULL);
    struct value_list out = {{0}}, again = {{0}};
    kind_join_lists(into, len, from, &out);
    assert_int_equal(out.values.len, len);
    assert_int_equal(-(int64_t)out.values.at[0], into[0] + 5);
    assert_int_equal(out.values.at[1], FULL);
    assert_int_equal(out.values.at[2], 7);
    assert_int_equal(out.values.at[3], 5);
    assert_int_equal(out.values.at[4], 1001);
    kind_join_lists(out.values.at, len, rare, &again);
    assert_int_equal(-(int64_t)again.values.at[0], into[0] + 6);
    assert_int_equal(again.values.at[4], 1001);
    assert_int_equal(again.values.at[5], 2);
    const uint64_t known[] = {5, 1, 7, 5};
    again.values.len = 0;
    kind_join_lists(out.values.at, len, known, &again);
    assert_int_equal(-(int64_t)again.values.at[0], into[0] + 10);
    assert_int_equal(again.values.at[3], 10);
    vec_free(&out.values);
    vec_free(&again.values);
}

CASE(test_a_list_fills)
{
    enum { FULL = 32 };
    uint64_t into[2 + 2 * FULL], from[] = {5, 1, 7, 5};
    size_t len = make_list(into, 1000, FULL - 1);
    struct value_list out = {{0}};
    kind_join_lists(into, len, from, &out);
    assert_int_equal(out.values.len, len + 2);
    assert_int_equal(out.values.at[0], into[0] + 5);
    assert_int_equal(out.values.at[1], FULL);
    vec_free(&out.values);
}

static const struct count_scale HALF = {.numerator = 1, .denominator = 2, .is_exact = true};

#define EXPECT_SCALED(KIND, VERSION, SCALE, VALUES, ...)       \
    do {                                                       \
        uint64_t values[] = VALUES, scaled[] = __VA_ARGS__;    \
        kind_scale(KIND, VERSION, values, LEN(values), SCALE); \
        assert_memory_equal(values, scaled, sizeof scaled);    \
    } while (0)

CASE(test_counts_are_scaled_and_values_stay)
{
    EXPECT_SCALED(KIND_ARCS, GCC_12, &HALF, V(10, 7, 0), V(5, 3, 0));
    EXPECT_SCALED(KIND_SINGLE, GCC_8, &HALF, V(10, 8, 6, 20, 18, 16), V(10, 4, 3, 20, 9, 8));
    EXPECT_SCALED(KIND_DELTA, GCC_8, &HALF, V(10, 8, 6, 4), V(10, 8, 3, 2));
    EXPECT_SCALED(KIND_TOPN, GCC_10, &HALF, V(20, 4, 8, 6, 4, 0, 0, 0, 0),
                  V(10, 4, 4, 6, 2, 0, 0, 0, 0));
    EXPECT_SCALED(KIND_TOPN, GCC_12, &HALF, V(20, 1, 40, 20, 2, 1, 8, 2),
                  V(10, 1, 40, 10, 1, 1, 8, 1));
    EXPECT_SCALED(KIND_IOR, GCC_12, &HALF, V(6), V(6));
    EXPECT_SCALED(KIND_TIME, GCC_12, &HALF, V(6), V(6));
    EXPECT_SCALED(KIND_CONDITIONS, GCC_14, &HALF, V(6), V(6));
}

CASE(test_ways_of_scaling)
{
    const struct count_scale rounded = {.numerator = 3, .denominator = 2},
                             exact = {.numerator = 3, .denominator = 2, .is_exact = true},
                             factor = {.factor = 0.5f},
                             large = {.numerator = 4, .denominator = 1, .is_exact = true};
    EXPECT_SCALED(KIND_ARCS, GCC_12, &rounded, V(5, 4), V(9, 6));
    EXPECT_SCALED(KIND_ARCS, GCC_12, &exact, V(5, 4), V(7, 6));
    EXPECT_SCALED(KIND_ARCS, GCC_12, &factor, V(5, 4), V(2, 2));
    EXPECT_SCALED(KIND_ARCS, GCC_12, &large, V(INT64_MAX / 2, 2), V(INT64_MAX, 8));
}
