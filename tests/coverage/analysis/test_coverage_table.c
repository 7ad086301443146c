/* The table of coverage: identities, sums that stop, branches of different shapes, tracefiles that
 * meet what objects said, and that the order of adding does not matter. */
#include "cases.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/model/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

static uint32_t function(struct coverage_table *t, const char *name, uint32_t line, uint64_t count)
{
    return coverage_table_function(
        t, &(struct table_function){.name = coverage_table_name(t, name),
                                    .source = coverage_table_source(t, "/a"),
                                    .start_line = line,
                                    .count = count,
                                    .is_known = true});
}

static uint32_t line(struct coverage_table *t, uint32_t number)
{
    return coverage_table_line(t, coverage_table_source(t, "/a"), number);
}

static struct coverage_result result_by(const struct coverage_table *tables, size_t len,
                                        unsigned threads, enum instance_rule instances)
{
    struct arena a = {0};
    struct source_search search = {.arena = &a};
    struct result_rules rules = {.threads = threads, .search = &search, .instances = instances};
    struct coverage_result r = {0};
    coverage_result_build(tables, len, &rules, &r);
    arena_deinit(&a);
    return r;
}

static struct coverage_result result_of_all(const struct coverage_table *tables, size_t len,
                                            unsigned threads)
{
    return result_by(tables, len, threads, INSTANCES_UNION);
}

static struct coverage_result result_of(const struct coverage_table *t)
{
    return result_of_all(t, 1, 1);
}

/* One object's view: a function with one decision. */
static void add_object(struct coverage_table *t, const char *name, uint64_t left, uint64_t right)
{
    struct table_outcome ways[] = {{left, 0, OUTCOME_FALLTHROUGH}, {right, 0, 0}};
    uint32_t f = function(t, name, 1, left + right), at = line(t, 2);
    if (t->keeps_shares)
        coverage_table_share(t, at, f, left + right);
    coverage_table_ran(t, at, left + right);
    if (!t->keeps_shares)
        coverage_table_count(t, at, left + right);
    coverage_table_outcomes(t, at, f, ways, 2);
}

CASE(one_function_of_many_objects)
{
    struct coverage_table t = {0};
    (void)state;
    add_object(&t, "f", 1, 0);
    add_object(&t, "f", 0, 4);
    struct coverage_result r = result_of(&t);
    assert_int_equal(r.sources.at[0].functions, 1);
    assert_int_equal(r.functions.at[0].count, 5);
    assert_int_equal(r.lines.at[0].count, 5);
    assert_int_equal(r.lines.at[0].branches, 2);
    assert_int_equal(r.branches.at[1].count, 4);
    coverage_result_deinit(&r);
    coverage_table_deinit(&t);
}

/* Without columns, names say what the instances of one function are: g() is none. A third function
 * that is not around the line has g() inlined, twice. */
CASE(instances_are_one_by_the_rule)
{
    static const struct {
        uint32_t branches;
        uint64_t first, second, hit, count;
    } want[] = {[INSTANCES_UNION] = {4, 1, 4, 4, 13},
                [INSTANCES_EACH] = {10, 0, 4, 6, 13},
                [INSTANCES_WORST] = {4, 0, 0, 1, 4}};
    struct table_outcome inlined[] = {
        {2, 0, OUTCOME_FALLTHROUGH}, {0, 0, 0}, {1, 1, OUTCOME_FALLTHROUGH}, {7, 1, 0}};
    (void)state;
    for (int rule = INSTANCES_UNION; rule <= INSTANCES_WORST; rule++) {
        struct coverage_table t = {.keeps_shares = rule == INSTANCES_WORST};
        add_object(&t, "f<int>", 1, 0);
        add_object(&t, "f<double>", 0, 4);
        add_object(&t, "g", 0, 5);
        uint32_t f = function(&t, "h", 9, 1);
        coverage_table_outcomes(&t, line(&t, 2), f, inlined, 4);
        if (rule == INSTANCES_WORST)
            coverage_table_share(&t, line(&t, 2), f, 3);
        else
            coverage_table_count(&t, line(&t, 2), 3);
        struct coverage_result r = result_by(&t, 1, 1, (enum instance_rule)rule);
        assert_int_equal(r.sources.at[0].functions, 4);
        assert_int_equal(r.lines.at[0].branches, want[rule].branches);
        assert_int_equal(r.branches.at[0].count, want[rule].first);
        assert_int_equal(r.branches.at[1].count, want[rule].second);
        assert_int_equal(r.sums.branches.hit, want[rule].hit);
        assert_int_equal(r.lines.at[0].count, want[rule].count);
        coverage_result_deinit(&r);
        coverage_table_deinit(&t);
    }
}

