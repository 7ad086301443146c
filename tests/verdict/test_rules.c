/* Rules as people write them: what a limit adds up to, which rule counts for a name, and the words
 * for each mistake. */
#include "cases.h"
#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

static struct rules fresh(void)
{
    struct rules r;
    rules_init(&r);
    return r;
}

static const struct rule *last(const struct rules *r)
{
    return &r->all.at[r->all.len - 1];
}

static void expect_limit(enum rule_kind kind, const char *value, double limit, double absolute,
                         double of_whole)
{
    struct rules r = fresh();
    struct err e = {0};
    if (!rules_add(&r, kind, value, &e))
        fail_msg("%s", e.line);
    assert_true(last(&r)->limit == limit);
    assert_true(last(&r)->absolute == absolute);
    assert_true(last(&r)->of_whole == of_whole);
    assert_string_equal(last(&r)->text, strchr(value, '=') ? strrchr(value, '=') + 1 : value);
    assert_true(r.is_asked[kind]);
    rules_deinit(&r);
}

CASE(test_limits_are_sums_of_terms)
{
    expect_limit(RULE_CALLS, "5", 5, 0, 0);
    expect_limit(RULE_CALLS, "0", 0, 0, 0);
    expect_limit(RULE_CALLS, "5%+100calls+20calls", 5, 120, 0);
    expect_limit(RULE_TIME, "10%+1%cpu+20ms", 10, 0.02, 1);
    expect_limit(RULE_TIME, "2s", 0, 2, 0);
    expect_limit(RULE_CPU, "2us", 0, 2e-6, 0);
    expect_limit(RULE_ELAPSED, "1+2", 3, 0, 0);
    expect_limit(RULE_MEMORY, "7B", 0, 7, 0);
    expect_limit(RULE_MEMORY, "7kB", 0, 7e3, 0);
    expect_limit(RULE_MEMORY, "7MB", 0, 7e6, 0);
    expect_limit(RULE_MEMORY, "7GB", 0, 7e9, 0);
    expect_limit(RULE_SELF, "a=b=2", 2, 0, 0);
}

static void expect_refused(const char *name, const char *value, const char *why)
{
    struct rules r = fresh();
    struct err e = {0};
    assert_false(rules_set(&r, name, value, &e));
    assert_string_equal(e.line, why);
    assert_int_equal(r.all.len, 0);
    rules_deinit(&r);
}

/* What no name has is an expression, though it has no slashes: else the rule would never fail. */
CASE(test_expressions_without_slashes)
{
    static const char *const TEXTS[] = {"^parse_=1", "_line$=1",     "parse.*=1", "p.+line=1",
                                        ".*=1",      "scan|parse=1", "parse\\w=1"};
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct rules r;
        struct err e = {0};
        rules_init(&r);
        assert_true(rules_add(&r, RULE_CALLS, TEXTS[i], &e));
        assert_non_null(rules_find(&r, RULE_CALLS, "parse_line", "parse_line"));
        assert_true(rules_add(&r, RULE_CALLS, "operator.*=2", &e)); /* this is a name */
        assert_non_null(rules_find(&r, RULE_CALLS, "parse_line", "parse_line")->pattern.text);
        rules_deinit(&r);
    }
}

CASE(test_mistakes_have_their_words)
{
    expect_refused("max-calls-growth", "-1",
                   "'max-calls-growth' takes a number of at least 0, not '-1'");
    expect_refused("max-calls-growth", "inf",
                   "'max-calls-growth' takes a number of at least 0, not 'inf'");
    expect_refused("max-calls-growth", "5+",
                   "'max-calls-growth' takes a number of at least 0, not '5+'");
    expect_refused("max-calls-growth", "5MB", "'max-calls-growth' does not take 'MB' as a unit");
    expect_refused("max-calls-growth", "5cal", "'max-calls-growth' does not take 'cal' as a unit");
    expect_refused("max-cpu-growth", "5%cpu+1", "'max-cpu-growth' does not take '%cpu' as a unit");
    expect_refused("max-calls-growth", "/(/=1",
                   "'(' is not a regular expression: Unmatched ( or \\(");
    expect_refused("min-samples", "x", "'min-samples' takes a number of at least 0, not 'x'");
    expect_refused("min-samples", "1x", "'min-samples' takes a number of at least 0, not '1x'");
    expect_refused("noise", "-0.5", "'noise' takes a number of at least 0, not '-0.5'");
    expect_refused("confidence", "nan", "'confidence' takes a number of at least 0, not 'nan'");
    expect_refused("confidence", "100", "'confidence' needs less than 100, not '100'");
    expect_refused("max-growth", "1", "unknown rule 'max-growth'");
}

