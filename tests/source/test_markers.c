/* Markers in comments: kinds, families, ranges, and what does not pair. */
#include "cases.h"
#include "source/source.h"

#include <stdio.h>
#include <string.h>

static struct markers found_in(const char *text)
{
    struct markers m = {0};
    markers_find((struct bytes){(const uint8_t *)text, strlen(text)}, &m);
    return m;
}

static void expect(const struct markers *m, size_t i, uint32_t first, uint32_t last, uint32_t what)
{
    assert_true(i < m->ranges.len);
    assert_int_equal(m->ranges.at[i].first, first);
    assert_int_equal(m->ranges.at[i].last, last);
    assert_int_equal(m->ranges.at[i].what, what);
}

CASE(all_kinds)
{
    struct markers m = found_in("a LCOV_EXCL_LINE\n"
                                "b GCOVR_EXCL_BR_LINE\n"
                                "c GCOV_EXCL_EXCEPTION_BR_LINE LCOV_UNREACHABLE_LINE\n"
                                "d GCOVR_EXCL_FUNCTION\n"
                                "e LCOV_EXCL_BR_START LCOV_EXCL_START\n"
                                "f\n"
                                "g LCOV_EXCL_BR_STOP GCOVR_EXCL_STOP\n"
                                "h OTHER_EXCL_LINE LCOV_EXCL_WHAT\n");
    (void)state;
    assert_int_equal(m.ranges.len, 7);
    expect(&m, 0, 1, 1, MARKER_CODE);
    expect(&m, 1, 2, 2, MARKER_BRANCHES);
    assert_int_equal(m.ranges.at[2].what + m.ranges.at[3].what, MARKER_CODE + MARKER_EXCEPTIONS);
    expect(&m, 4, 4, 4, MARKER_FUNCTION);
    assert_int_equal(m.ranges.at[5].last, 7);
    assert_int_equal(m.unclosed, 0);
    assert_int_equal(m.stray, 0);
    markers_deinit(&m);
}

CASE(what_does_not_pair)
{
    struct markers m = found_in("LCOV_EXCL_STOP\n\nLCOV_EXCL_START\nx\n");
    (void)state;
    assert_int_equal(m.stray, 1);
    assert_int_equal(m.unclosed, 3);
    expect(&m, 0, 3, UINT32_MAX, MARKER_CODE);
    markers_deinit(&m);
    m = found_in("_EXCL_LINE");
    assert_int_equal(m.ranges.len, 0);
    markers_deinit(&m);
    m = found_in("");
    assert_int_equal(m.ranges.len, 0);
    markers_deinit(&m);
    m = found_in("LCOV_EXCL_");
    assert_int_equal(m.ranges.len, 0);
    markers_deinit(&m);
}
