/* One gzip member (RFC 1952), at the fastest level that compresses: the reader is the next program
 * in the pipe. By libdeflate, which takes a text whole and half of zlib's time, or else by zlib. */
#include "output/gzip.h"

#include "base/arena.h"
#include "base/file.h"

#include <stdlib.h>

#ifdef HAVE_LIBDEFLATE

#include <libdeflate.h>

enum { LEVEL = 1 };

struct bytes gzip_pack(struct bytes bytes)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    if (!compressor)
        memory_exhausted(0);
    size_t most = libdeflate_gzip_compress_bound(compressor, bytes.len);
    uint8_t *packed = malloc(most);
    if (!packed)
        memory_exhausted(most);
    size_t len = libdeflate_gzip_compress(compressor, bytes.at, bytes.len, packed, most);
    libdeflate_free_compressor(compressor);
    return (struct bytes){packed, len};
}

#else

#include <zlib.h>

/* Takes pieces, because zlib counts in 32 bits. */
static size_t pack(z_stream *z, struct bytes bytes, uint8_t *packed, size_t most)
{
    enum { PIECE = 1 << 24 };
    int state = Z_OK;
    size_t taken = 0, made = 0;
    while (state == Z_OK) {
        size_t in = bytes.len - taken < PIECE ? bytes.len - taken : PIECE;
        size_t out = most - made < PIECE ? most - made : PIECE;
        z->next_in = (uint8_t *)bytes.at + taken;
        z->next_out = packed + made;
        z->avail_in = (unsigned)in;
        z->avail_out = (unsigned)out;
        state = deflate(z, taken + in == bytes.len ? Z_FINISH : Z_NO_FLUSH);
        taken += in - z->avail_in;
        made += out - z->avail_out;
    }
    return state == Z_STREAM_END ? made : 0;
}

struct bytes gzip_pack(struct bytes bytes)
{
    enum { LEVEL = 1, WITH_GZIP_HEADER = 15 + 16, MEMORY = 8 };
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WITH_GZIP_HEADER, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        memory_exhausted(0);
    size_t most = deflateBound(&z, bytes.len);
    uint8_t *packed = malloc(most);
    if (!packed)
        memory_exhausted(most);
    size_t len = pack(&z, bytes, packed, most);
    deflateEnd(&z);
    if (!len) /* there is no other reason */
        memory_exhausted(most);
    return (struct bytes){packed, len};
}

#endif

bool gzip_write(const char *path, struct bytes bytes, struct err *e)
{
    struct bytes packed = gzip_pack(bytes);
    bool ok = file_write(path, packed, e);
    free((void *)packed.at);
    return ok;
}