CASE(test_settings)
{
    struct rules r = fresh();
    struct err e = {0};
    (void)state;
    assert_true(r.confidence == 0.99 && r.noise == NOISE_OF_RUNS && r.least_samples == 100);
    assert_true(rules_set(&r, "confidence", "95", &e) && rules_set(&r, "noise", "20", &e) &&
                rules_set(&r, "min-samples", "0", &e));
    assert_true(r.confidence == 0.95 && r.noise == 0.2 && r.least_samples == 0);
    assert_int_equal(r.all.len, 0);
    rules_deinit(&r);
}

static bool read(struct rules *r, const char *text, struct err *e)
{
    return rules_read(r, (struct bytes){(const uint8_t *)text, strlen(text)}, "rules", e);
}

CASE(test_files)
{
    struct rules r = fresh();
    struct err e = {0};
    (void)state;
    assert_true(read(&r,
                     "# limits\n\n \t max-calls-growth \t /^a/=5%  \r\n#max-cpu-growth 1\n"
                     "confidence 90\nmax-cpu-growth 3",
                     &e));
    assert_int_equal(r.all.len, 2);
    assert_string_equal(r.all.at[0].pattern.text, "/^a/");
    assert_string_equal(r.all.at[0].text, "5%");
    assert_int_equal(r.all.at[1].kind, RULE_CPU);
    assert_true(r.all.at[1].limit == 3 && r.confidence == 0.9);
    assert_false(read(&r, "max-cpu-growth 2\n\nmax-elapsed-growth  \n", &e));
    assert_string_equal(e.line, "rules: line 3: 'max-elapsed-growth' needs a value");
    assert_int_equal(r.all.len, 3); /* those before the mistake */
    assert_false(read(&r, "max-elapsed-growth", &e));
    assert_string_equal(e.line, "rules: line 1: 'max-elapsed-growth' needs a value");
    assert_true(read(&r, "", &e));
    rules_deinit(&r);
}

CASE(test_the_last_rule_that_matches_counts)
{
    struct rules r = fresh();
    struct err e = {0};
    (void)state;
    assert_null(rules_find(&r, RULE_CALLS, "parse", NULL));
    assert_true(rules_add(&r, RULE_CALLS, "1", &e) && rules_add(&r, RULE_CALLS, "parse=2", &e) &&
                rules_add(&r, RULE_CALLS, "/^_Z/=3", &e) && rules_add(&r, RULE_CPU, "4", &e));
    assert_true(rules_find(&r, RULE_CALLS, "other", NULL)->limit == 1);
    assert_true(rules_find(&r, RULE_CALLS, "parse", NULL)->limit == 2);
    assert_true(rules_find(&r, RULE_CALLS, "parse", "parse")->limit == 2);
    assert_true(rules_find(&r, RULE_CALLS, "parse", "_Z5parse")->limit == 3);
    assert_true(rules_find(&r, RULE_CPU, "parse", NULL)->limit == 4);
    assert_null(rules_find(&r, RULE_TIME, "parse", NULL));
    rules_deinit(&r);
}

CASE(test_defaults_are_taken_alone)
{
    struct rules r = fresh();
    struct err e = {0};
    (void)state;
    rules_default(&r);
    assert_int_equal(r.all.len, 6);
    assert_true(rules_find(&r, RULE_CPU, "", NULL)->limit == 2);
    assert_true(rules_find(&r, RULE_ELAPSED, "", NULL)->limit == 5);
    assert_true(rules_find(&r, RULE_MEMORY, "", NULL)->limit == 10);
    assert_true(rules_find(&r, RULE_MEMORY, "", NULL)->absolute == 1e6);
    assert_true(rules_find(&r, RULE_TIME, "", NULL)->limit == 10);
    assert_true(rules_find(&r, RULE_TIME, "", NULL)->of_whole == 1);
    assert_true(rules_find(&r, RULE_CALLS, "", NULL)->limit == 2);
    assert_true(rules_find(&r, RULE_COVERAGE, "", NULL)->limit == 0);
    for (int kind = 0; kind < RULE_KINDS; kind++)
        assert_false(r.is_asked[kind]);
    rules_deinit(&r);
    r = fresh();
    assert_true(rules_add(&r, RULE_SELF, "1", &e));
    rules_default(&r);
    assert_int_equal(r.all.len, 1);
    rules_deinit(&r);
}
