/* Build-ids as they stand, cut and filled: which are of one file. */
#include "base/build_id.h"
#include "cases.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 48 };

struct id {
    uint8_t at[MOST];
    size_t len;
};

/* `len` bytes that differ by `seed`, the last `zeros` of which are 0. */
static struct id id_of(uint8_t seed, size_t len, size_t zeros)
{
    struct id id = {.len = len};
    for (size_t i = 0; i < len; i++)
        id.at[i] = i < len - zeros ? (uint8_t)(seed + i) | 1 : 0;
    return id;
}

static struct bytes bytes_of(const struct id *id)
{
    return (struct bytes){id->at, id->len};
}

/* What perf keeps of it, with its length or without. */
static struct id kept(struct id id, bool has_length)
{
    struct id k = id;
    k.len = id.len > BUILD_ID_PERF_BYTES ? BUILD_ID_PERF_BYTES : id.len;
    if (!has_length && k.len)
        k.len = BUILD_ID_PERF_BYTES;
    return k;
}

static bool same(struct id a, struct id b)
{
    bool is_same = build_id_same(bytes_of(&a), bytes_of(&b));
    struct bytes k = build_id_key(bytes_of(&a)), l = build_id_key(bytes_of(&b));
    assert_int_equal(is_same, build_id_same(bytes_of(&b), bytes_of(&a)));
    if (is_same) /* tables find it */
        assert_true(k.len == l.len && !memcmp(k.at, l.at, k.len));
    return is_same;
}

CASE(test_of_every_length)
{
    static const size_t lengths[] = {1, 8, 16, 19, 20, 32, 40};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t zeros = 0; zeros < 3 && zeros < lengths[i]; zeros++) {
            struct id id = id_of(3, lengths[i], zeros), other = id, cut = id, none = {0};
            assert_true(same(id, id));
            assert_true(same(id, kept(id, true)));
            assert_true(same(id, kept(id, false)));
            cut.len = cut.len < BUILD_ID_MOST_BYTES ? cut.len : BUILD_ID_MOST_BYTES;
            assert_true(same(id, cut)); /* as our recordings have it */
            assert_false(same(id, none));
            other.at[0] ^= 2;
            assert_false(same(id, other));
            assert_false(same(kept(id, false), other));
            other = id;
            other.at[cut.len - 1] ^= 2;
            assert_false(same(id, other));
        }
    assert_true(same((struct id){0}, (struct id){0}));
}

/* A build-id that begins as another one does is another one, zeros included. */
CASE(test_zeros_count)
{
    static const struct {
        size_t len, zeros, other_len, other_zeros;
        bool is_same;
    } cases[] = {
        {8, 0, 9, 1, false},   {8, 0, 16, 0, false},  {8, 0, 16, 8, false},  {16, 0, 20, 0, false},
        {16, 0, 20, 4, true},  {8, 0, 20, 12, true},  {19, 0, 20, 1, true},  {19, 0, 20, 0, false},
        {20, 0, 32, 0, true},  {20, 1, 32, 0, false}, {20, 0, 32, 12, true}, {16, 0, 32, 16, false},
        {32, 0, 33, 1, true},  {32, 0, 40, 0, true},  {31, 0, 32, 1, false}, {21, 1, 20, 0, true},
        {22, 2, 21, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(same(id_of(3, cases[i].len, cases[i].zeros),
                              id_of(3, cases[i].other_len, cases[i].other_zeros)),
                         cases[i].is_same);
}

CASE(test_which_says_more)
{
    struct id none = {0}, eight = id_of(3, 8, 0), whole = id_of(3, 32, 0), twenty = id_of(3, 20, 0);
    assert_true(build_id_says_more(bytes_of(&eight), bytes_of(&none)));
    assert_false(build_id_says_more(bytes_of(&none), bytes_of(&eight)));
    struct id filled = kept(eight, false), cut = kept(whole, true);
    assert_true(build_id_says_more(bytes_of(&eight), bytes_of(&filled)));
    assert_false(build_id_says_more(bytes_of(&filled), bytes_of(&eight)));
    assert_true(build_id_says_more(bytes_of(&whole), bytes_of(&cut)));
    assert_false(build_id_says_more(bytes_of(&cut), bytes_of(&whole)));
    assert_false(build_id_says_more(bytes_of(&twenty), bytes_of(&twenty)));
}

/* "20 16 8": the lengths that are looked for. */
static void expect_lengths(struct id id, const char *expected)
{
    char text[32] = "";
    for (size_t len = id.len; len; len = build_id_shorter(bytes_of(&id), len)) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%zu", at ? " " : "", len);
    }
    assert_string_equal(text, expected);
}

CASE(test_shorter)
{
    expect_lengths(id_of(3, 20, 0), "20");
    expect_lengths(id_of(3, 20, 3), "20");
    expect_lengths(id_of(3, 20, 4), "20 16");
    expect_lengths(id_of(3, 20, 11), "20 16");
    expect_lengths(id_of(3, 20, 12), "20 16 8");
    expect_lengths(id_of(3, 16, 8), "16"); /* no filled one */
    expect_lengths(id_of(3, 8, 1), "8");
    expect_lengths(id_of(3, 32, 16), "32");
    expect_lengths((struct id){0}, "");
}
