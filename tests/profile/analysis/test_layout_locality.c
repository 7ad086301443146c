/* What running a program costs where its functions stand: layouts whose pages, distances and TLB
 * misses are known without measuring. */
#include "cases.h"
#include "profile/analysis/layout.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 160, PAGE = 4096, LARGE_PAGE = 2 << 20, BASE = 0x400000 };

struct toy {
    struct function at[MOST];
    struct layout_place places[MOST];
    struct layout_call calls[MOST];
    struct functions functions;
    struct layout layout;
};

static void begin(struct toy *t)
{
    *t = (struct toy){.functions.at = t->at};
    t->layout = (struct layout){.functions = &t->functions, .places = t->places, .calls = t->calls};
}

/* A function so far behind the base; it stood a page further before. */
static uint32_t put(struct toy *t, uint64_t offset, uint64_t size, double heat)
{
    uint32_t place = t->layout.len++;
    t->at[place].start = BASE + PAGE + offset;
    t->places[place] = (struct layout_place){
        .function = place, .heat = heat, .size = size, .after = BASE + offset};
    t->layout.heat += heat;
    return place;
}

static void call(struct toy *t, uint32_t caller, uint32_t callee, double count)
{
    t->calls[t->layout.calls_len++] = (struct layout_call){caller, callee, count};
}

static struct locality after(const struct toy *t)
{
    struct locality l;
    layout_locality(&t->layout, true, &l);
    return l;
}

static void assert_near(double found, double expected)
{
    if (fabs(found - expected) > 1e-6 * (1 + fabs(expected)))
        fail_msg("%.9g is not %.9g", found, expected);
}

static void assert_pages(const struct locality *l, const uint64_t *expected)
{
    for (int i = 0; i < 4; i++)
        assert_int_equal(l->pages[i], expected[i]);
}

/* Pages of 9, 50, 1, 40 and next to nothing; code that never ran is on none. */
CASE(test_pages)
{
    struct toy t;
    begin(&t);
    put(&t, 0, 64, 4), put(&t, 64, 64, 5);
    put(&t, PAGE, 64, 50);
    put(&t, 2 * PAGE, 64, 1);
    put(&t, 3 * PAGE, 64, 40);
    put(&t, 4 * PAGE, 64, 1e-30);
    put(&t, LARGE_PAGE, 64, 0);
    struct locality l = after(&t);
    assert_pages(&l, (uint64_t[]){1, 2, 3, 5});
    assert_int_equal(l.large_pages, 1);
    assert_near(l.leaving, 0);
    assert_near(l.misses, 0);
}

/* From the middle of a page over two whole ones to the middle of a fourth: 10, 20, 20 and 10. */
CASE(test_heat_is_spread)
{
    struct toy t;
    begin(&t);
    put(&t, LARGE_PAGE - 2 * PAGE + PAGE / 2, 3 * PAGE, 60);
    put(&t, LARGE_PAGE + 5 * PAGE, 64, 40);
    struct locality l = after(&t);
    assert_pages(&l, (uint64_t[]){2, 4, 5, 5});
    assert_int_equal(l.large_pages, 2);
}

CASE(test_calls)
{
    struct toy t;
    begin(&t);
    uint32_t caller = put(&t, PAGE / 2, PAGE, 1);
    uint32_t near = put(&t, PAGE + 0x900, 64, 1);
    uint32_t far = put(&t, 4 * PAGE, 128, 1);
    call(&t, caller, near, 30); /* half of the caller is on the same page */
    call(&t, near, far, 10);
    call(&t, far, far, 60); /* never leaves */
    struct locality l = after(&t);
    assert_near(l.leaving, (30 * 0.5 + 10) / 100);
    assert_near(l.distance_bytes, (30 * 0x900 + 10 * (3 * PAGE - 0x900 - 32) + 60 * 64) / 100.0);
    assert_near(l.misses, 0); /* so few pages fit */
    struct locality before;
    layout_locality(&t.layout, false, &before);
    assert_near(before.leaving, l.leaving);
    t.at[far].start = t.at[near].start + 64;
    layout_locality(&t.layout, false, &before);
    assert_near(before.leaving, 30 * 0.5 / 100);
    assert_near(before.distance_bytes, (30 * 0x900 + 10 * 32 + 60 * 64) / 100.0);
}

/* Functions on so many pages call each other in a ring: each call enters a page, each return
 * another, and all pages are alike. Of them `entries` are in the TLB. */
static void expect_ring(uint32_t pages, uint64_t page, double misses, double large_misses)
{
    struct toy t;
    begin(&t);
    for (uint32_t i = 0; i < pages; i++)
        put(&t, i * page, 64, 1);
    for (uint32_t i = 0; i < pages; i++)
        call(&t, i, (i + 1) % pages, 7);
    struct locality l = after(&t);
    assert_near(l.leaving, 1);
    assert_near(l.misses, misses);
    assert_near(l.large_misses, large_misses);
}

CASE(test_misses)
{
    expect_ring(64, PAGE, 0, 0);
    expect_ring(65, PAGE, 2 * (1 - 64.0 / 65), 0);
    expect_ring(128, PAGE, 2 * (1 - 64.0 / 128), 0);
    expect_ring(8, LARGE_PAGE, 0, 0);
    expect_ring(9, LARGE_PAGE, 0, 2 * (1 - 8.0 / 9));
    expect_ring(16, LARGE_PAGE, 0, 2 * (1 - 8.0 / 16));
}

/* Half of a caller is on its callee's page: one call of two leaves for that page, and one return of
 * two leaves it. */
CASE(test_returns_that_stay)
{
    struct toy t;
    begin(&t);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t caller = put(&t, 2 * i * PAGE + PAGE / 2, PAGE, 1);
        call(&t, caller, put(&t, 2 * i * PAGE + PAGE + 0x900, 64, 1), 3);
    }
    struct locality l = after(&t);
    assert_near(l.leaving, 0.5);
    assert_near(l.misses, 1 - 64.0 / 128);
}

CASE(test_no_calls)
{
    struct toy t;
    begin(&t);
    call(&t, put(&t, 0, 64, 1), put(&t, PAGE, 64, 1), 0);
    struct locality l = after(&t);
    assert_true(l.leaving == 0 && l.misses == 0 && l.large_misses == 0 && l.distance_bytes == 0);
}
