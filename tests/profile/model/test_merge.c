/* Merging is exact, keeps the order of first appearance, obeys its laws, and refuses what does not
 * fit together without touching what it had. */
#include "cases.h"
#include "profile/model/profile.h"

#include <string.h>

static struct profile empty_profile(void)
{
    return (struct profile){.format = PROFILE_GNU, .version = 1, .word = 8};
}

static void add_histogram(struct profile *p, uint64_t low, uint32_t bins, uint64_t count)
{
    struct histogram h = {.low = low,
                          .high = low + 4 * bins,
                          .bins = bins,
                          .rate = 100,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    histogram_alloc(&h);
    for (uint32_t i = 0; i < bins; i++)
        histogram_add(&h, i, count + i);
    vec_push(&p->histograms, h);
    p->histogram_records++;
}

static void add_arc(struct profile *p, uint64_t from, uint64_t self, uint64_t count)
{
    vec_push(&p->arcs, ((struct arc){from, self, count}));
    p->arc_records++;
}

CASE(test_sums_and_order)
{
    struct profile a = empty_profile(), b = empty_profile(), sum = {0};
    add_arc(&a, 1, 10, 5), add_arc(&a, 2, 10, UINT32_MAX), add_arc(&a, 1, 10, 2);
    add_arc(&b, 7, 70, 1), add_arc(&b, 2, 10, UINT32_MAX), add_arc(&b, 1, 10, UINT64_MAX);
    add_histogram(&a, 0x1000, 8, 65530), add_histogram(&b, 0x1000, 8, 65530);
    add_histogram(&b, 0x100, 8, 1);
    vec_push(&b.blocks, ((struct block){4, 4}));
    vec_push(&b.blocks, ((struct block){4, 5}));
    assert_true(profile_merge(&sum, &a, NULL) && profile_merge(&sum, &b, NULL));

    assert_int_equal(sum.word, 8);
    assert_int_equal(sum.arcs.len, 3);
    assert_true(sum.arcs.at[0].from == 1 && sum.arcs.at[0].count == UINT64_MAX);
    assert_true(sum.arcs.at[1].from == 2 && sum.arcs.at[1].count == UINT64_C(2) * UINT32_MAX);
    assert_true(sum.arcs.at[2].from == 7 && sum.arcs.at[2].count == 1);
    assert_int_equal(sum.histograms.len, 2);
    assert_true(sum.histograms.at[0].low == 0x1000 && sum.histograms.at[1].low == 0x100);
    assert_true(histogram_get(&sum.histograms.at[0], 7) == 2 * 65537);
    assert_int_equal(sum.blocks.len, 1);
    assert_true(sum.blocks.at[0].count == 9);
    assert_int_equal(sum.arc_records, 6);
    assert_int_equal(sum.histogram_records, 3);
    profile_deinit(&a), profile_deinit(&b), profile_deinit(&sum);
}

/* Many files of which each leaves out, adds and moves some arcs. */
CASE(test_many)
{
    enum { ARCS = 3000, FILES = 50 };
    static uint64_t expected[ARCS];
    struct merger m = {0};
    for (unsigned f = 0; f < FILES; f++) {
        struct profile p = empty_profile();
        for (unsigned i = 0; i < ARCS; i++) {
            unsigned k = f % 7 == 3 ? ARCS - 1 - i : i;
            if ((k * 31 + f * 17) % 13 == 0)
                continue;
            add_arc(&p, 16 * k, k % 100, f + k);
            expected[k] += f + k;
        }
        assert_true(merger_add(&m, &p, NULL));
        profile_deinit(&p);
    }
    struct profile sum = merger_take(&m);
    assert_int_equal(sum.arcs.len, ARCS);
    for (size_t i = 0; i < sum.arcs.len; i++)
        assert_true(sum.arcs.at[i].count == expected[sum.arcs.at[i].from / 16]);
    profile_deinit(&sum);
}

static void expect_refusal(struct profile *a, struct profile *b, const char *message)
{
    struct err e = {0};
    struct profile before = {0};
    assert_true(profile_merge(&before, a, NULL));
    assert_false(profile_merge(a, b, &e));
    assert_string_equal(e.line, message);
    struct profile after = {0};
    assert_true(profile_merge(&after, a, NULL));
    profile_normalize(&before);
    profile_normalize(&after);
    assert_true(profile_same(&before, &after));
    profile_deinit(&before), profile_deinit(&after);
}

/* Ranges that would overlap, and rates that differ, in two dimensions: they stand side by side. */
CASE(test_dimensions)
{
    struct profile a = empty_profile(), b = empty_profile(), rest = {0};
    add_histogram(&a, 0x1000, 8, 1);
    add_histogram(&b, 0x1010, 8, 2);
    strcpy(b.histograms.at[0].dimension, "misses");
    b.histograms.at[0].rate = 1;
    assert_true(profile_merge(&a, &b, NULL));
    assert_true(profile_merge(&a, &b, NULL));
    assert_int_equal(a.histograms.len, 2);
    assert_true(profile_has_dimensions(&a));
    b.histograms.at[0].low += 4, b.histograms.at[0].high += 4;
    expect_refusal(&a, &b, "histogram 0x1010-0x1030 of 8 bins overlaps 0x1014-0x1034 of 8 bins");
    profile_split_dimension(&a, &rest);
    assert_false(profile_has_dimensions(&a));
    assert_int_equal(profile_samples(&a), 36);
    assert_int_equal(profile_samples(&rest), 88);
    profile_deinit(&a), profile_deinit(&b), profile_deinit(&rest);
}

CASE(test_refusals)
{
    struct profile a = empty_profile(), b = empty_profile();
    add_histogram(&a, 0x1000, 8, 1);
    add_histogram(&b, 0x1010, 8, 1);
    add_arc(&b, 1, 1, 1);
    expect_refusal(&a, &b, "histogram 0x1000-0x1020 of 8 bins overlaps 0x1010-0x1030 of 8 bins");
    b.histograms.at[0].low = 0x1000, b.histograms.at[0].high = 0x1020;
    b.histograms.at[0].rate = 250;
    expect_refusal(&a, &b, "one histogram has a rate of 100, another of 250");
    b.histograms.at[0].rate = 100;
    strcpy(b.histograms.at[0].dimension, "misses");
    assert_true(check_mergeable(&a, &b, NULL));
    strcpy(b.histograms.at[0].dimension, "seconds");
    b.histograms.at[0].abbreviation = 'm';
    expect_refusal(&a, &b, "one histogram counts \"seconds\" ('m'), another \"seconds\" ('s')");
    b.histograms.at[0].abbreviation = 's';
    b.word = 4;
    expect_refusal(&a, &b,
                   "one profile is from a 64-bit little-endian machine, another from a 32-bit "
                   "little-endian one");
    b.word = 8;
    assert_true(profile_merge(&a, &b, NULL));
    profile_deinit(&a), profile_deinit(&b);
}

/* An overlap is found although another histogram begins between the two. */
CASE(test_hidden_overlap)
{
    struct profile p = empty_profile();
    add_histogram(&p, 0x1000, 0x100, 0);
    add_histogram(&p, 0x1080, 4, 0);
    p.histograms.at[1].high = 0x100; /* ends before it begins */
    assert_true(check_mergeable(&p, NULL, NULL));
    add_histogram(&p, 0x1200, 4, 0);
    assert_false(check_mergeable(&p, NULL, NULL));
    profile_deinit(&p);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static struct profile random_profile(uint32_t *seed)
{
    struct profile p = empty_profile();
    for (unsigned i = next_random(seed) % 4; i--;)
        add_histogram(&p, 0x1000 * (next_random(seed) % 4), 8 + next_random(seed) % 20 / 19,
                      next_random(seed) % 3 ? 7 : 65530);
    for (unsigned i = next_random(seed) % 40; i--;)
        add_arc(&p, next_random(seed) % 5, next_random(seed) % 5, next_random(seed));
    return p;
}

CASE(test_laws)
{
    uint32_t seed = 1;
    for (unsigned round = 0; round < 2000; round++) {
        struct err e = {0};
        struct profile a = random_profile(&seed), b = random_profile(&seed),
                       c = random_profile(&seed);
        if (!check_merge_laws(&a, &b, &c, &e))
            fail_msg("%s", e.line);
        profile_deinit(&a), profile_deinit(&b), profile_deinit(&c);
    }
}
