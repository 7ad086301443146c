/* .gnu_debugdata: a small ELF file with the symbols that .dynsym lacks, compressed with xz.
 *
 * What it decodes to is bounded, because a few kilobytes of xz can stand for gigabytes.
 * Specification: "MiniDebugInfo" in GDB's manual. Without liblzma the section is not looked at. */
#include "objfile/private.h"

#include <string.h>

#ifdef HAVE_LZMA

#include "base/vec.h"

#include <lzma.h>

enum {
    MOST_BYTES = 128 << 20,
    ALWAYS_FINE = 16 << 20,
    MOST_RATIO = 100,
    DECODER_BYTES = 128 << 20,
    PIECE = 64 << 10
};

struct decoded {
    uint8_t *at;
    size_t len, cap;
};

static bool decode(struct bytes in, struct decoded *out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, DECODER_BYTES, 0) != LZMA_OK)
        return false;
    stream.next_in = in.at;
    stream.avail_in = in.len;
    lzma_ret result = LZMA_OK;
    size_t most = in.len < MOST_BYTES / MOST_RATIO ? in.len * MOST_RATIO : MOST_BYTES;
    most = most > ALWAYS_FINE ? most : ALWAYS_FINE;
    while (result == LZMA_OK && out->len < most) {
        vec_reserve(out, out->len + PIECE);
        stream.next_out = out->at + out->len;
        stream.avail_out = out->cap - out->len;
        result = lzma_code(&stream, LZMA_FINISH);
        out->len = out->cap - stream.avail_out;
    }
    lzma_end(&stream);
    return result == LZMA_STREAM_END;
}

static void open_mini(struct object *o)
{
    size_t index = image_find(&o->self, 0, ".gnu_debugdata");
    struct bytes packed = index ? image_bytes(&o->self, index) : (struct bytes){0};
    struct decoded decoded = {0};
    if (!packed.len || !decode(packed, &decoded) ||
        !image_over((struct bytes){decoded.at, decoded.len}, ".gnu_debugdata", &o->mini, NULL,
                    NULL)) {
        free(decoded.at);
        return;
    }
    o->mini.owned = decoded.at;
}

#else

static void open_mini(struct object *o)
{
    (void)o;
}

#endif

const struct image *mini_debug(struct object *o)
{
    if (!o->mini_sought) {
        o->mini_sought = true;
        open_mini(o);
    }
    return &o->mini;
}
