/* The table of coverage: identities, sums that stop, branches of different shapes, tracefiles that
 * meet what objects said, and that the order of adding does not matter. */
#include "analysis/cover_result.h"
#include "model/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NONE ((uint32_t)COVER_NONE)

static uint32_t function(struct cover_table *t, const char *name, uint32_t line, uint64_t count)
{
    return cover_table_function(t, &(struct table_function){.name = cover_table_name(t, name),
                                                            .source = cover_table_source(t, "/a"),
                                                            .start_line = line,
                                                            .count = count,
                                                            .is_known = true});
}

static uint32_t line(struct cover_table *t, uint32_t number)
{
    return cover_table_line(t, cover_table_source(t, "/a"), number);
}

static struct cover_result result_of(const struct cover_table *t)
{
    struct arena a = {0};
    struct source_search search = {.arena = &a};
    struct result_rules rules = {.threads = 1, .search = &search};
    struct cover_result r = {0};
    cover_result_build(t, &rules, &r);
    arena_deinit(&a);
    return r;
}

/* One object's view: a function with one decision. */
static void add_object(struct cover_table *t, const char *name, uint64_t left, uint64_t right)
{
    struct table_outcome ways[] = {{left, 0, OUTCOME_FALLTHROUGH}, {right, 0, 0}};
    uint32_t f = function(t, name, 1, left + right), at = line(t, 2);
    cover_table_count(t, at, left + right);
    cover_table_outcomes(t, at, f, ways, 2);
}

static void one_function_of_many_objects(void **state)
{
    struct cover_table t = {0};
    (void)state;
    add_object(&t, "f", 1, 0);
    add_object(&t, "f", 0, 4);
    struct cover_result r = result_of(&t);
    assert_int_equal(r.functions.len, 1);
    assert_int_equal(r.functions.at[0].count, 5);
    assert_int_equal(r.lines.at[0].count, 5);
    assert_int_equal(r.lines.at[0].branches, 2);
    assert_int_equal(r.branches.at[1].count, 4);
    cover_result_deinit(&r);
    cover_table_deinit(&t);
}

static void instances_stay_apart_on_a_line(void **state)
{
    struct cover_table t = {0};
    (void)state;
    add_object(&t, "f<int>", 1, 0);
    add_object(&t, "f<double>", 0, 4);
    struct cover_result r = result_of(&t);
    assert_int_equal(r.functions.len, 2);
    assert_int_equal(r.lines.at[0].branches, 4);
    assert_int_equal(r.sums.branches.hit, 2);
    cover_result_deinit(&r);
    cover_table_deinit(&t);
}

static void counts_stop_at_the_top(void **state)
{
    struct cover_table t = {0};
    (void)state;
    cover_table_count(&t, line(&t, 7), UINT64_MAX - 1);
    cover_table_count(&t, line(&t, 7), 5);
    assert_true(t.lines.at[line(&t, 7)].count == UINT64_MAX);
    cover_table_deinit(&t);
}

static void unknown_is_not_missed(void **state)
{
    struct cover_table t = {0};
    (void)state;
    cover_table_unknown(&t, line(&t, 1));
    cover_table_count(&t, line(&t, 2), 0);
    cover_table_unknown(&t, line(&t, 2));
    cover_table_count(&t, line(&t, 3), 1);
    cover_table_unknown(&t, line(&t, 3));
    struct cover_result r = result_of(&t);
    assert_int_equal(r.sums.lines.all, 3);
    assert_int_equal(r.sums.lines.hit, 1);
    assert_int_equal(r.sums.lines.unknown, 2);
    assert_true(cover_percent(&r.sums.lines) == 100);
    cover_result_deinit(&r);
    cover_table_deinit(&t);
}

static void exceptions_leave_no_half_decision(void **state)
{
    struct cover_table t = {0};
    struct table_outcome call[] = {{3, 0, OUTCOME_FALLTHROUGH}, {0, 0, OUTCOME_THROW}};
    (void)state;
    cover_table_count(&t, line(&t, 1), 3);
    cover_table_outcomes(&t, line(&t, 1), NONE, call, 2);
    struct cover_result r = result_of(&t);
    assert_int_equal(r.sums.branches.all, 0);
    assert_int_equal(r.exception_branches, 2);
    cover_result_deinit(&r);
    cover_table_deinit(&t);
}

static void tracefiles_meet_objects(void **state)
{
    struct cover_table t = {0};
    struct table_outcome same[] = {{2, 0, 0}, {2, 0, 0}}, other[] = {{9, 0, 0}, {9, 1, 0}};
    (void)state;
    cover_table_outcomes(&t, line(&t, 2), NONE, same, 2);
    add_object(&t, "f", 1, 0);
    cover_table_outcomes(&t, line(&t, 2), NONE, other, 2);
    struct cover_result r = result_of(&t);
    assert_int_equal(r.lines.at[0].branches, 4);
    assert_int_equal(r.branches.at[0].count, 3);
    assert_int_equal(r.branches.at[1].count, 2);
    assert_int_equal(r.branches.at[2].count, 9);
    cover_result_deinit(&r);
    cover_table_deinit(&t);
}

static void order_does_not_matter(void **state)
{
    struct cover_table a = {0}, b = {0}, ab = {0}, ba = {0};
    (void)state;
    add_object(&a, "f", 1, 2);
    add_object(&b, "g", 3, 4);
    add_object(&b, "f", 5, 6);
    cover_table_add(&ab, &a);
    cover_table_add(&ab, &b);
    cover_table_add(&ba, &b);
    cover_table_add(&ba, &a);
    struct cover_result left = result_of(&ab), right = result_of(&ba);
    assert_int_equal(left.branches.len, right.branches.len);
    for (size_t i = 0; i < left.branches.len; i++)
        assert_int_equal(left.branches.at[i].count, right.branches.at[i].count);
    assert_string_equal(left.functions.at[0].linkage, "f");
    assert_string_equal(right.functions.at[0].linkage, "f");
    cover_result_deinit(&left);
    cover_result_deinit(&right);
    cover_table_deinit(&a);
    cover_table_deinit(&b);
    cover_table_deinit(&ab);
    cover_table_deinit(&ba);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_function_of_many_objects),
        cmocka_unit_test(instances_stay_apart_on_a_line),
        cmocka_unit_test(counts_stop_at_the_top),
        cmocka_unit_test(unknown_is_not_missed),
        cmocka_unit_test(exceptions_leave_no_half_decision),
        cmocka_unit_test(tracefiles_meet_objects),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