/* Of `a && b`, one instance shows a, the other b: any, each, all. */
CASE(conditions_of_instances_follow_the_rule)
{
    static const uint64_t want[][3] = {{1, 4, 4}, {2, 8, 4}, {1, 4, 0}}; /* conditions, all, hit */
    (void)state;
    for (int rule = INSTANCES_UNION; rule <= INSTANCES_WORST; rule++) {
        struct coverage_table t = {0};
        for (uint32_t k = 0; k < 2; k++) {
            const char *name = k ? "f<int>" : "f<double>";
            uint64_t bit = UINT64_C(1) << k;
            struct table_mask mask = {function(&t, name, 1, 1), 0, 2, 0, bit, bit};
            coverage_table_count(&t, line(&t, 2), 1);
            coverage_table_mask(&t, line(&t, 2), &mask);
        }
        struct coverage_result r = result_by(&t, 1, 1, (enum instance_rule)rule);
        assert_int_equal(r.lines.at[0].conditions, want[rule][0]);
        assert_int_equal(r.sums.conditions.all, want[rule][1]);
        assert_int_equal(r.sums.conditions.hit, want[rule][2]);
        coverage_result_deinit(&r);
        coverage_table_deinit(&t);
    }
}

CASE(counts_stop_at_the_top)
{
    struct coverage_table t = {0};
    (void)state;
    coverage_table_count(&t, line(&t, 7), UINT64_MAX - 1);
    coverage_table_count(&t, line(&t, 7), 5);
    assert_true(t.lines.at[line(&t, 7)].count == UINT64_MAX);
    coverage_table_deinit(&t);
}

CASE(unknown_is_not_missed)
{
    struct coverage_table t = {0};
    (void)state;
    coverage_table_unknown(&t, line(&t, 1));
    coverage_table_count(&t, line(&t, 2), 0);
    coverage_table_unknown(&t, line(&t, 2));
    coverage_table_count(&t, line(&t, 3), 1);
    coverage_table_unknown(&t, line(&t, 3));
    struct coverage_result r = result_of(&t);
    assert_int_equal(r.sums.lines.all, 3);
    assert_int_equal(r.sums.lines.hit, 1);
    assert_int_equal(r.sums.lines.unknown, 2);
    assert_true(ratio_percent(&r.sums.lines) == 100);
    coverage_result_deinit(&r);
    coverage_table_deinit(&t);
}

CASE(exceptions_leave_no_half_decision)
{
    struct coverage_table t = {0};
    struct table_outcome call[] = {{3, 0, OUTCOME_FALLTHROUGH}, {0, 0, OUTCOME_THROW}};
    (void)state;
    coverage_table_count(&t, line(&t, 1), 3);
    coverage_table_outcomes(&t, line(&t, 1), NONE, call, 2);
    struct coverage_result r = result_of(&t);
    assert_int_equal(r.sums.branches.all, 0);
    assert_int_equal(r.left_out.exception_branches, 2);
    coverage_result_deinit(&r);
    coverage_table_deinit(&t);
}

CASE(tracefiles_meet_objects)
{
    struct coverage_table t = {0};
    struct table_outcome same[] = {{2, 0, 0}, {2, 0, 0}}, other[] = {{9, 0, 0}, {9, 1, 0}};
    (void)state;
    coverage_table_outcomes(&t, line(&t, 2), NONE, same, 2);
    add_object(&t, "f", 1, 0);
    coverage_table_outcomes(&t, line(&t, 2), NONE, other, 2);
    struct coverage_result r = result_of(&t);
    assert_int_equal(r.lines.at[0].branches, 4);
    assert_int_equal(r.branches.at[0].count, 3);
    assert_int_equal(r.branches.at[1].count, 2);
    assert_int_equal(r.branches.at[2].count, 9);
    coverage_result_deinit(&r);
    coverage_table_deinit(&t);
}

