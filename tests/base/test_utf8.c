/* Well-formed sequences are those that encode a code point in the shortest way: all are tried. */
#include "base/bytes.h"
#include "cases.h"

#include <stdbool.h>
#include <string.h>

/* By the definition, bit by bit. */
static size_t encode(uint32_t code, uint8_t out[4])
{
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t LEADS[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (uint8_t)(0x80 | (code & 0x3f));
    out[0] = (uint8_t)(LEADS[n] | code);
    return n;
}

CASE(test_all_code_points)
{
    uint8_t text[4];
    for (uint32_t code = 0; code < 0x110000; code++) {
        size_t n = encode(code, text);
        bool is_surrogate = code >= 0xd800 && code < 0xe000;
        if (utf8_length(text, n) != (is_surrogate ? 0 : n))
            fail_msg("U+%04X", code);
        if (n > 1 && utf8_length(text, n - 1))
            fail_msg("U+%04X cut", code);
    }
    encode(0x110000, text);
    assert_int_equal(utf8_length(text, 4), 0);
}

/* As many sequences of each length are well-formed as there are code points for it. */
CASE(test_nothing_else)
{
    static const uint8_t EDGES[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    enum { N = sizeof EDGES };
    size_t found[5] = {0};
    for (unsigned lead = 0; lead < 256; lead++)
        for (size_t i = 0; i < N * N * N; i++) {
            uint8_t text[4] = {(uint8_t)lead, EDGES[i % N], EDGES[i / N % N], EDGES[i / N / N]};
            found[utf8_length(text, 4)]++;
        }
    enum { INSIDE = 6, ALL = N * N * N }; /* edges from 80 to bf */
    assert_int_equal(found[1], 128 * ALL);
    assert_int_equal(found[2], 30 * INSIDE * N * N);
    /* e0 has 2 second bytes, ed 4, the other fourteen all 6; f0 4, f4 2, the other three 6. */
    assert_int_equal(found[3], (2 + 4 + 14 * 6) * INSIDE * N);
    assert_int_equal(found[4], (4 + 2 + 3 * 6) * INSIDE * INSIDE);
}

static void expect_cut(const char *text, size_t most, size_t expected)
{
    assert_int_equal(utf8_cut((const uint8_t *)text, strlen(text), most), expected);
}

CASE(test_cut)
{
    expect_cut("abc", 3, 3);
    expect_cut("abc", 9, 3);
    expect_cut("abcd", 3, 3);
    expect_cut("ab\xc3\xa4", 3, 2);
    expect_cut("ab\xc3\xa4", 4, 4);
    expect_cut("a\xf0\x9f\x98\x80", 4, 1);
    expect_cut("a\xf0\x9f\x98\x80z", 5, 5);
    expect_cut("\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4", 6, 2); /* no UTF-8: not all is lost */
    expect_cut("\xa4\xa4", 1, 0);
    expect_cut("", 0, 0);
}
