/* What output/deflate packs, with whichever library it was built, zlib unpacks. */
#include "cases.h"
#include "output/out.h"

#include "seeds.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST = 1 << 20 };

static void unpack_equals(const uint8_t *text, size_t len)
{
    struct bytes packed = deflate_raw((struct bytes){text, len});
    uint8_t *back = malloc(len + 1);
    z_stream z = {.next_in = (Bytef *)packed.at,
                  .avail_in = (uInt)packed.len,
                  .next_out = back,
                  .avail_out = (uInt)len + 1};
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, len);
    assert_int_equal(z.avail_in, 0);
    assert_true(!len || !memcmp(back, text, len));
    inflateEnd(&z);
    free(back);
    free((void *)packed.at);
}

CASE(sizes)
{
    uint8_t *text = malloc(MOST);
    draws_start_rand("deflate");
    for (size_t i = 0; i < MOST; i++) /* first what packs well, then what does not */
        text[i] = i < MOST / 2 ? "\"count\": 10, "[i % 13] : (uint8_t)rand();
    for (size_t len = 0; len < 70; len++)
        unpack_equals(text, len);
    unpack_equals(text, MOST / 2);
    unpack_equals(text, MOST);
    unpack_equals(text + MOST / 2, MOST / 2);
    free(text);
}
