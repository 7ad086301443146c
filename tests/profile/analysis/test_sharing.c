/* Bins that lie over several functions: by hand, and, of random programs and hits, the law that a
 * coarser histogram's bounds hold what a finer one of the same hits says. */
#include "cases.h"
#include "profile/analysis/toy.h"

#include "profile/analysis/attribution.h"

#include <math.h>

static void find(struct sharing *s, struct toy *b)
{
    sharing_of_functions(s, &b->profile, &b->functions, &b->arena);
}

CASE(test_by_hand)
{
    struct toy b = {0};
    struct sharing s;
    toy_functions(&b, 3, 16);
    struct histogram *h = toy_histogram(&b, FIRST, FIRST + 48, 2); /* 24 bytes a bin */
    histogram_add(h, 0, 10);
    find(&s, &b);
    assert_close(s.least[0], 0);
    assert_close(s.most[0], 10);
    assert_close(s.most[1], 10);
    assert_close(s.most[2], 0);
    assert_close(s.samples, 10);
    assert_int_equal(s.bin_bytes, 24);
    assert_int_equal(s.separating_bytes, 16);
    toy_deinit(&b);
}

/* The end of a function and the start of the next one may be told apart anywhere between them. */
CASE(test_padding_is_nobodys)
{
    struct toy b = {0};
    struct sharing s;
    toy_functions(&b, 2, 11);
    struct histogram *h = toy_histogram(&b, FIRST - 2, FIRST + 30, 1);
    histogram_add(h, 0, 8);
    find(&s, &b);
    assert_int_equal(s.separating_bytes, 16); /* 14 to 16 + 2 bytes behind the start */
    toy_deinit(&b);
    toy_functions(&b, 2, 11);
    b.profile = (struct profile){0};
    h = toy_histogram(&b, FIRST, FIRST + 16, 1);
    histogram_add(h, 0, 8);
    find(&s, &b);
    assert_close(s.least[0], 8);
    assert_close(s.samples, 0);
    assert_int_equal(s.separating_bytes, 0);
    toy_deinit(&b);
}

CASE(test_pieces_are_their_function)
{
    struct toy b = {0};
    struct sharing s;
    toy_functions(&b, 3, 16);
    b.functions.at[1].piece_of = 1;
    struct histogram *h = toy_histogram(&b, FIRST, FIRST + 64, 2);
    histogram_add(h, 0, 6);
    histogram_add(h, 1, 5);
    find(&s, &b);
    assert_close(s.least[0], 6);
    assert_close(s.most[0], 6);
    assert_close(s.least[2], 5);
    assert_close(s.samples, 0);
    toy_deinit(&b);
}

enum { BYTES = 1024, MOST = 200 };

/* Functions of random length, some of them with gaps between; hits of each byte in a function. */
static void make(struct toy *b, uint32_t *hits, uint64_t *random)
{
    struct function *at = ARENA_NEW(&b->arena, struct function, MOST);
    uint64_t place = FIRST;
    b->functions.at = at;
    while (b->functions.len < MOST) {
        place += next_random(random) % 3 ? 0 : next_random(random) % 20;
        uint64_t end = place + 1 + next_random(random) % 60;
        if (end > FIRST + BYTES)
            break;
        at[b->functions.len++] = (struct function){.start = place, .last = end - 1, .name = "f"};
        for (; place < end; place++)
            hits[place - FIRST] =
                next_random(random) % 4 ? 0 : next_random(random) % 50; /* most are idle */
    }
    functions_index(&b->functions, &b->arena);
}

static void rebin(struct toy *b, const uint32_t *hits, uint32_t width)
{
    profile_deinit(&b->profile);
    b->profile = (struct profile){0};
    struct histogram *h = toy_histogram(b, FIRST, FIRST + BYTES, BYTES / width);
    for (uint32_t i = 0; i < BYTES; i++)
        histogram_add(h, i / width, hits[i]);
}

