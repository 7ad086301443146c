/* Packing whole texts in memory, by libdeflate where it is built in and by zlib elsewhere.
 *
 * libdeflate takes a text as one piece and half of zlib's time; its output is a stream that any
 * reader of RFC 1951 takes. zlib counts what it is given in 32 bits, so that it is fed in pieces.
 * Both need the compressed text's bound in memory besides the text itself. Neither can fail but for
 * want of memory, which ends the program.
 *
 * The level is low in a file for the next program of a pipe (1) and higher in a page that is sent
 * to many (5): above that time doubles for a percent of size. So it does from 3 to 5 for columns of
 * a million numbers, which is what blocks of megabytes are. */
#include "output/out.h"

#include "base/arena.h"
#include "base/file.h"

#include <stdlib.h>

enum { LEVEL_OF_PAGE = 5, LEVEL_OF_MANY = 3, LEVEL_OF_PIPE = 1, MANY = 4 << 20 };

static uint8_t *pack_room(size_t bytes)
{
    uint8_t *at = malloc(bytes ? bytes : 1);
    if (!at)
        memory_exhausted(bytes);
    return at;
}

#ifdef HAVE_LIBDEFLATE

#include <libdeflate.h>

static struct bytes pack(struct bytes bytes, int level, bool is_gzip)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    if (!compressor)
        memory_exhausted(0);
    size_t most = is_gzip ? libdeflate_gzip_compress_bound(compressor, bytes.len)
                          : libdeflate_deflate_compress_bound(compressor, bytes.len);
    uint8_t *packed = pack_room(most);
    size_t len = is_gzip
                     ? libdeflate_gzip_compress(compressor, bytes.at, bytes.len, packed, most)
                     : libdeflate_deflate_compress(compressor, bytes.at, bytes.len, packed, most);
    libdeflate_free_compressor(compressor);
    return (struct bytes){packed, len};
}

#else

#include <zlib.h>

static struct bytes pack(struct bytes bytes, int level, bool is_gzip)
{
    /* zlib's window of 2^15 bytes: 16 more asks for a gzip header, less than 0 for none at all. */
    enum { BARE = -15, WITH_GZIP_HEADER = 15 + 16, MEMORY = 8, PIECE = 1 << 30 };
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, is_gzip ? WITH_GZIP_HEADER : BARE, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        memory_exhausted(0);
    size_t most = deflateBound(&z, bytes.len), left = bytes.len, len = 0;
    uint8_t *packed = pack_room(most);
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

struct bytes deflate_raw(struct bytes bytes)
{
    return pack(bytes, bytes.len < MANY ? LEVEL_OF_PAGE : LEVEL_OF_MANY, false);
}

struct bytes gzip_pack(struct bytes bytes)
{
    return pack(bytes, LEVEL_OF_PIPE, true);
}

bool gzip_write(const char *path, struct bytes bytes, struct err *e)
{
    struct bytes packed = gzip_pack(bytes);
    bool ok = file_write(path, packed, e);
    free((void *)packed.at);
    return ok;
}

/* --- base64 ----------------------------------------------------------------------------------- */

/* Three bytes become four letters of six bits each, the first byte highest:
 *
 *     aaaaaaaa bbbbbbbb cccccccc  ->  aaaaaa aabbbb bbbbcc cccccc
 *
 * and `=` fills up the last four. */
static void base64_four(char *to, uint32_t bits)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    to[0] = LETTERS[bits >> 18 & 63];
    to[1] = LETTERS[bits >> 12 & 63];
    to[2] = LETTERS[bits >> 6 & 63];
    to[3] = LETTERS[bits & 63];
}

/* RFC 4648, section 4: three bytes are four letters; the last group is filled up with `=`. */
void base64_write(struct out *out, struct bytes bytes)
{
    enum { GROUPS = 4096 }; /* that room is allocated at once */
    const uint8_t *at = bytes.at;
    size_t left = bytes.len;
    while (left >= 3) {
        size_t groups = left / 3 < GROUPS ? left / 3 : GROUPS;
        out_room(out, 4 * groups);
        for (size_t i = 0; i < groups; i++, at += 3, out->len += 4)
            base64_four(out->at + out->len, (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2]);
        left -= 3 * groups;
    }
    if (!left)
        return;
    char last[4];
    base64_four(last, (uint32_t)at[0] << 16 | (left > 1 ? (uint32_t)at[1] << 8 : 0));
    last[3] = '=';
    if (left == 1)
        last[2] = '=';
    out_bytes(out, last, sizeof last);
}
