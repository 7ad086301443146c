/* By libdeflate, or else by zlib: at a level where what is packed leaves as fast as it was made. */
#include "output/deflate.h"

#include "base/arena.h"

#include <stdlib.h>

enum { LEVEL = 5 };

static uint8_t *room(size_t bytes)
{
    uint8_t *at = malloc(bytes ? bytes : 1);
    if (!at)
        memory_exhausted(bytes);
    return at;
}

#ifdef HAVE_LIBDEFLATE

#include <libdeflate.h>

struct bytes deflate_raw(struct bytes bytes)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    if (!compressor)
        memory_exhausted(0);
    size_t most = libdeflate_deflate_compress_bound(compressor, bytes.len);
    uint8_t *packed = room(most);
    size_t len = libdeflate_deflate_compress(compressor, bytes.at, bytes.len, packed, most);
    libdeflate_free_compressor(compressor);
    return (struct bytes){packed, len};
}

#else

#include <zlib.h>

/* Input and output go in pieces, whose sizes are 32 bits in zlib. */
struct bytes deflate_raw(struct bytes bytes)
{
    enum { WINDOW = -15, MEMORY = 8, PIECE = 1 << 30 };
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        memory_exhausted(0);
    size_t most = bytes.len + bytes.len / 1000 + 128, left = bytes.len, len = 0;
    uint8_t *packed = room(most);
    z.next_in = (Bytef *)bytes.at;
    for (int state = Z_OK; state != Z_STREAM_END;) {
        uInt in = left < PIECE ? (uInt)left : PIECE;
        uInt out = most - len < PIECE ? (uInt)(most - len) : PIECE;
        z.avail_in = in;
        z.next_out = packed + len;
        z.avail_out = out;
        state = deflate(&z, left == in ? Z_FINISH : Z_NO_FLUSH);
        left -= in - z.avail_in;
        len += out - z.avail_out;
        if (state == Z_STREAM_ERROR || (state == Z_BUF_ERROR && !z.avail_out))
            memory_exhausted(most);
    }
    deflateEnd(&z);
    return (struct bytes){packed, len};
}

#endif
