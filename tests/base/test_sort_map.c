/* Sorting is stable; the map finds what it was given; arenas zero what they hand out. */
#include "base/arena.h"
#include "base/map.h"
#include "base/sort.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

static int by_tens(uint32_t left, uint32_t right, const void *context)
{
    (void)context;
    return (left / 10 > right / 10) - (left / 10 < right / 10);
}

CASE(test_sort_is_stable)
{
    enum { N = 10007 };
    uint32_t *items = calloc(N, sizeof *items);
    for (uint32_t i = 0; i < N; i++)
        items[i] = i % 10 + (i * 7919u % (N / 10)) * 10;
    sort_u32(items, N, by_tens, NULL);
    for (uint32_t i = 1; i < N; i++)
        assert_true(items[i - 1] / 10 <= items[i] / 10);
    free(items);

    uint32_t few[] = {31, 12, 11, 30, 19};
    static const uint32_t expected[] = {12, 11, 19, 31, 30};
    sort_u32(few, 5, by_tens, NULL);
    assert_memory_equal(few, expected, sizeof few);
}

static int descending(uint32_t left, uint32_t right, const void *context)
{
    (void)context;
    return (left < right) - (left > right);
}

/* Runs of equal keys, at both ends and of one item, are sorted; nothing leaves its run. */
CASE(test_sort_of_equals)
{
    struct keyed items[] = {{1, 2}, {1, 9}, {1, 5}, {4, 7}, {6, 0}, {6, 8}};
    static const uint32_t expected[] = {9, 5, 2, 7, 8, 0};
    sort_equals(items, 6, descending, NULL);
    for (int i = 0; i < 6; i++)
        assert_int_equal(items[i].item, expected[i]);
    assert_int_equal(items[3].key, 4);
    sort_equals(items, 0, descending, NULL);
}

CASE(test_map)
{
    struct map m = {0};
    assert_null(map_find(&m, 1, 2));
    for (uint32_t i = 0; i < 100000; i++) {
        bool is_new;
        assert_int_equal(*map_at(&m, i * 16, i % 7, i, &is_new), i);
        assert_true(is_new);
    }
    for (uint32_t i = 0; i < 100000; i++) {
        bool is_new;
        assert_int_equal(*map_find(&m, i * 16, i % 7), i);
        assert_int_equal(*map_at(&m, i * 16, i % 7, 0, &is_new), i);
        assert_false(is_new);
    }
    assert_null(map_find(&m, 16, 2));
    assert_int_equal(m.len, 100000);
    assert_int_equal(m.mask + 1, 262144); /* three quarters full at most, and no larger */
    map_deinit(&m);
}

CASE(test_arena)
{
    struct arena a = {0};
    for (size_t n = 0; n < 100000; n = n * 3 + 1) {
        uint8_t *p = arena_alloc(&a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, n);
    }
    assert_string_equal(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    assert_string_equal(arena_copy(&a, "hello", 4), "hell");
    arena_deinit(&a);
}

/* Cleared, all of it is as new: memory is zeroed, keys and texts are not there. */
CASE(test_clear)
{
    struct arena a = {0};
    struct map m = {0};
    struct intern t = {0};
    for (uint32_t round = 0; round < 4; round++) {
        for (size_t n = 1; n < 100000; n *= 7) {
            uint8_t *p = arena_alloc(&a, n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xff, n);
        }
        uint32_t keys = round % 2 ? 10 : 1000;
        for (uint32_t i = 0; i < keys; i++) {
            bool is_new;
            map_at(&m, i, round, i, &is_new);
            assert_true(is_new);
            assert_int_equal(intern(&t, (char[]){(char)('a' + i % 10), (char)('a' + round), 0}, 2),
                             i % 10);
        }
        assert_int_equal(m.len, keys);
        assert_string_equal(intern_text(&t, 3), ((char[]){'d', (char)('a' + round), 0}));
        arena_clear(&a);
        map_clear(&m);
        intern_clear(&t);
        assert_null(map_find(&m, 1, round));
        assert_int_equal(intern_find(&t, (char[]){'a', (char)('a' + round), 0}, 2), INTERN_NONE);
    }
    arena_clear(&a);
    arena_deinit(&a);
    map_deinit(&m);
    intern_deinit(&t);
}
