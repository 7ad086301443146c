/* What base/deflate packs, zlib unpacks to the same bytes. */
#include "base/deflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <cmocka.h>

enum { MOST = 4 << 20 };

static uint8_t text[MOST], back[MOST + 1];

/* How many bytes it took. Strict: the stream ends where the output does. */
static size_t expect_back(size_t len)
{
    struct out out;
    out_init(&out, -1);
    deflate_bytes((struct bytes){text, len}, &out);
    z_stream z = {.next_in = (uint8_t *)out.at,
                  .avail_in = (uInt)out.len,
                  .next_out = back,
                  .avail_out = sizeof back};
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, len);
    inflateEnd(&z);
    assert_memory_equal(back, text, len);
    size_t packed = out.len;
    out_deinit(&out);
    return packed;
}

static void fill(size_t from, size_t to, unsigned values)
{
    for (size_t i = from; i < to; i++)
        text[i] = (uint8_t)((unsigned)rand() / 7 % values);
}

static void test_short(void **state)
{
    (void)state;
    for (size_t len = 0; len < 700; len++) {
        memset(text, 'a', len);
        expect_back(len);
        fill(0, len, 3);
        expect_back(len);
        fill(0, len, 256);
        expect_back(len);
    }
}

static void test_runs(void **state)
{
    (void)state;
    for (size_t period = 1; period < 12; period++) {
        for (size_t i = 0; i < MOST; i++)
            text[i] = (uint8_t)(i % period);
        assert_true(expect_back(MOST) < MOST / 150);
    }
}

/* Bytes that do not repeat take hardly more than themselves. */
static void test_random(void **state)
{
    (void)state;
    for (unsigned values = 1; values <= 256; values += 51) {
        fill(0, MOST, values);
        assert_true(expect_back(MOST) < MOST + MOST / 50);
    }
}

/* Every length of a match, at every class of distance; then where the window ends. */
static void test_lengths_and_distances(void **state)
{
    (void)state;
    for (size_t distance = 1; distance <= 32768; distance += 1 + distance / 5) {
        size_t len = distance;
        fill(0, len, 256);
        for (size_t match = 3; match<300; match += distance> 512 ? 13 : 1) {
            memmove(text + len, text + len - distance, match < distance ? match : distance);
            len += match < distance ? match : distance;
            fill(len, len + 5, 256);
            len += 5;
        }
        expect_back(len);
    }
    for (size_t distance = 32766; distance <= 32770; distance++) {
        fill(0, distance, 256);
        memcpy(text + distance, text, distance);
        size_t packed = expect_back(2 * distance);
        assert_true(distance <= 32768 ? packed < distance * 5 / 4 : packed > distance * 5 / 4);
    }
}

/* Counts like Fibonacci's numbers make the longest codes, beyond what the format has. */
static void test_unequal_counts(void **state)
{
    (void)state;
    size_t len = 0;
    uint32_t count = 1, before = 1;
    for (unsigned symbol = 0; symbol < 21; symbol++) {
        for (uint32_t i = 0; i < count; i++)
            text[len++] = (uint8_t)symbol;
        count += before;
        before = count - before;
    }
    for (size_t i = len; i-- > 1;) { /* shuffled */
        size_t k = (size_t)rand() % (i + 1);
        uint8_t byte = text[i];
        text[i] = text[k];
        text[k] = byte;
    }
    expect_back(len);
    for (size_t part = 1; part < len; part += part / 3 + 1)
        expect_back(part);
}

/* The like of what it is for: a twelfth and less. */
static void test_json(void **state)
{
    (void)state;
    size_t len = 0;
    for (unsigned line = 1; len < MOST - 200; line++)
        len += (size_t)sprintf((char *)text + len,
                               "{\"branches\": [], \"count\": %d, \"line_number\": %u, "
                               "\"unexecuted_block\": %s, \"function_name\": \"function_%u\"}, ",
                               rand() % (1 << rand() % 20), line, rand() % 3 ? "false" : "true",
                               line / 20);
    assert_true(expect_back(len) < len / 12);
}

int main(void)
{
    srand(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),          cmocka_unit_test(test_runs),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_lengths_and_distances),
        cmocka_unit_test(test_unequal_counts), cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