CASE(test_coarser_bins_hold_the_truth)
{
    uint64_t random = 7;
    for (int round = 0; round < 300; round++) {
        struct toy b = {0};
        uint32_t hits[BYTES] = {0};
        make(&b, hits, &random);
        double total = 0;
        for (uint32_t i = 0; i < BYTES; i++)
            total += hits[i];
        for (uint32_t width = 1; width <= 256; width *= 2) {
            struct sharing s;
            rebin(&b, hits, width);
            find(&s, &b);
            struct attribution t;
            attribute_native(&t, &b.profile, &b.functions.index, &b.arena);
            struct summary summary = {.samples = total, .sharing = &s};
            for (uint32_t f = 0; f < b.functions.len; f++) {
                double exact = 0, slack = 1e-9 * (1 + total);
                for (uint64_t i = b.functions.at[f].start; i <= b.functions.at[f].last; i++)
                    exact += hits[i - FIRST];
                assert_true(s.least[f] <= exact + slack && exact <= s.most[f] + slack);
                assert_true(s.least[f] <= t.self[f] + slack && t.self[f] <= s.most[f] + slack);
                if (width == 1)
                    assert_true(s.least[f] == exact && s.most[f] == exact);
                if (!(total > 0))
                    continue;
                struct interval fine = share_interval(exact, total);
                struct interval coarse = summary_self_interval(&summary, f, t.self[f]);
                assert_true(coarse.low <= fine.low + 1e-12 && fine.high <= coarse.high + 1e-12);
            }
            assert_true((s.samples > 0) == (s.separating_bytes > 0));
            if (s.samples > 0) { /* and the width that it names keeps its promise */
                struct sharing finer;
                assert_true(s.separating_bytes < width);
                rebin(&b, hits, (uint32_t)s.separating_bytes);
                find(&finer, &b);
                assert_true(finer.samples == 0);
            }
        }
        toy_deinit(&b);
    }
}

/* 10,000 samples of 0.1 ms of which half are of a function, beside time that has none. */
static struct interval half_beside(uint64_t used_ns, uint32_t kind, uint64_t lost_ns)
{
    struct recording r = {0};
    struct recording_event event = {.name = "cpu", .period = 100000};
    struct recording_summary run = {.recording = &r,
                                    .event = &event,
                                    .has_cpu = true,
                                    .cpu_ns = used_ns,
                                    .accounted_ns = 1000000000};
    struct summary s = {.samples = 10000, .rate = 10000, .dimension = "seconds", .run = &run};
    if (lost_ns)
        vec_push(&r.losses, (struct recording_loss){.kind = kind, .ns = lost_ns});
    struct interval half = summary_self_interval(&s, 0, 5000);
    vec_free(&r.losses);
    return half;
}

/* A quarter of all time has no place: the function may have had all of it, or none. */
CASE(test_time_without_a_place_widens)
{
    const uint64_t placed = 1000000000, quarter = placed / 3;
    struct interval bare = half_beside(placed, 0, 0), i;
    (void)state;
    assert_true(bare.low > 0.49 && bare.high < 0.51);
    const uint32_t kinds[] = {RECORDING_LOST_RECORDS, RECORDING_LOST_UNPLACED};
    for (size_t k = 0; k < 2; k++) {
        i = half_beside(placed + quarter, kinds[k], quarter);
        assert_true(fabs(i.low - 0.75 * bare.low) < 1e-6);
        assert_true(fabs(i.high - 0.75 * bare.high - 0.25) < 1e-6);
    }
    i = half_beside(placed + quarter, RECORDING_LOST_KERNEL, quarter); /* samples do not mean it */
    assert_true(i.low == bare.low && i.high == bare.high);
    i = half_beside(placed + 250000, 0, 0); /* the last periods of clocks */
    assert_true(i.low == bare.low && i.high == bare.high);
    i = half_beside(placed + 4000000, 0, 0); /* 0.4 %, too little for a loss of its own */
    assert_true(i.low < bare.low - 0.001 && i.high > bare.high + 0.001);
}
