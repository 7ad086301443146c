/* Merging whole files: which function meets which, what is refused, and that a refusal changes
 * nothing. */
#include "cases.h"
#include "coverage/model/coverage.h"

#include "coverage/model/counted.h"

#include <stdlib.h>
#include <string.h>

static void merge(struct counters *into, const struct counters *from)
{
    struct err e = {0};
    if (!counters_merge(into, from, &e))
        fail_msg("%s", e.line);
}

/* Refused with these words; neither side changes. */
static void expect_refusal(struct counters *into, const struct counters *from, const char *words)
{
    struct counters before = {0};
    struct err e = {0};
    size_t records = into->records.len, values = into->values.len;
    uint8_t defect = into->functions.at[0].defect;
    into->functions.at[0].defect = DEFECT_NONE;
    merge(&before, into);
    into->functions.at[0].defect = defect;
    assert_false(counters_merge(into, from, &e));
    if (!strstr(e.line, words))
        fail_msg("\"%s\" does not say \"%s\"", e.line, words);
    assert_int_equal(into->records.len, records);
    assert_int_equal(into->values.len, values);
    assert_true(counters_same(into, &before));
    counters_deinit(&before);
}

/* A function of arcs. */
static void add_arcs(struct counters *c, uint32_t ident, uint32_t checksum, uint64_t first,
                     uint64_t second)
{
    counted_add_function(c, ident, checksum);
    counted_add_values(c, VALUES(KIND_ARCS, first, second));
}

static struct counters pair_of(uint64_t a, uint64_t b)
{
    struct counters c = counted_of(1202);
    add_arcs(&c, 1, 10, a, a + 1);
    add_arcs(&c, 2, 20, b, b + 1);
    return c;
}

CASE(test_an_empty_one_becomes_a_copy)
{
    struct counters sum = {0}, from = pair_of(3, 5);
    counted_add_summary(&from, (struct counters_summary){.runs = 4});
    merge(&sum, &from);
    assert_true(counters_same(&sum, &from));
    assert_int_equal(sum.origin.number, 1202);
    assert_int_equal(sum.summaries.at[0].runs, 4);
    counters_deinit(&sum);
    counters_deinit(&from);
}

CASE(test_functions_meet_by_identity)
{
    struct counters sum = pair_of(3, 5), from = counted_of(1202);
    add_arcs(&from, 2, 20, 100, 200); /* in another order */
    add_arcs(&from, 1, 10, 1000, 2000);
    merge(&sum, &from);
    assert_int_equal(sum.functions.len, 2);
    assert_int_equal(counted_value(&sum, 0, 0, 0), 1003);
    assert_int_equal(counted_value(&sum, 0, 0, 1), 2004);
    assert_int_equal(counted_value(&sum, 1, 0, 0), 105);
    assert_int_equal(counted_value(&sum, 1, 0, 1), 206);
    counters_deinit(&sum);
    counters_deinit(&from);
}

/* The n-th of one identity meets the n-th; one too many is new. */
CASE(test_functions_of_one_identity)
{
    struct counters sum = counted_of(1202), from = counted_of(1202);
    add_arcs(&sum, 1, 10, 1, 1);
    add_arcs(&sum, 1, 10, 2, 2);
    add_arcs(&from, 1, 10, 10, 10);
    add_arcs(&from, 1, 10, 20, 20);
    add_arcs(&from, 1, 10, 30, 30);
    merge(&sum, &from);
    assert_int_equal(sum.functions.len, 3);
    assert_int_equal(counted_value(&sum, 0, 0, 0), 11);
    assert_int_equal(counted_value(&sum, 1, 0, 0), 22);
    assert_int_equal(counted_value(&sum, 2, 0, 0), 30);
    counters_deinit(&sum);
    counters_deinit(&from);
}

CASE(test_what_is_lacking_is_taken)
{
    struct counters sum = pair_of(3, 5), from = counted_of(1202);
    add_arcs(&from, 9, 90, 7, 8);
    counted_add_zeros(&from, KIND_INTERVAL, 2);
    merge(&sum, &from);
    assert_int_equal(sum.functions.len, 3);
    assert_int_equal(sum.functions.at[2].ident, 9);
    assert_int_equal(sum.functions.at[2].records, 2);
    assert_int_equal(counted_value(&sum, 2, 0, 1), 8);
    assert_int_equal(counted_value(&sum, 2, 1, 1), 0);
    assert_int_equal(counted_value(&sum, 0, 0, 0), 3);
    counters_deinit(&sum);
    counters_deinit(&from);
}

CASE(test_zeros_take_and_give)
{
    struct counters sum = counted_of(1202), from = counted_of(1202);
    counted_add_function(&sum, 1, 10);
    counted_add_zeros(&sum, KIND_ARCS, 2);
    add_arcs(&sum, 2, 20, 4, 5);
    add_arcs(&from, 1, 10, 6, 7);
    counted_add_function(&from, 2, 20);
    counted_add_zeros(&from, KIND_ARCS, 2);
    merge(&sum, &from);
    assert_int_equal(counted_value(&sum, 0, 0, 1), 7);
    assert_int_equal(counted_value(&sum, 1, 0, 1), 5);
    counters_deinit(&sum);
    counters_deinit(&from);
}

