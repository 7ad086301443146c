/* Hashes have the values that their specifications give; equal texts have one number, others not.
 */
#include "base/bytes.h"
#include "base/map.h"
#include "cases.h"

#include <stdio.h>

/* From the tables of the FNV reference code. */
CASE(test_fnv)
{
    assert_true(hash_fnv64("", 0) == 0xcbf29ce484222325u);
    assert_true(hash_fnv64("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(hash_fnv64("foobar", 6) == 0x85944171f73967e8u);
    assert_int_equal(hash_fnv32("", 0), 0x811c9dc5u);
    assert_int_equal(hash_fnv32("a", 1), 0xe40c292cu);
    assert_int_equal(hash_fnv32("foobar", 6), 0xbf9cf968u);
}

/* Every byte counts, and so does the length; bytes behind it do not. */
CASE(test_hash_bytes)
{
    enum { MOST = 40 };
    char text[MOST + 1] = {0};
    for (size_t len = 0; len < MOST; len++) {
        uint64_t hash = hash_bytes(text, len);
        text[len] = 'x';
        assert_true(hash_bytes(text, len) == hash);
        text[len] = 0;
        assert_true(hash_bytes(text, len + 1) != hash);
        for (size_t i = 0; i < len; i++) {
            text[i] = 1;
            assert_true(hash_bytes(text, len) != hash);
            text[i] = 0;
        }
    }
}

CASE(test_numbers)
{
    enum { N = 20000 };
    struct intern t = {0};
    char text[32];
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            int len = snprintf(text, sizeof text, "name %u", i);
            assert_int_equal(intern_find(&t, text, (size_t)len), round ? i : INTERN_NONE);
            assert_int_equal(intern(&t, text, (size_t)len), i);
        }
    assert_int_equal(t.texts.len, N);
    assert_string_equal(intern_text(&t, 77), "name 77");
    intern_deinit(&t);
    assert_int_equal(intern_find(&t, "name 77", 7), INTERN_NONE);
}

CASE(test_lengths_and_nul)
{
    struct intern t = {0};
    assert_int_equal(intern(&t, "", 0), 0);
    assert_int_equal(intern(&t, "ab", 2), 1);
    assert_int_equal(intern(&t, "abc", 3), 2);
    assert_int_equal(intern(&t, "abc", 2), 1);
    assert_int_equal(intern(&t, "ab\0", 3), 3);
    assert_int_equal(intern(&t, "ab\0d", 4), 4);
    assert_string_equal(intern_text(&t, 1), "ab");
    intern_deinit(&t);
}

static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

/* Sixteen bytes with a hash that is wanted, whatever their first eight are. */
static void collide(char text[16], uint64_t first, uint64_t wanted)
{
    uint64_t h = (UINT64_C(0x9e3779b97f4a7c15) ^ 16 ^ first) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
    uint64_t sum = wanted ^ wanted >> 29 ^ wanted >> 58;
    uint64_t before = sum * inverse(0xc4ceb9fe1a85ec53u); /* of the rest, which is 0 */
    before ^= before >> 32;
    uint64_t second = before * inverse(0xff51afd7ed558ccdu) ^ h;
    memcpy(text, &first, 8);
    memcpy(text + 8, &second, 8);
}

/* One hash, other texts: they are compared. */
CASE(test_collisions)
{
    struct intern t = {0};
    char texts[5][16];
    for (uint32_t i = 0; i < 5; i++) {
        collide(texts[i], 1000 + i, 42);
        assert_true(hash_bytes(texts[i], 16) == 42);
        assert_int_equal(intern_find(&t, texts[i], 16), INTERN_NONE);
        assert_int_equal(intern(&t, texts[i], 16), i);
    }
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(intern_find(&t, texts[i], 16), i);
    intern_deinit(&t);
}

CASE(test_kept_texts)
{
    static const char first[] = "text", again[] = "text";
    struct intern t = {0};
    assert_int_equal(intern_kept(&t, first, 4), 0);
    assert_int_equal(intern_kept(&t, again, 4), 0);
    assert_ptr_equal(intern_text(&t, 0), first);
    assert_int_equal(intern(&t, "text", 4), 0);
    assert_int_equal(intern(&t, "other", 5), 1);
    intern_deinit(&t);
}

CASE(test_path_numbers)
{
    struct path_numbers p = {0};
    static const char one[] = "/a/b.c", twin[] = "/a/b.c", other[] = "/a/c.c";
    char collided[2][17] = {{0}};
    assert_int_equal(path_number(&p, one), 0);
    assert_int_equal(path_number(&p, other), 1);
    assert_int_equal(path_number(&p, twin), 0);
    assert_int_equal(path_number(&p, other), 1);
    assert_int_equal(p.paths.texts.len, 2);
    collide(collided[0], 0x4141414141414141, 4711);
    collide(collided[1], 0x4242424242424242, 4711);
    if (strlen(collided[0]) == 16 && strlen(collided[1]) == 16) {
        assert_int_equal(path_number(&p, collided[0]), 2);
        assert_int_equal(path_number(&p, collided[1]), 3);
    }
    path_numbers_deinit(&p);
}
