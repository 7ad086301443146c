/* The examples of RFC 4648, and all lengths around the pieces in which it is written. */
#include "cases.h"
#include "output/out.h"

#include <stdlib.h>
#include <string.h>

static void encodes(const char *text, size_t len, const char *expected)
{
    struct out out;
    out_init(&out, -1);
    base64_write(&out, (struct bytes){(const uint8_t *)text, len});
    assert_int_equal(out.len, strlen(expected));
    assert_true(!out.len || !memcmp(out.at, expected, out.len));
    out_deinit(&out);
}

CASE(examples)
{
    static const char *const EXPECTED[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                           "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    (void)state;
    for (size_t len = 0; len <= 6; len++)
        encodes("foobar", len, EXPECTED[len]);
    encodes("\xff\xef\xbe\0\x10\x83", 6, "/+++ABCD");
}

/* 3 bytes of 0 are AAAA: the length says whether pieces join without a gap. */
CASE(long_texts)
{
    enum { MOST = 3 * 4096 * 2 + 7 };
    (void)state;
    char *zeros = calloc(1, MOST), *expected = calloc(1, MOST * 2);
    for (size_t len = 3 * 4096 - 4; len < MOST; len += 1 + len / 5) {
        size_t letters = (len + 2) / 3 * 4;
        memset(expected, 'A', letters);
        memset(expected + letters - (3 - len % 3) % 3, '=', (3 - len % 3) % 3);
        expected[letters] = '\0';
        encodes(zeros, len, expected);
    }
    free(zeros);
    free(expected);
}
