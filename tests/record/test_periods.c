/* Weights of samples, against clocks whose lives are known: what the kernel does with a period that
 * was drawn is done here, for thousands of clocks. */
#include "cases.h"
#include "record/perf/perf_clocks.h"

#include <math.h>
#include <stdlib.h>

enum { NOMINAL = 1000000, CLOCKS = 400000 };

/* What the samples at ages from `from` to `to` weigh, as a share of that time. */
static double weigh_ages(enum period_kind kind, uint64_t from, uint64_t to, uint64_t seed)
{
    struct periods p;
    double sum = 0;
    periods_init(&p, NOMINAL, seed);
    for (uint64_t clock = 1; clock <= CLOCKS; clock++) {
        uint64_t period = periods_draw(&p, kind);
        bool is_first_period;
        for (uint64_t age = period; age <= to; age += period) {
            uint64_t weight = periods_weigh(&p, clock, period, &is_first_period);
            sum += age > from ? (double)weight : 0;
        }
    }
    periods_deinit(&p);
    return sum / ((double)(to - from) * CLOCKS);
}

/* Each part of a life, also of lives in which no clock of the nominal period would tick. */
CASE(each_moment_counts_once_on_average)
{
    static const struct {
        enum period_kind kind;
        uint64_t from, to;
    } cases[] = {
        {PERIOD_SHORTEST, 0, 80000},         {PERIOD_SHORTEST, 80000, 120000},
        {PERIOD_SHORTEST, 120000, 400000},   {PERIOD_SHORTEST, 400000, 1400000},
        {PERIOD_SHORTEST, 1900000, 2100000}, {PERIOD_SHORTEST, 2000000, 5000000},
        {PERIOD_MIXED, 0, 500000},           {PERIOD_MIXED, 500000, 900000},
        {PERIOD_MIXED, 1400000, 1600000},    {PERIOD_MIXED, 1600000, 8100000},
        {PERIOD_LONG, 0, 1000000},           {PERIOD_LONG, 1000000, 1500000},
        {PERIOD_LONG, 1500000, 4000000},     {PERIOD_LONG, 10000000, 20000000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share = weigh_ages(cases[i].kind, cases[i].from, cases[i].to, 12345 + i);
        if (fabs(share - 1) > 0.02)
            fail_msg("kind %d: ages of %.2f to %.2f ms weigh %.4f of what they are", cases[i].kind,
                     (double)cases[i].from / 1e6, (double)cases[i].to / 1e6, share);
    }
}

/* The period of a redrawn clock at some moment, if each lasts for as many samples. */
static uint64_t in_force(struct redrawn_clocks *c)
{
    for (uint64_t end = 0, until = (uint64_t)(50000 + rand() % 50000) * NOMINAL / 1000;;) {
        uint64_t period = redrawn_clocks_draw(c);
        end += 4 * period;
        if (end > until)
            return period;
    }
}

/* A redrawn clock's period, as it is when a thread inherits a copy. */
CASE(each_moment_of_a_copy_counts_once_on_average)
{
    static const double ages[][2] = {{0, 0.75},  {0.75, 0.9}, {0.9, 1.4},
                                     {1.4, 1.6}, {1.6, 5},    {7, 20}};
    (void)state;
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        struct periods p;
        struct redrawn_clocks c;
        double sum = 0;
        periods_init(&p, NOMINAL, 1);
        redrawn_clocks_init(&c, NOMINAL);
        c.random = 4711 + i;
        for (uint64_t clock = 1; clock <= CLOCKS; clock++) {
            uint64_t period = in_force(&c), to = (uint64_t)(ages[i][1] * NOMINAL);
            bool is_first_period;
            for (uint64_t age = period; age <= to; age += period) {
                uint64_t weight = periods_weigh_copy(&p, clock, period, &is_first_period);
                sum += (double)age > ages[i][0] * NOMINAL ? (double)weight : 0;
            }
        }
        double share = sum / ((ages[i][1] - ages[i][0]) * NOMINAL * CLOCKS);
        if (fabs(share - 1) > 0.02)
            fail_msg("ages of %.2f to %.2f ms weigh %.4f of what they are", ages[i][0], ages[i][1],
                     share);
        periods_deinit(&p);
        redrawn_clocks_deinit(&c);
    }
}

/* A clock that keeps its period for long has no rhythm in common with others: the share of a
 * quarter of each millisecond, over many clocks, is a quarter; with the nominal period it is all
 * or nothing. Its scatter is that of as many samples drawn at random. */
CASE(clocks_keep_no_step_with_a_rhythm)
{
    enum { RUNS = 4000, SAMPLES = 500 };
    struct periods p;
    double sum = 0, squares = 0;
    (void)state;
    periods_init(&p, NOMINAL, 99);
    for (int run = 0; run < RUNS; run++) {
        uint64_t period = periods_draw(&p, PERIOD_LONG), start = (uint64_t)run * 777777;
        int hits = 0;
        for (uint64_t k = 1; k <= SAMPLES; k++)
            hits += (start + k * period) % 1000000 < 250000;
        double share = (double)hits / SAMPLES;
        sum += share;
        squares += share * share;
    }
    periods_deinit(&p);
    double mean = sum / RUNS, variance = squares / RUNS - mean * mean;
    if (fabs(mean - 0.25) > 0.003 || variance > 2 * 0.25 * 0.75 / SAMPLES)
        fail_msg("a quarter is seen as %.4f, with a deviation of %.4f", mean, sqrt(variance));
}

