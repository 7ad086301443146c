/* Turns in made-up histories: those that are there are found where they are, and hardly any other.
 */
#include "cases.h"
#include "store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { YEAR = 365, HISTORIES = 200 };

struct draws {
    uint64_t state;
};

static double uniform(struct draws *d)
{
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(d->state >> 11) + 0.5) / 0x1p53;
}

static double normal(struct draws *d)
{
    double radius = sqrt(-2 * log(uniform(d)));
    return radius * cos(2 * M_PI * uniform(d));
}

/* A year whose level grows by `steps` on days 90, 180 and 270; `wild`: the share of runs that a
 * busy machine made much longer. */
static void make_year(struct store_point *points, struct draws *d, const double *steps,
                      double noise, double sampling, double wild)
{
    double level = 2;
    for (int day = 0; day < YEAR; day++) {
        if (day && day % 90 == 0 && day / 90 <= 3)
            level *= 1 + steps[day / 90 - 1];
        double value = level * (1 + noise * normal(d)) + sampling * normal(d);
        if (uniform(d) < wild)
            value *= 1 + 10 * noise * uniform(d);
        points[day] = (struct store_point){"c", day, value, sampling, 1};
    }
}

CASE(turns_are_found)
{
    static const double STEPS[] = {0.02, 0.05, 0.20};
    struct draws d = {7};
    size_t right = 0, in_range = 0, all = 0, others = 0;
    (void)state;
    for (int i = 0; i < HISTORIES; i++) {
        struct store_point points[YEAR];
        struct turns turns;
        make_year(points, &d, STEPS, 0.005, 0.004, 0.01);
        turns_find(points, YEAR, 0.01, &turns);
        all += turns.at.len;
        for (size_t k = 0; k < turns.at.len; k++) {
            const struct turn *t = &turns.at.at[k];
            size_t day = (t->at + 45) / 90 * 90;
            right += t->at == day;
            in_range += t->first <= day && day <= t->last;
            others += t->at > day + 5 || day > t->at + 5;
        }
        assert_true(turns.noise > 0.003 && turns.noise < 0.007);
        vec_free(&turns.at);
    }
    print_message("# %zu turns of %d, %zu at the day, %zu in range\n", all, 3 * HISTORIES, right,
                  in_range);
    /* +2 % is four of a run's standard deviations: its day is sure to one day, the others' exactly.
     */
    assert_in_range(all, 3 * HISTORIES, 3 * HISTORIES + 4);
    assert_true(right >= 3 * HISTORIES * 9 / 10);
    assert_true(in_range >= 3 * HISTORIES * 97 / 100);
    assert_true(others <= 4);
}

/* At most one in a thousand commits: there are 219,000 here. */
CASE(even_histories_have_none)
{
    static const double NONE[] = {0, 0, 0};
    struct draws d = {11};
    size_t found = 0;
    (void)state;
    for (int i = 0; i < 3 * HISTORIES; i++) {
        struct store_point points[YEAR];
        struct turns turns;
        make_year(points, &d, NONE, 0.003 * (1 + i % 10), 0.01 * (i % 3), 0.02 * (i % 2));
        turns_find(points, YEAR, 0.01, &turns);
        found += turns.at.len;
        vec_free(&turns.at);
    }
    print_message("# %zu false turns in %d commits\n", found, 3 * HISTORIES * YEAR);
    assert_true(found <= 20);
}

CASE(short_histories)
{
    struct store_point points[] = {{"a", 0, 1, 0, 1},
                                   {"b", 1, 1, 0, 1},
                                   {"c", 2, 1, 0, 1},
                                   {"d", 3, 2, 0, 1},
                                   {"e", 4, 2, 0, 1}};
    struct turns turns;
    (void)state;
    for (size_t len = 0; len <= 5; len++) {
        turns_find(points, len, 0.01, &turns);
        assert_int_equal(turns.at.len, len == 5); /* one run of a level may have been disturbed */
        vec_free(&turns.at);
    }
    points[3].runs = 2;
    turns_find(points, 4, 0.01, &turns);
    assert_true(turns.at.len == 1 && turns.at.at[0].at == 3);
    vec_free(&turns.at);
    turns_find(points, 4, 2, &turns); /* it must be as large as asked for */
    assert_int_equal(turns.at.len, 0);
    for (size_t i = 0; i < 5; i++)
        points[i].value = 0;
    turns_find(points, 5, 0.01, &turns);
    assert_int_equal(turns.at.len, 0);
}
