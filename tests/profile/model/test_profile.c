/* Profiles that are the same and that are not, and what they have in common once they are in order.
 */
#include "cases.h"
#include "profile/model/profile.h"

#include <stdlib.h>

static void add_histogram(struct profile *p, uint64_t low, uint8_t width, uint64_t count)
{
    struct histogram h = {.low = low, .high = low + 16, .bins = 4, .rate = 100, .width = width};
    histogram_alloc(&h);
    histogram_add(&h, 1, count);
    vec_push(&p->histograms, h);
}

static struct profile example(void)
{
    struct profile p = {0};
    add_histogram(&p, 0x1000, 2, 7);
    vec_push(&p.arcs, ((struct arc){0x1000, 0x2000, 3}));
    vec_push(&p.arcs, ((struct arc){0x1000, 0x3000, 4}));
    vec_push(&p.blocks, ((struct block){0x1000, 5}));
    vec_push(&p.blocks, ((struct block){0x1004, 6}));
    return p;
}

static void assert_same(struct profile *a, struct profile *b, bool expected)
{
    assert_int_equal(profile_same(a, b), expected);
    assert_int_equal(profile_same(b, a), expected);
    profile_deinit(b);
}

CASE(test_same)
{
    struct profile p = example(), other = example();
    assert_same(&p, &other, true);
    struct profile none = {0}, nothing = {0};
    assert_same(&none, &nothing, true);
    other = example(), other.arcs.at[1].count++;
    assert_same(&p, &other, false);
    other = example(), other.arcs.len--;
    assert_same(&p, &other, false);
    other = example(), other.blocks.at[1].count++;
    assert_same(&p, &other, false);
    other = example(), other.blocks.len--;
    assert_same(&p, &other, false);
    other = example(), histogram_add(&other.histograms.at[0], 3, 1);
    assert_same(&p, &other, false);
    other = example(), other.histograms.at[0].rate++;
    assert_same(&p, &other, false);
    other = example(), add_histogram(&other, 0x2000, 2, 0);
    assert_same(&p, &other, false);
    profile_deinit(&p);
}

/* Counters of other widths are the same if their values are. */
CASE(test_same_in_other_widths)
{
    for (uint8_t width = 4; width <= 8; width *= 2)
        for (uint64_t count = 7; count <= 8; count++) {
            struct profile p = {0}, other = {0};
            add_histogram(&p, 0x1000, 2, 7);
            add_histogram(&other, 0x1000, width, count);
            assert_same(&p, &other, count == 7);
            profile_deinit(&p);
        }
}

CASE(test_order)
{
    struct profile p = example(), mixed = {0};
    add_histogram(&mixed, 0x1000, 2, 2);
    add_histogram(&mixed, 0x1000, 2, 5);
    vec_push(&mixed.arcs, ((struct arc){0x1000, 0x3000, 1}));
    vec_push(&mixed.arcs, ((struct arc){0x1000, 0x2000, 3}));
    vec_push(&mixed.arcs, ((struct arc){0x1000, 0x3000, 3}));
    vec_push(&mixed.blocks, ((struct block){0x1004, 4}));
    vec_push(&mixed.blocks, ((struct block){0x1000, 5}));
    vec_push(&mixed.blocks, ((struct block){0x1004, 2}));
    profile_normalize(&mixed);
    assert_same(&p, &mixed, true);
    profile_deinit(&p);
}

/* Whether a file with 32-bit pointers holds all addresses. */
CASE(test_fits_32)
{
    for (uint64_t address = UINT32_MAX; address <= UINT64_C(1) << 32; address++) {
        bool fits = address <= UINT32_MAX;
        for (int place = 0; place < 5; place++) {
            struct profile p = example();
            struct histogram *h = &p.histograms.at[0];
            uint64_t *places[] = {&h->low, &h->high, &p.arcs.at[1].from, &p.arcs.at[1].self,
                                  &p.blocks.at[1].address};
            *places[place] = address;
            assert_int_equal(profile_fits_32(&p), fits);
            profile_deinit(&p);
        }
    }
}