/* A record meets the one of its kind, wherever it stands; lists may grow. */
CASE(test_records_meet_by_kind)
{
    struct counters sum = counted_of(1202), from = counted_of(1202);
    counted_add_function(&sum, 1, 10);
    counted_add_values(&sum, VALUES(KIND_ARCS, 1, 2));
    counted_add_values(&sum, VALUES(KIND_TOPN, 5, 1, 77, 5));
    counted_add_function(&from, 1, 10);
    counted_add_values(&from, VALUES(KIND_TOPN, 3, 1, 78, 3));
    counted_add_values(&from, VALUES(KIND_ARCS, 10, 20));
    merge(&sum, &from);
    assert_int_equal(counted_value(&sum, 0, 0, 1), 22);
    const uint64_t joined[] = {8, 2, 77, 5, 78, 3};
    assert_int_equal(sum.records.at[sum.functions.at[0].first_record + 1].len, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(counted_value(&sum, 0, 1, i), joined[i]);
    counters_deinit(&sum);
    counters_deinit(&from);
}

CASE(test_summaries)
{
    struct counters sum = pair_of(3, 5), from = pair_of(1, 1);
    counted_add_summary(&sum, (struct counters_summary){
                                  .checksum = 1, .runs = 2, .sum = 10, .run_max = 7, .sum_max = 7});
    counted_add_summary(
        &from,
        (struct counters_summary){.checksum = 1, .runs = 3, .sum = 20, .run_max = 6, .sum_max = 9});
    counted_add_summary(&from, (struct counters_summary){.checksum = 2, .runs = 1});
    merge(&sum, &from);
    assert_int_equal(sum.summaries.len, 2);
    const struct counters_summary *s = &sum.summaries.at[0];
    assert_true(s->runs == 5 && s->sum == 30 && s->run_max == 7 && s->sum_max == 16);
    assert_int_equal(sum.summaries.at[1].runs, 1);
    const struct counted_record *last = &sum.records.at[sum.records.len - 1];
    assert_true(last->what == COUNTED_OBJECT_SUMMARY && last->index == 1);
    counters_deinit(&sum);
    counters_deinit(&from);
}

CASE(test_other_code_is_refused)
{
    struct counters sum = pair_of(3, 5), from = counted_of(1202);
    add_arcs(&from, 9, 90, 1, 1);
    add_arcs(&from, 2, 21, 1, 1);
    expect_refusal(&sum, &from, "built from other code");
    counters_deinit(&from);
    from = counted_of(1202);
    add_arcs(&from, 1, 10, 1, 1); /* the same functions in the same order */
    add_arcs(&from, 2, 21, 1, 1);
    expect_refusal(&sum, &from, "built from other code");
    counters_deinit(&from);
    from = counted_of(1202);
    add_arcs(&from, 1, 10, 1, 1);
    counted_add_function(&from, 2, 20);
    counted_add_values(&from, VALUES(KIND_ARCS, 1, 2, 3));
    expect_refusal(&sum, &from, "has 2 arcs counters here and 3 there");
    counters_deinit(&from);
    counters_deinit(&sum);
}

/* Two functions of one identity and other code, of which the other side knows one. */
CASE(test_other_code_beside_the_same)
{
    struct counters both = counted_of(1202), one = counted_of(1202);
    add_arcs(&both, 1, 10, 3, 3);
    add_arcs(&both, 1, 11, 5, 5);
    add_arcs(&one, 1, 11, 7, 7);
    merge(&one, &both);
    merge(&both, &one);
    assert_int_equal(both.functions.len, 2);
    assert_int_equal(one.functions.len, 2);
    assert_int_equal(counters_sum(&one), 3 + 3 + 5 + 5 + 7 + 7);
    assert_int_equal(counters_sum(&both), 2 * (3 + 3 + 5 + 5) + 7 + 7);
    counters_deinit(&both);
    counters_deinit(&one);
}

CASE(test_damage_is_refused)
{
    struct counters sum = pair_of(3, 5), from = pair_of(1, 1);
    from.functions.at[1].defect = DEFECT_BAD_RECORD;
    expect_refusal(&sum, &from, "function 2 are damaged");
    from.functions.at[1].defect = DEFECT_NONE;
    sum.functions.at[0].defect = DEFECT_CUT;
    expect_refusal(&sum, &from, "function 1 are damaged");
    sum.functions.at[0].defect = DEFECT_NONE;
    from.failure.what = DEFECT_CUT;
    expect_refusal(&sum, &from, "cut short");
    from.failure.what = DEFECT_NONE;
    from.origin.number = 900;
    expect_refusal(&sum, &from, "versions differ");
    from.origin.number = 1400; /* counts as gcc 12 does */
    merge(&sum, &from);
    assert_int_equal(sum.origin.number, 1202);
    counters_deinit(&sum);
    counters_deinit(&from);
}

CASE(test_laws)
{
    struct counters a = pair_of(3, 5), b = pair_of(100, INT64_MAX - 3), c = pair_of(7, 9);
    struct counters left = {0}, right = {0}, b_and_c = {0};
    merge(&left, &a), merge(&left, &b), merge(&left, &c);
    merge(&b_and_c, &c), merge(&b_and_c, &b);
    merge(&right, &b_and_c), merge(&right, &a);
    assert_true(counters_same(&left, &right));
    assert_int_equal(counted_value(&left, 0, 0, 0), 110);
    assert_int_equal(counted_value(&left, 1, 0, 0), INT64_MAX);
    struct counters *all[] = {&a, &b, &c, &left, &right, &b_and_c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        counters_deinit(all[i]);
}
