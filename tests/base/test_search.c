/* The partition point is what counting from the front gives, at every length, and asks little. */
#include "base/sort.h"
#include "cases.h"

#include <stddef.h>
#include <stdint.h>

enum { MOST = 70 };

/* Each length with the point at each place, with equal ones on both sides. */
CASE(test_every_point)
{
    uint32_t at[MOST];
    for (size_t len = 0; len <= MOST; len++)
        for (size_t point = 0; point <= len; point++) {
            for (size_t i = 0; i < len; i++)
                at[i] = i < point ? 7 : 9;
            assert_int_equal(PARTITION_POINT(len, i, at[i] < 8), point);
            assert_int_equal(PARTITION_POINT(len, i, at[i] <= 7), point);
            assert_int_equal(PARTITION_POINT(len, i, at[i] < 7), 0);
            assert_int_equal(PARTITION_POINT(len, i, at[i] <= 9), len);
        }
}

CASE(test_few_questions)
{
    unsigned asked = 0;
    uint64_t wanted = 123456789;
    assert_true(PARTITION_POINT(UINT64_C(1) << 40, i, (asked++, i < wanted)) == wanted);
    assert_in_range(asked, 40, 41);
    asked = 0;
    assert_int_equal(PARTITION_POINT(0u, i, (asked++, i < wanted)), 0);
    assert_int_equal(asked, 0);
}

/* The middle of two large places does not wrap; the type is that of the length. */
CASE(test_large_lengths)
{
    uint32_t len = UINT32_MAX, wanted = UINT32_MAX - 1;
    const uint32_t fixed = 5;
    assert_true(PARTITION_POINT(len, i, i < wanted) == wanted);
    assert_true(PARTITION_POINT(len, i, i < UINT32_MAX) == UINT32_MAX);
    assert_int_equal(PARTITION_POINT(fixed, i, i < 3), 3);
    assert_int_equal(sizeof PARTITION_POINT(len, i, i < wanted), sizeof len);
}

/* One within another, and names of the caller's own. */
CASE(test_nested)
{
    static const struct {
        size_t len;
        int at[4];
    } rows[] = {{0, {0}}, {2, {1, 5}}, {3, {1, 2, 9}}, {4, {1, 2, 3, 9}}};
    assert_int_equal(
        PARTITION_POINT(4u, row, PARTITION_POINT(rows[row].len, k, rows[row].at[k] < 4) < 2), 2);
}
