/* The numbers of variable length in our own files: every one of 64 bits comes back, no other is
 * taken, nothing is read behind the end. */
#include "base/bytes.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#define OVER(...)                                                                               \
    cursor_over((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__}}, \
                "bytes")

CASE(test_every_length)
{
    for (unsigned bit = 0; bit < 64; bit++)
        for (int below = 0; below < 2; below++) {
            uint64_t value = (UINT64_C(1) << bit) - (uint64_t)below, rest = value;
            uint8_t bytes[10];
            size_t len = 0;
            for (; rest > 127; rest >>= 7)
                bytes[len++] = (uint8_t)(rest | 0x80);
            bytes[len++] = (uint8_t)rest;
            struct writer written = {0};
            writer_leb128(&written, value);
            assert_int_equal(written.out.len, len);
            assert_memory_equal(written.out.at, bytes, len);
            writer_deinit(&written);
            struct cursor in = cursor_over((struct bytes){bytes, len}, "bytes");
            assert_true(cursor_leb128(&in) == value && !in.failed && !cursor_left(&in));
            in = cursor_over((struct bytes){bytes, len}, "bytes");
            cursor_leb128_u32(&in);
            assert_int_equal(in.failed, value > UINT32_MAX);
            in = cursor_over((struct bytes){bytes, len - 1}, "bytes");
            cursor_leb128(&in);
            assert_true(in.failed);
        }
}

CASE(test_more_than_64_bits)
{
    struct cursor most = OVER(255, 255, 255, 255, 255, 255, 255, 255, 255, 1);
    struct cursor more = OVER(255, 255, 255, 255, 255, 255, 255, 255, 255, 2);
    struct cursor longer = OVER(128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0);
    struct cursor padded = OVER(0x81, 0x80, 0);
    assert_true(cursor_leb128(&most) == UINT64_MAX && !most.failed);
    assert_true(cursor_leb128(&more) == 0 && more.failed);
    assert_true(cursor_leb128(&longer) == 0 && longer.failed);
    assert_true(cursor_leb128(&padded) == 1 && !padded.failed);
}

CASE(test_zigzag)
{
    struct cursor in = OVER(0, 1, 2, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1);
    static const int64_t expected[] = {0, -1, 1, -2, INT64_MIN};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(cursor_zigzag(&in) == expected[i]);
    assert_false(in.failed);
    struct writer written = {0};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        writer_zigzag(&written, expected[i]);
    assert_int_equal(written.out.len, 4 + 10);
    assert_memory_equal(written.out.at, in.base, 14);
    writer_deinit(&written);
}

/* What fits at once, what does not by a byte, and what is long. */
CASE(test_text)
{
    struct writer w = {0};
    for (int len = 0; len < 2000; len = len < 126 || len > 130 ? len * 2 + 1 : len + 1) {
        size_t before = w.out.len;
        writer_printf(&w, "%*d", len, 7);
        assert_int_equal(w.out.len - before, len ? len : 1);
        assert_int_equal(w.out.at[w.out.len - 1], '7');
    }
    writer_deinit(&w);
}