/* What several tables say is what one says that was given everything. */
static void expect_same(const struct coverage_result *left, const struct coverage_result *right)
{
    assert_int_equal(left->sources.len, right->sources.len);
    for (size_t i = 0; i < left->sources.len; i++) {
        const struct result_source *a = &left->sources.at[i], *b = &right->sources.at[i];
        assert_string_equal(a->path, b->path);
        assert_memory_equal(&a->sums, &b->sums, sizeof a->sums);
        assert_int_equal(a->functions, b->functions);
        for (uint32_t k = 0; k < a->functions; k++) {
            const struct result_function *f = &left->functions.at[a->first_function + k];
            const struct result_function *g = &right->functions.at[b->first_function + k];
            assert_string_equal(f->linkage, g->linkage);
            assert_true(f->count == g->count && f->reason == g->reason && f->defect == g->defect);
        }
        assert_int_equal(a->lines, b->lines);
        for (uint32_t k = 0; k < a->lines; k++) {
            const struct result_line *l = &left->lines.at[a->first_line + k];
            const struct result_line *m = &right->lines.at[b->first_line + k];
            assert_true(l->line == m->line && l->count == m->count && l->state == m->state);
            assert_int_equal(l->branches, m->branches);
            for (uint32_t j = 0; j < l->branches; j++)
                assert_true(left->branches.at[l->first_branch + j].count ==
                            right->branches.at[m->first_branch + j].count);
            assert_int_equal(l->conditions, m->conditions);
            for (uint32_t j = 0; j < l->conditions; j++)
                assert_true(left->conditions.at[l->first_condition + j].on ==
                            right->conditions.at[m->first_condition + j].on);
        }
    }
}

CASE(order_does_not_matter)
{
    struct coverage_table ab[2], ba[2];
    (void)state;
    memset(ab, 0, sizeof ab);
    memset(ba, 0, sizeof ba);
    add_object(&ab[0], "f", 1, 2);
    add_object(&ab[1], "g", 3, 4);
    add_object(&ab[1], "f", 5, 6);
    add_object(&ba[0], "g", 3, 4);
    add_object(&ba[0], "f", 5, 6);
    add_object(&ba[1], "f", 1, 2);
    struct coverage_result left = result_of_all(ab, 2, 1), right = result_of_all(ba, 2, 1);
    expect_same(&left, &right);
    assert_string_equal(left.functions.at[0].linkage, "f");
    assert_int_equal(left.functions.at[0].count, 14);
    coverage_result_deinit(&left);
    coverage_result_deinit(&right);
    for (size_t i = 0; i < 2; i++) {
        coverage_table_deinit(&ab[i]);
        coverage_table_deinit(&ba[i]);
    }
}

/* One thing that some object says, of the `n`th function of a few sources. */
static void add_thing(struct coverage_table *t, uint32_t n)
{
    char name[32], path[32];
    snprintf(name, sizeof name, "f%u", n % 11);
    snprintf(path, sizeof path, "/s%u", n % 5);
    uint32_t source = coverage_table_source(t, path), len = 1 + n % 13 % 3;
    struct table_function row = {.name = coverage_table_name(t, name),
                                 .source = source,
                                 .start_line = 1 + n % 3,
                                 .end_line = n % 50,
                                 .count = n % 7,
                                 .is_known = n % 4,
                                 .is_unknown = !(n % 4),
                                 .reason = (uint8_t)(1 + n % 6),
                                 .defect = (uint8_t)(n % 5)};
    uint32_t function = coverage_table_function(t, &row);
    uint32_t line = coverage_table_line(t, source, 1 + n * 7919 % 60);
    struct table_outcome ways[3] = {{n % 3, 0, 0}, {n % 2, 0, 0}, {1, n % 2, OUTCOME_CALL}};
    struct table_mask mask = {function, n % 2, 2, 0, n % 4, n / 4 % 4};
    coverage_table_count(t, line, n % 13);
    coverage_table_outcomes(t, line, n % 8 ? function : NONE, ways, len);
    coverage_table_mask(t, line, &mask);
}

CASE(many_tables_are_one)
{
    enum { THINGS = 5000, TABLES = 3 };
    struct coverage_table one = {0}, parts[TABLES];
    (void)state;
    memset(parts, 0, sizeof parts);
    for (uint32_t n = 0; n < THINGS; n++) {
        add_thing(&one, n);
        add_thing(&parts[n / 8 % TABLES], n);
    }
    struct coverage_result all = result_of(&one);
    for (unsigned threads = 1; threads < 5; threads++) {
        struct coverage_result sum = result_of_all(parts, TABLES, threads);
        expect_same(&all, &sum);
        coverage_result_deinit(&sum);
    }
    coverage_result_deinit(&all);
    coverage_table_deinit(&one);
    for (size_t i = 0; i < TABLES; i++)
        coverage_table_deinit(&parts[i]);
}

