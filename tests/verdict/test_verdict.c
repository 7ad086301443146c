/* What is judged of two sides that are written down here, and each form of the same cases, to the
 * letter. Sides are one run each without noise, so that limits decide, or runs that differ so much
 * that chance does. */
#include "cases.h"
#include "verdict/verdict.h"

#include "output/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- forms ------------------------------------------------------------------------------------ */

static void expect_form(const char *name, const struct verdict *v, const char *expected)
{
    struct out o;
    out_init(&o, -1);
    verdict_format_find(name, strlen(name))->write(&o, v);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

/* A place with and without a line, one that is the subject, none; what a form has to escape. */
static struct verdict all_kinds(void)
{
    struct verdict v = {0};
    const struct verdict_case cases[] = {
        {CASE_FAILED, "max-calls-growth", "f<&>", "10 % more|\n", "a,b:c.c", 7, false, 1, 2, 3,
         0.25},
        {CASE_FAILED, "max-coverage-fall", "a.c", "fell", NULL, 4, false, 9, 8, 0, -1},
        {CASE_FAILED, "max-time-growth", "g", "slow", "g.c", 0, false, 0, 0, 0, 0},
        {CASE_PASSED, "max-cpu-growth", NULL, "fine", NULL, 0, false, 5, 6, 7, 0.5},
        {CASE_NOT_JUDGED, "max-elapsed-growth", NULL, "asked", NULL, 0, true, 0, 0, 0, -1},
        {CASE_NOT_JUDGED, "max-memory-growth", NULL, "default", NULL, 0, false, 0, 0, 0, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict_case c = cases[i];
        if (i == 1)
            c.file = c.subject; /* one text, as sources have it */
        verdict_add(&v, &c);
    }
    return v;
}

CASE(test_forms)
{
    struct verdict v = all_kinds();
    (void)state;
    assert_int_equal(v.failed, 3);
    assert_int_equal(v.passed, 1);
    assert_int_equal(v.not_judged, 2);
    expect_form("text", &v,
                "failed      max-calls-growth: 10 % more|? (a,b:c.c:7)\n"
                "failed      max-coverage-fall: fell\n"
                "failed      max-time-growth: slow (g.c)\n"
                "passed      max-cpu-growth: fine\n"
                "not judged  max-elapsed-growth: asked\n"
                "not judged  max-memory-growth: default\n"
                "failed: 3 failed, 1 passed, 2 not judged\n");
    expect_form("github", &v,
                "::error file=a%2Cb%3Ac.c,line=7,title=max-calls-growth::10 %25 more|%0A\n"
                "::error file=a.c,line=4,title=max-coverage-fall::fell\n"
                "::error file=g.c,title=max-time-growth::slow\n"
                "::error title=max-elapsed-growth::asked\n"
                "::notice title=max-memory-growth::default\n");
    expect_form("markdown", &v,
                "## monarc check: failed\n\n| | rule | |\n|---|---|---|\n"
                "| **failed** | max-calls-growth | 10 % more\\|? |\n"
                "| **failed** | max-coverage-fall | fell |\n"
                "| **failed** | max-time-growth | slow |\n"
                "| passed | max-cpu-growth | fine |\n"
                "| not judged | max-elapsed-growth | asked |\n"
                "| not judged | max-memory-growth | default |\n"
                "\n3 failed, 1 passed, 2 not judged\n");
    verdict_deinit(&v);
}

CASE(test_junit)
{
    struct verdict v = all_kinds();
    (void)state;
    expect_form(
        "junit", &v,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"monarc check\" tests=\"6\" failures=\"3\" errors=\"1\" time=\"0\">\n"
        "  <testsuite name=\"monarc check\" tests=\"6\" failures=\"3\" errors=\"1\" skipped=\"1\" "
        "time=\"0\">\n"
        "    <testcase classname=\"max-calls-growth\" name=\"f&lt;&amp;&gt;\" time=\"0\">\n"
        "      <failure message=\"10 % more|&#10;\" type=\"max-calls-growth\">a,b:c.c:7</failure>\n"
        "    </testcase>\n"
        "    <testcase classname=\"max-coverage-fall\" name=\"a.c\" time=\"0\">\n"
        "      <failure message=\"fell\" type=\"max-coverage-fall\">a.c:4</failure>\n"
        "    </testcase>\n"
        "    <testcase classname=\"max-time-growth\" name=\"g\" time=\"0\">\n"
        "      <failure message=\"slow\" type=\"max-time-growth\">g.c</failure>\n"
        "    </testcase>\n"
        "    <testcase classname=\"max-cpu-growth\" name=\"all others\" time=\"0\"/>\n"
        "    <testcase classname=\"max-elapsed-growth\" name=\"all others\" time=\"0\">\n"
        "      <error message=\"asked\" type=\"max-elapsed-growth\"></error>\n"
        "    </testcase>\n"
        "    <testcase classname=\"max-memory-growth\" name=\"all others\" time=\"0\">\n"
        "      <skipped message=\"default\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n</testsuites>\n");
    verdict_deinit(&v);
}

/* The rows of JSON, one for each kind of case. */
CASE(test_json)
{
    struct verdict v = all_kinds();
    struct out o;
    (void)state;
    static const char *const PARTS[] = {
        "\"verdict\":\"failed\",\"failed\":3,\"passed\":1,\"not_judged\":2",
        ("{\"status\":\"failed\",\"rule\":\"max-calls-growth\",\"subject\":\"f<&>\","
         "\"message\":\"10 % more|\\n\",\"file\":\"a,b:c.c\",\"line\":7,\"old\":1,\"new\":2,"
         "\"limit\":3,\"chance\":0.25}"),
        ("\"message\":\"slow\",\"file\":\"g.c\",\"line\":0,\"old\":0,\"new\":0,\"limit\":0,"
         "\"chance\":0}"),
        "\"file\":\"a.c\",\"line\":4,\"old\":9,\"new\":8,\"limit\":0,\"chance\":null}",
        "\"subject\":null,\"message\":\"fine\",\"file\":null,\"line\":0,\"chance\":0.5}",
    };
    out_init(&o, -1);
    verdict_json(&o, &v);
    out_char(&o, 0);
    char *to = o.at; /* without blanks outside of texts */
    bool is_text = false;
    for (char *at = o.at; *at; at++) {
        is_text ^= *at == '"';
        if (is_text || !strchr(" \n", *at))
            *to++ = *at;
    }
    *to = 0;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (!strstr(o.at, PARTS[i]))
            fail_msg("no %s in %s", PARTS[i], o.at);
    out_deinit(&o);
    verdict_deinit(&v);
}

CASE(test_words)
{
    struct verdict v = {0};
    (void)state;
    assert_string_equal(verdict_word(&v), "not judged");
    verdict_add(&v, &(struct verdict_case){.status = CASE_NOT_JUDGED});
    assert_string_equal(verdict_word(&v), "not judged");
    verdict_add(&v, &(struct verdict_case){.status = CASE_PASSED});
    assert_string_equal(verdict_word(&v), "passed");
    v.lacks_data = true;
    assert_string_equal(verdict_word(&v), "not judged");
    verdict_add(&v, &(struct verdict_case){.status = CASE_FAILED});
    assert_string_equal(verdict_word(&v), "failed");
    verdict_deinit(&v);
    assert_null(verdict_format_find("tex", 3));
    assert_null(verdict_format_find("texts", 5));
    assert_string_equal(verdict_format_find("json=a", 4)->name, "json");
}

/* --- two sides -------------------------------------------------------------------------------- */

enum { FUNCTIONS = 6 };

/* Functions of both sides by the same numbers. Seconds and samples are those of one run; 1000
 * samples are 10 s. */
struct sides {
    struct run_set old, new;
    struct identity ids[FUNCTIONS];
    struct run_set_function functions[2][FUNCTIONS];
    struct change rows[FUNCTIONS];
    struct total_change totals[3];
    struct comparison c;
};

static struct run_sums once(double value)
{
    return (struct run_sums){.sum = value, .squares = value * value};
}

static struct run_times lasted(double seconds)
{
    return (struct run_times){.samples = 100 * seconds,
                              .hits = 100 * seconds,
                              .time = once(seconds),
                              .share = once(seconds / 10)};
}

static void sides_init(struct sides *s)
{
    static const char *const NAMES[FUNCTIONS] = {"parse", "sort",   "fresh",
                                                 "lost",  "mcount", "print"};
    *s = (struct sides){0};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        s->ids[i] = (struct identity){.name = NAMES[i], .file = "a.c", .line = 10 + i};
        s->rows[i] = (struct change){.old = i, .new = i, .old_calls = 100, .new_calls = 100};
        s->functions[0][i].shown = s->functions[1][i].shown = NAMES[i];
        s->functions[0][i].runs = s->functions[1][i].runs = 1;
    }
    s->rows[2].kind = CHANGE_NEW;
    s->rows[2].old = NO_FUNCTION;
    s->rows[3].kind = CHANGE_GONE;
    s->rows[3].new = NO_FUNCTION;
    s->functions[1][4].is_profiler = true;
    s->old = s->new = (struct run_set){.ids = {s->ids, FUNCTIONS},
                                       .runs = 1,
                                       .samples = 1000,
                                       .effective = 1000,
                                       .time = 10,
                                       .dimension = "seconds",
                                       .has_stacks = true};
    s->old.functions = s->functions[0];
    s->new.functions = s->functions[1];
    s->c = (struct comparison){.old = &s->old,
                               .new = &s->new,
                               .rows = s->rows,
                               .len = FUNCTIONS,
                               .compares_samples = true,
                               .compares_calls = true,
                               .compares_time = true};
    noise_assume(&s->c.times, 0, 0.99);
}

static void called(struct sides *s, uint32_t function, double old, double new)
{
    s->rows[function].old_calls = old;
    s->rows[function].new_calls = new;
    s->rows[function].calls_differ = old != new;
}

/* `rules`: lines of a file; "" takes the defaults. */
static void expect(struct sides *s, const char *rules, const char *expected)
{
    struct rules r;
    struct verdict v = {0};
    struct err e = {0};
    rules_init(&r);
    r.noise = 0;
    if (!rules_read(&r, (struct bytes){(const uint8_t *)rules, strlen(rules)}, "rules", &e))
        fail_msg("%s", e.line);
    rules_default(&r);
    verdict_profile(&v, &r, &s->c);
    expect_form("text", &v, expected);
    verdict_deinit(&v);
    rules_deinit(&r);
}

CASE(test_calls)
{
    struct sides s;
    (void)state;
    sides_init(&s);
    called(&s, 2, 0, 500); /* new, gone and the profiler's own have no growth */
    called(&s, 3, 500, 0);
    called(&s, 4, 1, 500);
    called(&s, 0, 100, 113); /* 100 * 1.13 is a bit less than 113 */
    expect(&s, "max-calls-growth 13",
           "passed      max-calls-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    called(&s, 0, 100, 102);
    called(&s, 1, 1000, 1020.5);
    expect(&s, "max-calls-growth 2",
           "failed      max-calls-growth: calls of sort grew by 2.05 %, from 1000 to 1020; 2 % are "
           "allowed (a.c:11)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    called(&s, 1, 0, 7);
    expect(&s, "max-calls-growth 2%+6calls",
           "failed      max-calls-growth: sort was not called in the baseline, and 7 times now "
           "(a.c:11)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    expect(&s, "max-calls-growth 2%+7calls\nmax-calls-growth ^p=100",
           "passed      max-calls-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    s.rows[1].calls_differ = false;
    expect(&s, "max-calls-growth ^sort$=0",
           "passed      max-calls-growth: 1 function judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    s.rows[1].calls_differ = true;
    called(&s, 1, 10, 9);
    expect(&s, "max-calls-growth ^sort$=0",
           "passed      max-calls-growth: 1 function judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    s.ids[1].line = 0;
    called(&s, 1, 8, 9);
    expect(&s, "max-calls-growth ^sort$=1.5%+0calls",
           "failed      max-calls-growth: calls of sort grew by 12.50 %, from 8 to 9; 1.5%+0calls "
           "are allowed (a.c)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    expect(&s, "max-calls-growth nothing=0",
           "not judged  max-calls-growth: the rule is about nothing that both sides have\n"
           "not judged: 0 failed, 0 passed, 1 not judged\n");
    s.c.compares_calls = false;
    expect(&s, "max-calls-growth 0",
           "not judged  max-calls-growth: one side counted no calls\n"
           "not judged: 0 failed, 0 passed, 1 not judged\n");
}

/* Of the whole: a part of the old amount and a fixed one; exact amounts, and one with an error. */
CASE(test_totals)
{
    struct sides s;
    (void)state;
    sides_init(&s);
    s.totals[0] = (struct total_change){.name = "peak_memory",
                                        .label = "peak memory",
                                        .unit = TOTAL_BYTES,
                                        .old = 20e6,
                                        .new = 23e6,
                                        .verdict = TOTAL_MORE,
                                        .text = "more"};
    s.totals[1] = (struct total_change){.name = "cpu_time",
                                        .label = "CPU time",
                                        .old = 2,
                                        .new = 2.04,
                                        .verdict = TOTAL_MORE,
                                        .text = "slower"};
    for (int i = 0; i < 2; i++)
        s.totals[i].difference = (struct difference){.change = s.totals[i].new - s.totals[i].old,
                                                     .by[0] = {0, INFINITY},
                                                     .tests = 1,
                                                     .is_known = true};
    s.totals[1].difference.by[0].error = 0.001;
    vec_push(&s.c.totals, s.totals[0]);
    vec_push(&s.c.totals, s.totals[1]);
    expect(
        &s, "max-memory-growth 10%+1MB\nmax-cpu-growth 3",
        "passed      max-cpu-growth: CPU time: 2.040 s, was 2.000 s: slower (limit: 3 %)\n"
        "passed      max-memory-growth: peak memory: 23.0 MB, was 20.0 MB: more (limit: 10%+1MB)\n"
        "passed: 0 failed, 2 passed, 0 not judged\n");
    expect(&s, "max-memory-growth 10%+0.9MB\nmax-cpu-growth 1",
           "failed      max-cpu-growth: CPU time: 2.040 s, was 2.000 s: slower (limit: 1 %)\n"
           "failed      max-memory-growth: peak memory: 23.0 MB, was 20.0 MB: more (limit: "
           "10%+0.9MB)\n"
           "failed: 2 failed, 0 passed, 0 not judged\n");
    /* 40 ms where 10 ms are allowed, of which 99 % confidence needs 2.33 errors. */
    s.c.totals.at[1].difference.by[0].error = 0.02;
    expect(&s, "max-cpu-growth 10ms",
           "passed      max-cpu-growth: CPU time: 2.040 s, was 2.000 s: slower (limit: 10ms)\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    expect(&s, "max-cpu-growth 10ms\nconfidence 90",
           "failed      max-cpu-growth: CPU time: 2.040 s, was 2.000 s: slower (limit: 10ms)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    s.c.totals.at[1].old = 2.25; /* what is just allowed has not failed, however little is asked */
    s.c.totals.at[1].new = 2.5;
    s.c.totals.at[1].difference.change = 0.25;
    expect(&s, "max-cpu-growth 250ms\nconfidence 40",
           "passed      max-cpu-growth: CPU time: 2.500 s, was 2.250 s: slower (limit: 250ms)\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    s.c.totals.at[1].new = 2.75; /* chance must be less than what is left of all, not as much */
    expect(&s, "max-cpu-growth 250ms\nconfidence 50",
           "passed      max-cpu-growth: CPU time: 2.750 s, was 2.250 s: slower (limit: 250ms)\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    s.c.totals.at[1].verdict = TOTAL_UNJUDGED;
    s.c.totals.at[1].text = "too few runs";
    expect(&s, "max-cpu-growth 1\nmax-elapsed-growth 1",
           "not judged  max-cpu-growth: too few runs\n"
           "not judged  max-elapsed-growth: the elapsed time of both sides must be known\n"
           "not judged: 0 failed, 0 passed, 2 not judged\n");
    vec_free(&s.c.totals);
}

static void took(struct sides *s, uint32_t function, double old, double new)
{
    s->functions[0][function].self = s->functions[0][function].total = lasted(old);
    s->functions[1][function].self = s->functions[1][function].total = lasted(new);
    s->rows[function].self_time.margin = 0.25;
}

/* Runs without an error: the limit alone decides. */
CASE(test_times)
{
    struct sides s;
    (void)state;
    sides_init(&s);
    took(&s, 0, 5, 5.61);
    took(&s, 1, 0.02, 0.04); /* too few samples to say anything */
    took(&s, 5, 4, 4);
    took(&s, 4, 1, 9);
    expect(&s, "max-time-growth 10%+0.1s+0.2%cpu",
           "passed      max-time-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    expect(&s, "max-time-growth 10%+0.1s",
           "failed      max-time-growth: self time of parse grew by 0.61 s +- 0.25, from 5 to 5.61 "
           "(limit: 10%+0.1s) (a.c:10)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    expect(&s, "max-time-growth 12.25", /* of 5 s 0.6125, where 0.61 is asked for */
           "passed      max-time-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    expect(&s, "max-time-growth 12%+0.05%cpu",
           "failed      max-time-growth: self time of parse grew by 0.61 s +- 0.25, from 5 to 5.61 "
           "(limit: 12%+0.05%cpu) (a.c:10)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    noise_assume(&s.c.times, 0.3, 0.99); /* what was learnt from the runs, not what shares assume */
    expect(&s, "max-time-growth 0",      /* of growth that chance would hide nothing is judged */
           "not judged  max-time-growth: parse: no growth below 2.2 s can be seen\n"
           "not judged: 0 failed, 0 passed, 1 not judged\n");
    expect(&s, "max-time-growth 60",
           "passed      max-time-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    expect(&s, "max-time-growth parse=20",
           "not judged  max-time-growth: parse: no growth below 2.2 s can be seen; about 3 runs a "
           "side would show growth beyond the limit\n"
           "not judged: 0 failed, 0 passed, 1 not judged\n");
    noise_assume(&s.c.times, 0, 0.99);
    s.new.dimension = "cycles";
    expect(&s, "max-time-growth 12",
           "failed      max-time-growth: self time of parse grew by 0.61 cycles +- 0.25, from 5 to "
           "5.61 (limit: 12 %) (a.c:10)\n"
           "failed: 1 failed, 0 passed, 0 not judged\n");
    s.old.runs = 0; /* of no run: 1 % of its time is nothing */
    expect(&s, "max-time-growth 1%cpu",
           "not judged  max-time-growth: too few samples of every function that it is about\n"
           "not judged: 0 failed, 0 passed, 1 not judged\n");
}

/* Of the two, parse's growth is chance with 1 %, print's with 3 %: Holm doubles the least one, so
 * that only 98 % are left for it, and none at 99 %. */
CASE(test_shares)
{
    struct sides s;
    (void)state;
    sides_init(&s);
    took(&s, 0, 5, 5.6);
    took(&s, 5, 2, 2.2);
    expect(
        &s, "max-share-growth 5\nmax-total-growth 5.5",
        "failed      max-share-growth: share of self time of parse grew by 6.00 points, from 50.00 "
        "to 56.00 %; 5 are allowed, and chance explains so much with a probability of 0 (a.c:10)\n"
        "failed      max-total-growth: share of total time of parse grew by 6.00 points, from "
        "50.00 "
        "to 56.00 %; 5.5 are allowed, and chance explains so much with a probability of 0 "
        "(a.c:10)\n"
        "failed: 2 failed, 0 passed, 0 not judged\n");
    expect(&s, "max-share-growth 6.03\nmax-total-growth 6.03",
           "passed      max-share-growth: 3 functions judged; 1 not in the baseline\n"
           "passed      max-total-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 2 passed, 0 not judged\n");
    /* Errors of 3 and 2 points a side; growth of 6 points: 1.4 errors of the difference. */
    s.functions[0][0].self.share.variance = s.functions[1][0].self.share.variance = 0.0009;
    expect(&s, "max-share-growth 0\nmax-share-growth ^print$=3",
           "passed      max-share-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    expect(
        &s, "max-share-growth 0\nmax-share-growth ^print$=3\nconfidence 60",
        "failed      max-share-growth: share of self time of parse grew by 6.00 points, from 50.00 "
        "to 56.00 %; 0 are allowed, and chance explains so much with a probability of 0.16 "
        "(a.c:10)\n"
        "failed: 1 failed, 0 passed, 0 not judged\n");
    took(&s, 0, 5, 7.5); /* grew by just what is allowed: chance with 50 %, which is not less */
    s.functions[0][0].self.share.variance = s.functions[1][0].self.share.variance = 0.0009;
    expect(&s, "max-share-growth 25\nmax-share-growth ^print$=90\nconfidence 50",
           "passed      max-share-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
    took(&s, 0, 5, 5.6);
    expect(&s, "max-share-growth 5\nnoise 30\nmin-samples 1000",
           "passed      max-share-growth: 3 functions judged; 1 not in the baseline\n"
           "passed: 0 failed, 1 passed, 0 not judged\n");
}

CASE(test_times_that_lack_data)
{
    static const char ALL[] = "max-time-growth 1\nmax-share-growth 1\nmax-total-growth 1";
    struct sides s;
    (void)state;
    sides_init(&s);
    s.old.effective = 99.6;
    expect(&s, ALL,
           "not judged  max-time-growth: one side has 100 samples, fewer than 100\n"
           "not judged  max-share-growth: one side has 100 samples, fewer than 100\n"
           "not judged  max-total-growth: one side has 100 samples, fewer than 100\n"
           "not judged: 0 failed, 0 passed, 3 not judged\n");
    s.old.effective = 1000;
    s.new.effective = 7;
    expect(&s, "max-share-growth 1\nmax-calls-growth 1", /* few samples are no fault of the rules */
           "passed      max-calls-growth: 3 functions judged; 1 not in the baseline\n"
           "not judged  max-share-growth: one side has 7 samples, fewer than 100\n"
           "passed: 0 failed, 1 passed, 1 not judged\n");
    s.new.effective = 100; /* enough */
    s.c.compares_time = s.new.has_stacks = false;
    expect(&s, ALL,
           "not judged  max-time-growth: the samples of both sides are not comparable in time\n"
           "not judged  max-share-growth: too few samples of every function that it is about\n"
           "not judged  max-total-growth: totals without call stacks are estimates, which cannot "
           "be judged\n"
           "not judged: 0 failed, 0 passed, 3 not judged\n");
    s.new.has_stacks = true;
    s.old.has_stacks = false;
    expect(
        &s, "max-total-growth 1",
        "not judged  max-total-growth: totals without call stacks are estimates, which cannot be "
        "judged\n"
        "not judged: 0 failed, 0 passed, 1 not judged\n");
    s.c.compares_samples = false;
    expect(&s, "max-share-growth 1",
           "not judged  max-share-growth: one side has no samples\n"
           "not judged: 0 failed, 0 passed, 1 not judged\n");
    s.c.compares_calls = false; /* defaults may lack their data, but then there is no verdict */
    expect(&s, "",
           "not judged  max-cpu-growth: the CPU time of both sides must be known\n"
           "not judged  max-elapsed-growth: the elapsed time of both sides must be known\n"
           "not judged  max-memory-growth: peak memory is not known on both sides\n"
           "not judged  max-calls-growth: one side counted no calls\n"
           "not judged  max-time-growth: one side has no samples\n"
           "not judged: 0 failed, 0 passed, 5 not judged\n");
}

/* --- coverage --------------------------------------------------------------------------------- */

static void expect_coverage(const struct coverage_change *c, const char *rule, const char *expected)
{
    struct rules r;
    struct verdict v = {0};
    struct err e = {0};
    rules_init(&r);
    if (*rule)
        assert_true(rules_add(&r, RULE_COVERAGE, rule, &e));
    verdict_coverage(&v, &r, c);
    expect_form("text", &v, expected);
    verdict_deinit(&v);
    rules_deinit(&r);
}

CASE(test_coverage)
{
    struct coverage_change c = {0};
    (void)state;
    struct source_change fell = {.path = "a.c",
                                 .old_sums.lines = {8, 6, 0},
                                 .new_sums.lines = {8, 4, 0},
                                 .first_lost = 1,
                                 .lost = 2};
    struct source_change fresh = fell, gone = fell, rose = fell;
    fresh.old = gone.new = NO_SOURCE;
    rose.path = "b.c";
    rose.new_sums.lines.hit = 7;
    vec_push(&c.lost, (struct changed_line){3, 3});
    vec_push(&c.lost, (struct changed_line){5, 4});
    vec_push(&c.lost, (struct changed_line){9, 8});
    vec_push(&c.sources, fell);
    vec_push(&c.sources, fresh);
    vec_push(&c.sources, gone);
    vec_push(&c.sources, rose);
    expect_coverage(&c, "", "not judged: 0 failed, 0 passed, 0 not judged\n");
    expect_coverage(&c, "25",
                    "passed      max-coverage-fall: 2 sources judged\n"
                    "passed: 0 failed, 1 passed, 0 not judged\n");
    expect_coverage(&c, "^b=0",
                    "passed      max-coverage-fall: 1 source judged\n"
                    "passed: 0 failed, 1 passed, 0 not judged\n");
    expect_coverage(&c, "^c=0",
                    "not judged  max-coverage-fall: the rule is about no source of both sides\n"
                    "not judged: 0 failed, 0 passed, 1 not judged\n");
    expect_coverage(
        &c, "24.9",
        "failed      max-coverage-fall: line coverage of a.c fell by 25.00 points, from "
        "75.00 to 50.00 %; line 5 and others no longer run\n"
        "failed: 1 failed, 0 passed, 0 not judged\n");
    c.sources.at[0].lost = 1;
    expect_coverage(
        &c, "0",
        "failed      max-coverage-fall: line coverage of a.c fell by 25.00 points, from "
        "75.00 to 50.00 %; line 5 no longer runs\n"
        "failed: 1 failed, 0 passed, 0 not judged\n");
    c.sources.at[0].lost = 0;
    expect_coverage(
        &c, "0",
        "failed      max-coverage-fall: line coverage of a.c fell by 25.00 points, from "
        "75.00 to 50.00 %\n"
        "failed: 1 failed, 0 passed, 0 not judged\n");
    vec_free(&c.sources);
    vec_free(&c.lost);
}

/* The place of a source that fell is for forms that have places; what passed has no subject. */
CASE(test_places_and_figures)
{
    struct coverage_change c = {0};
    struct rules r;
    struct verdict v = {0};
    struct sides s;
    struct err e = {0};
    (void)state;
    vec_push(&c.lost, (struct changed_line){5, 4});
    vec_push(
        &c.sources,
        ((struct source_change){
            .path = "a.c", .old_sums.lines = {8, 6, 0}, .new_sums.lines = {8, 4, 0}, .lost = 1}));
    sides_init(&s);
    took(&s, 0, 5, 7);
    called(&s, 1, 100, 200);
    rules_init(&r);
    assert_true(rules_add(&r, RULE_CALLS, "2", &e) && rules_add(&r, RULE_SELF, "3", &e) &&
                rules_add(&r, RULE_COVERAGE, "1", &e));
    r.noise = 0;
    verdict_profile(&v, &r, &s.c);
    verdict_coverage(&v, &r, &c);
    static const struct verdict_case EXPECTED[] = {
        {CASE_FAILED, "max-calls-growth", "sort", NULL, "a.c", 11, false, 100, 200, 2, -1},
        {CASE_FAILED, "max-share-growth", "parse", NULL, "a.c", 10, false, 50, 70, 3, 0},
        {CASE_FAILED, "max-coverage-fall", "a.c", NULL, "a.c", 5, false, 75, 50, 1, -1},
    };
    assert_int_equal(v.cases.len, 3);
    for (int i = 0; i < 3; i++) {
        const struct verdict_case *is = &v.cases.at[i], *should = &EXPECTED[i];
        assert_int_equal(is->status, should->status);
        assert_string_equal(is->rule, should->rule);
        assert_string_equal(is->subject, should->subject);
        assert_string_equal(is->file, should->file);
        assert_int_equal(is->line, should->line);
        assert_true(fabs(is->old - should->old) < 1e-9 && fabs(is->new - should->new) < 1e-9);
        assert_true(is->limit == should->limit && is->chance == should->chance);
        assert_false(is->is_lacking);
    }
    verdict_deinit(&v);
    rules_deinit(&r);
    vec_free(&c.sources);
    vec_free(&c.lost);
}
