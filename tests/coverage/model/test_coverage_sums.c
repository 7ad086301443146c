/* What is asked of counters as a whole: largest, sum, scaling, zero marks, equality; and of notes,
 * where the lines of a block are. */
#include "cases.h"
#include "coverage/model/coverage.h"

#include "coverage/model/counted.h"

#include <stdlib.h>

/* Two functions with arcs, one of them with averages, too. */
static struct counters sample(void)
{
    struct counters c = counted_of(1202);
    counted_add_function(&c, 1, 10);
    counted_add_values(&c, VALUES(KIND_ARCS, 4, 9));
    counted_add_values(&c, VALUES(KIND_AVERAGE, 1000, 2000));
    counted_add_function(&c, 2, 20);
    counted_add_values(&c, VALUES(KIND_ARCS, 6));
    return c;
}

CASE(test_largest_and_sum_are_of_arcs)
{
    struct counters c = sample();
    assert_int_equal(counters_max(&c), 9);
    assert_int_equal(counters_sum(&c), 19);
    counted_add_function(&c, 3, 30);
    counted_add_zeros(&c, KIND_ARCS, 1000);
    assert_int_equal(counters_max(&c), 9);
    assert_int_equal(counters_sum(&c), 19);
    counted_add_values(&c, VALUES(KIND_ARCS, INT64_MAX, INT64_MAX));
    assert_int_equal(counters_max(&c), INT64_MAX);
    assert_int_equal(counters_sum(&c), INT64_MAX);
    counters_deinit(&c);
}

CASE(test_all_records_are_scaled)
{
    struct counters c = sample();
    counted_add_zeros(&c, KIND_ARCS, 5);
    counters_scale(&c, &(struct count_scale){.numerator = 2, .denominator = 1});
    assert_int_equal(counted_value(&c, 0, 0, 1), 18);
    assert_int_equal(counted_value(&c, 0, 1, 0), 2000);
    assert_int_equal(counted_value(&c, 1, 0, 0), 12);
    assert_int_equal(counted_value(&c, 1, 1, 4), 0);
    counters_deinit(&c);
}

CASE(test_zeros_are_marked_where_the_version_can)
{
    struct counters c = sample();
    counted_add_values(&c, VALUES(KIND_INTERVAL, 0, 0));
    counted_add_values(&c, VALUES(KIND_TOPN, 0, 0));
    counters_mark_zeros(&c);
    const struct counted_record *r = &c.records.at[c.functions.at[1].first_record];
    assert_false(r[0].is_zero);
    assert_true(r[1].is_zero);
    assert_false(r[2].is_zero); /* lists are written down */
    counters_deinit(&c);
}

/* clang writes zeros down and marks nothing anew; what it marked stays marked. A record without
 * values, and one with a single count, are none of zeros. */
CASE(test_zeros_that_are_not_marked)
{
    struct counters c = sample();
    counted_add_values(&c, VALUES(KIND_INTERVAL, 0, 0));
    counted_add_zeros(&c, KIND_INTERVAL, 2);
    counted_add_values(&c, VALUES(KIND_POW2, 0, 1));
    counted_add_zeros(&c, KIND_AVERAGE, 0);
    const struct counted_record *r = &c.records.at[c.functions.at[1].first_record];
    c.origin.is_llvm = true;
    counters_mark_zeros(&c);
    assert_false(r[1].is_zero);
    assert_true(r[2].is_zero);
    c.origin.is_llvm = false;
    counters_mark_zeros(&c);
    assert_true(r[1].is_zero);
    assert_true(r[2].is_zero);
    assert_false(r[3].is_zero);
    assert_true(r[4].is_zero); /* as it was */
    c.origin.family = ARCS_RFC;
    counters_mark_zeros(&c);
    assert_false(r[1].is_zero);
    assert_false(r[2].is_zero);
    assert_int_equal(counted_value(&c, 1, 3, 1), 1);
    assert_int_equal(counted_value(&c, 1, 1, 0), 0);
    counters_deinit(&c);
}

/* An older version has to write zeros, so they need a place. */
CASE(test_marks_of_a_newer_version_become_values)
{
    struct counters c = sample();
    counted_add_zeros(&c, KIND_INTERVAL, 3);
    c.origin.number = 900;
    counters_mark_zeros(&c);
    const struct counted_record *r = &c.records.at[c.functions.at[1].first_record + 1];
    assert_false(r->is_zero);
    assert_true(r->first + r->len <= c.values.len);
    for (uint32_t i = 0; i < r->len; i++)
        assert_int_equal(c.values.at[r->first + i], 0);
    assert_int_equal(counted_value(&c, 1, 0, 0), 6);
    counters_deinit(&c);
}

CASE(test_equality)
{
    struct counters a = sample(), b = sample();
    assert_true(counters_same(&a, &b));
    b.values.at[4]++;
    assert_false(counters_same(&a, &b));
    b.values.at[4]--;
    b.functions.at[1].cfg_checksum++;
    assert_false(counters_same(&a, &b));
    b.functions.at[1].cfg_checksum--;
    counted_add_zeros(&a, KIND_INTERVAL, 2);
    assert_false(counters_same(&a, &b));
    assert_false(counters_same(&b, &a));
    counted_add_values(&b, VALUES(KIND_INTERVAL, 0, 0));
    assert_true(counters_same(&a, &b)); /* a zero mark says the same */
    counted_add_function(&b, 3, 30);
    assert_false(counters_same(&a, &b));
    counters_deinit(&a);
    counters_deinit(&b);
}

/* Values of another kind, or more of them, are others, though they begin alike. */
CASE(test_equality_of_records)
{
    struct counters a = sample(), kind = sample(), longer = sample();
    counted_add_values(&a, VALUES(KIND_INTERVAL, 7, 8));
    counted_add_values(&kind, VALUES(KIND_AVERAGE, 7, 8));
    counted_add_values(&longer, VALUES(KIND_INTERVAL, 7, 8, 9));
    assert_false(counters_same(&a, &kind));
    assert_false(counters_same(&a, &longer));
    assert_false(counters_same(&longer, &a));
    counters_deinit(&a);
    counters_deinit(&kind);
    counters_deinit(&longer);
}

/* Of each block its own runs, none of its neighbours', nor of another function's. */
CASE(test_runs_of_blocks)
{
    struct notes n = {0};
    static const uint32_t BLOCKS[] = {2, 2, 2, 2, 4, 9, 9}; /* of the functions before and behind */
    for (uint32_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++)
        vec_push(&n.runs, ((struct notes_run){.block = BLOCKS[i], .first = i}));
    const struct notes_function f = {.first_run = 1, .runs = 5};
    static const struct {
        uint32_t block, first, len;
    } EXPECTED[] = {{0, 1, 0}, {1, 1, 0}, {2, 1, 3}, {3, 4, 0}, {4, 4, 1},
                    {5, 5, 0}, {7, 5, 0}, {9, 5, 1}, {10, 6, 0}};
    for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++) {
        uint32_t len;
        const struct notes_run *found = notes_runs_of(&n, &f, EXPECTED[i].block, &len);
        assert_ptr_equal(found, n.runs.at + EXPECTED[i].first);
        assert_int_equal(len, EXPECTED[i].len);
    }
    notes_deinit(&n);
}