/* More than are looked for one by one. */
CASE(instances_of_a_template_have_their_branches)
{
    struct coverage_table t = {0};
    char name[32];
    (void)state;
    for (uint32_t n = 0; n < 100; n++) {
        snprintf(name, sizeof name, "f%03u", n * 7 % 20);
        add_object(&t, name, n, 1);
    }
    struct coverage_result r = result_of(&t);
    assert_int_equal(r.sources.at[0].functions, 20);
    assert_int_equal(r.lines.at[0].branches, 40);
    for (uint32_t k = 0; k < 40; k += 2) /* n of one name are 20 apart */
        assert_true(r.branches.at[k].count == 200 + 5 * (k / 2 * 3 % 20));
    coverage_result_deinit(&r);
    coverage_table_deinit(&t);
}

/* What is said again takes no more room, and the masks of a line are its conditions. */
CASE(what_is_the_same_is_kept_once)
{
    enum { THINGS = 60 };
    struct coverage_table t = {0};
    (void)state;
    for (uint32_t n = 0; n < THINGS; n++)
        add_thing(&t, n);
    size_t functions = t.functions.len, groups = t.groups.len, masks = t.masks.len;
    assert_in_range(functions, 2, THINGS);
    for (uint32_t n = 0; n < THINGS; n++)
        add_thing(&t, n);
    assert_int_equal(t.functions.len, functions);
    assert_int_equal(t.groups.len, groups);
    assert_int_equal(t.masks.len, masks);
    size_t found = 0;
    for (size_t i = 0; i < t.lines.len; i++)
        for (uint32_t m = t.lines.at[i].mask; m != NONE; m = t.masks.at[m].next)
            found++;
    assert_int_equal(found, masks);
    coverage_table_deinit(&t);
}

/* Two things said of one function; each way round they are the same. */
static void expect_sum(struct table_function one, struct table_function other,
                       struct table_function expected)
{
    for (int round = 0; round < 2; round++) {
        struct table_function sum = round ? other : one;
        table_function_add(&sum, round ? &one : &other);
        assert_int_equal(sum.count, expected.count);
        assert_int_equal(sum.end_line, expected.end_line);
        assert_int_equal(sum.is_known, expected.is_known);
        assert_int_equal(sum.is_repaired, expected.is_repaired);
        assert_int_equal(sum.is_unknown, expected.is_unknown);
        assert_int_equal(sum.reason, expected.reason);
        assert_int_equal(sum.defect, expected.defect);
    }
}

CASE(what_is_said_of_a_function_adds_up)
{
    struct table_function known = {.count = 5, .end_line = 9, .is_known = true};
    struct table_function repaired = {.count = 2, .is_known = true, .is_repaired = true};
    struct table_function first = {.is_unknown = true, .reason = 1, .defect = 2};
    struct table_function second = {.is_unknown = true, .reason = 1, .defect = 3};
    struct table_function third = {.is_unknown = true, .reason = 2, .defect = 1};
    expect_sum(
        known, repaired,
        (struct table_function){.count = 7, .end_line = 9, .is_known = true, .is_repaired = true});
    expect_sum(first, second, first);
    expect_sum(first, third, first);
    expect_sum(second, third, second);
    expect_sum(known, third,
               (struct table_function){.count = 5,
                                       .end_line = 9,
                                       .is_known = true,
                                       .is_unknown = true,
                                       .reason = 2,
                                       .defect = 1});
}

/* Which tests ran which lines, when what is known has to be put together again and again. */
CASE(hits_of_tests_are_put_together)
{
    enum { TESTS = 3, LINES = 4, ROUNDS = 50 };
    (void)state;
    for (size_t most = 1; most <= 40; most += 3) {
        struct coverage_table t = {.most_hits = most};
        uint64_t expected[LINES][TESTS] = {0};
        for (uint32_t test = 0; test < TESTS; test++)
            coverage_table_test(&t, (const char *const[]){"one", "two", "three"}[test]);
        for (uint32_t round = 0; round < ROUNDS; round++)
            for (uint32_t k = 0; k < LINES - 1; k++) { /* the last line has none */
                t.test = 1 + (round + k) % TESTS;
                expected[k][t.test - 1] += round;
                coverage_table_count(&t, line(&t, k + 1), round);
                if (t.most_hits > 10 * most) /* they were put together: soon again */
                    t.most_hits = t.hits.len + most;
            }
        line(&t, LINES);
        for (uint32_t k = 0; k < t.hits_of.len; k++)
            for (uint32_t at = t.hits_of.at[k]; at != NONE; at = t.hits.at[at].next)
                expected[k][t.hits.at[at].test] -= t.hits.at[at].count;
        for (uint32_t k = 0; k < LINES; k++)
            for (uint32_t test = 0; test < TESTS; test++)
                assert_int_equal(expected[k][test], 0);
        assert_true(t.hits.len <= (LINES - 1) * TESTS + most);
        coverage_table_deinit(&t);
    }
}