CASE(draws_stay_within_their_bounds)
{
    static const double least[] = {[PERIOD_LONG] = 0.5, [PERIOD_MIXED] = 0.25, 0.04},
                        most[] = {[PERIOD_LONG] = 1.5, [PERIOD_MIXED] = 2, 2};
    (void)state;
    for (enum period_kind kind = PERIOD_LONG; kind < PERIOD_KINDS; kind++) {
        struct periods p;
        double low = 1e9, high = 0;
        periods_init(&p, NOMINAL, 1);
        for (int i = 0; i < 100000; i++) {
            double drawn = (double)periods_draw(&p, kind) / NOMINAL;
            low = fmin(low, drawn);
            high = fmax(high, drawn);
        }
        assert_true(low > least[kind] - 0.001 && low < least[kind] + 0.001);
        assert_true(high > most[kind] - 0.001 && high < most[kind] + 0.001);
        periods_deinit(&p);
    }
}

CASE(clocks_that_were_not_drawn_weigh_their_period)
{
    struct periods p;
    bool is_first_period = true;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    assert_int_equal(periods_weigh(&p, 7, NOMINAL, &is_first_period), NOMINAL);
    assert_false(is_first_period);
    for (int i = 0; i < 30; i++) /* age 9 and older */
        periods_weigh(&p, 8, 300001, &is_first_period);
    assert_int_equal(periods_weigh(&p, 8, 300001, &is_first_period), 300001);
    assert_false(is_first_period);
    periods_weigh(&p, 8, 600001, &is_first_period); /* begins anew */
    assert_true(is_first_period);
    periods_deinit(&p);
}

/* Periods are drawn short while short lives have much of the time, and no longer. */
CASE(draws_follow_what_lives)
{
    struct periods p;
    bool is_first_period;
    uint64_t clock = 1;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    for (int i = 0; i < 200; i++)
        periods_weigh(&p, clock++, 400001, &is_first_period);
    int few = 0;
    for (int i = 0; i < 1000; i++)
        few += periods_draw_next(&p) < NOMINAL / 10;
    assert_in_range(few, 25, 50);
    for (int i = 0; i < 20000; i++)
        periods_weigh(&p, clock, 500001, &is_first_period);
    for (int i = 0; i < 1000; i++)
        assert_true(periods_draw_next(&p) >= NOMINAL / 4 - 8);
    periods_deinit(&p);
}

/* Of threads that live for so long, one after another: how many of the last draws are short. */
static int short_draws(uint64_t life)
{
    struct periods p;
    int few = 0;
    periods_init(&p, NOMINAL, 1);
    for (uint64_t clock = 1; clock <= 3000; clock++) {
        uint64_t period = periods_draw_next(&p);
        bool is_first_period;
        periods_begun(&p);
        for (uint64_t age = period; age <= life; age += period)
            periods_weigh(&p, clock, period, &is_first_period);
        few += clock > 1000 && period < NOMINAL / 4 - 8;
    }
    periods_deinit(&p);
    return few;
}

/* A process of 4 ms has few moments that no clock of a quarter would meet, and half as many
 * interrupts. */
CASE(draws_are_short_for_lives_of_two_periods_alone)
{
    (void)state;
    assert_in_range(short_draws(NOMINAL / 2), 100, 400);
    assert_in_range(short_draws(2 * NOMINAL), 100, 400);
    assert_int_equal(short_draws(4 * NOMINAL), 0);
}

/* Threads of which none lives long enough for a sample. */
CASE(draws_follow_what_is_never_seen)
{
    struct periods p;
    int few = 0;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    for (int i = 0; i < 100; i++)
        periods_begun(&p);
    for (int i = 0; i < 1000; i++)
        few += periods_draw_next(&p) < NOMINAL / 10;
    assert_in_range(few, 20, 50);
    periods_deinit(&p);
}

/* Memory is bounded: clocks that were seen before the list was full are old from then on. */
CASE(many_clocks_are_forgotten)
{
    struct periods p;
    bool is_first_period;
    (void)state;
    periods_init(&p, NOMINAL, 1);
    for (uint64_t clock = 1; clock <= 300000; clock++)
        periods_weigh(&p, clock, 500001, &is_first_period);
    assert_true(is_first_period);
    assert_in_range(p.clocks.len, 1, 100000);
    assert_int_equal(periods_weigh(&p, 5, 500001, &is_first_period), 500001);
    assert_false(is_first_period);
    periods_deinit(&p);
}

/* Events so few that a period has no room for more than its number. */
CASE(small_periods_are_drawn_and_weighed)
{
    struct periods p;
    double sum = 0;
    bool is_first_period;
    (void)state;
    periods_init(&p, 100, 7);
    for (uint64_t clock = 1; clock <= 20000; clock++) {
        uint64_t period = periods_draw_next(&p);
        for (uint64_t age = period; age <= 2000; age += period)
            sum += (double)periods_weigh(&p, clock, period, &is_first_period);
    }
    if (fabs(sum / 20000 / 2000 - 1) > 0.03)
        fail_msg("lives weigh %.4f of what they are", sum / 20000 / 2000);
    periods_deinit(&p);
}
