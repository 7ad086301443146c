/* What is odd about a profile: each finding alone, at its limits, and its count. */
#include "cases.h"
#include "profile/model/profile.h"

#include <stdlib.h>
#include <string.h>

static struct histogram *add(struct profile *p, uint64_t low, uint64_t high, uint32_t bins)
{
    struct histogram h = {.low = low,
                          .high = high,
                          .bins = bins,
                          .rate = 100,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    histogram_alloc(&h);
    if (bins)
        histogram_add(&h, 0, 1);
    vec_push(&p->histograms, h);
    return &p->histograms.at[p->histograms.len - 1];
}

/* That these are the findings, each with its count; then the profile is gone. */
static void expect(struct profile *p, const struct finding *expected, size_t len)
{
    struct finding_list found = check_profile(p);
    assert_int_equal(found.len, len);
    for (size_t i = 0; i < len; i++) {
        assert_string_equal(finding_name(found.at[i].kind), finding_name(expected[i].kind));
        assert_int_equal(found.at[i].count, expected[i].count);
    }
    profile_deinit(p);
    *p = (struct profile){0};
}

#define EXPECT(profile, ...)                                             \
    do {                                                                 \
        const struct finding findings[] = {__VA_ARGS__};                 \
        expect(profile, findings, sizeof findings / sizeof findings[0]); \
    } while (0)

CASE(test_histograms)
{
    struct profile p = {0};
    EXPECT(&p, {FINDING_NO_RECORDS, 1});
    add(&p, 0x1000, 0x1010, 4);
    expect(&p, NULL, 0);
    add(&p, 0x1000, 0x1010, 4), p.trailing_bytes = 7;
    EXPECT(&p, {FINDING_TRAILING_BYTES, 7});
    add(&p, 0x1000, 0x1008, 4); /* 2 bytes a bin */
    expect(&p, NULL, 0);
    add(&p, 0x1000, 0x1008, 5), add(&p, 0x2000, 0x2008, 5);
    EXPECT(&p, {FINDING_FINE_BINS, 2});
    add(&p, 0x1000, 0x1010, 4)->rate = 0;
    EXPECT(&p, {FINDING_NO_RATE, 1});
    histogram_add(add(&p, 0x1000, 0x1010, 4), 0, 65533);
    expect(&p, NULL, 0);
    histogram_add(add(&p, 0x1000, 0x1010, 4), 0, 65534);
    EXPECT(&p, {FINDING_FULL_BINS, 1});
    histogram_add(add(&p, 0x1000, 0x1010, 4), 3, 65536);
    expect(&p, NULL, 0);
}

CASE(test_empty_ranges)
{
    struct profile p = {0};
    add(&p, 0x1000, 0x1000, 0);
    EXPECT(&p, {FINDING_EMPTY_RANGE, 1}, {FINDING_NO_BINS, 1}, {FINDING_NO_SAMPLES, 1});
    add(&p, 0x1000, 0x1001, 0);
    EXPECT(&p, {FINDING_NO_BINS, 1}, {FINDING_NO_SAMPLES, 1});
}

/* Ranges that touch are no overlap, and neither are those that are the same. */
CASE(test_several_histograms)
{
    struct profile p = {0};
    add(&p, 0x1010, 0x1020, 4), add(&p, 0x1000, 0x1010, 4), add(&p, 0x1010, 0x1020, 4);
    expect(&p, NULL, 0);
    add(&p, 0x100f, 0x101f, 4), add(&p, 0x1000, 0x1010, 4);
    EXPECT(&p, {FINDING_OVERLAP, 1});
    add(&p, 0x1000, 0x1010, 4), add(&p, 0x1010, 0x1020, 4)->rate = 50;
    EXPECT(&p, {FINDING_MIXED_UNITS, 1});
    add(&p, 0x1000, 0x1010, 4), strcpy(add(&p, 0x1010, 0x1020, 4)->dimension, "misses");
    EXPECT(&p, {FINDING_MIXED_UNITS, 1});
    add(&p, 0x1000, 0x1010, 4), add(&p, 0x1010, 0x1020, 8);
    EXPECT(&p, {FINDING_MIXED_SCALES, 1});
}

static void call(struct profile *p, uint64_t from, uint64_t self, uint64_t count)
{
    vec_push(&p->arcs, ((struct arc){from, self, count}));
}

/* Callees lie in a range if they are at its beginning, and not if they are at its end. */
CASE(test_arcs)
{
    struct profile p = {0};
    call(&p, 0x1000, 0x1004, 1); /* without a histogram nothing is outside of one */
    expect(&p, NULL, 0);
    call(&p, 0, 0x1004, 1), call(&p, 0, 0x1008, 0), call(&p, 8, 0x1008, 0);
    EXPECT(&p, {FINDING_UNKNOWN_CALLERS, 2}, {FINDING_IDLE_ARCS, 2});
    static const struct {
        uint64_t address;
        bool is_covered;
    } cases[] = {{0xfff, false},  {0x1000, true}, {0x100f, true}, {0x1010, false},
                 {0x1fff, false}, {0x2000, true}, {0x200f, true}, {0x2010, false},
                 {0x2fff, false}, {0x3000, true}, {0x300f, true}, {0x3010, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t low = 0x3000; low >= 0x1000; low -= 0x1000)
            add(&p, low, low + 0x10, 4);
        call(&p, 0x1000, cases[i].address, 1);
        struct finding outside = {FINDING_ARCS_OUTSIDE, 1};
        expect(&p, &outside, !cases[i].is_covered);
    }
}
