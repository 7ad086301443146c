/* Bytes and integers into a growing buffer, in the byte order and pointer size of a target.
 *
 * Integers are swapped where the target's order is not the host's, which is little-endian (bytes.h
 * asserts it), and copied, so that nothing depends on alignment. There is no failure: the buffer
 * grows, and exhausted memory does not return. What must fit a narrower field is checked by the
 * format that writes it, which knows what to say.
 *
 * The buffer costs an amortized copy for each byte, as vec.h grows by half. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void writer_bytes(struct writer *w, const void *bytes, size_t len)
{
    vec_reserve(&w->out, w->out.len + len);
    /* memcpy() may not be given NULL, not even for no bytes. */
    if (len)
        memcpy(w->out.at + w->out.len, bytes, len);
    w->out.len += len;
}

/* The others are this with the bytes in the target's order. Callers write fields in the order in
 * which the format has them, so that a writer reads like the format's description; none is kept for
 * later, so a field that is known only at the end (a length, a count) is written into `out` by who
 * left room for it. */
void writer_u8(struct writer *w, uint8_t value)
{
    writer_bytes(w, &value, 1);
}

void writer_u16(struct writer *w, uint16_t value)
{
    value = w->big_endian ? __builtin_bswap16(value) : value;
    writer_bytes(w, &value, sizeof value);
}

void writer_u32(struct writer *w, uint32_t value)
{
    value = w->big_endian ? __builtin_bswap32(value) : value;
    writer_bytes(w, &value, sizeof value);
}

void writer_u64(struct writer *w, uint64_t value)
{
    value = w->big_endian ? __builtin_bswap64(value) : value;
    writer_bytes(w, &value, sizeof value);
}

/* The target's pointer: 4 or 8 bytes. */
void writer_word(struct writer *w, uint64_t value)
{
    if (w->word == 4)
        writer_u32(w, (uint32_t)value);
    else
        writer_u64(w, value);
}

void writer_leb128(struct writer *w, uint64_t value)
{
    /* 64 bits are ten groups of seven. */
    uint8_t bytes[10];
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[len++] = (uint8_t)(value | 0x80);
    bytes[len++] = (uint8_t)value;
    writer_bytes(w, bytes, len);
}

void writer_zigzag(struct writer *w, int64_t value)
{
    writer_leb128(w, zigzag(value));
}

/* Most texts fit at once; a longer one is made again in the room that it says it takes. */
void writer_printf(struct writer *w, const char *format, ...)
{
    enum { MOST_TEXTS = 128 };
    size_t room = MOST_TEXTS;
    for (int again = 0; again < 2; again++) {
        va_list args;
        vec_reserve(&w->out, w->out.len + room);
        va_start(args, format);
        int len = vsnprintf((char *)w->out.at + w->out.len, room, format, args);
        va_end(args);
        if (len >= 0 && (size_t)len < room) {
            w->out.len += (size_t)len;
            return;
        }
        room = len < 0 ? room : (size_t)len + 1;
    }
}

void writer_deinit(struct writer *w)
{
    vec_free(&w->out);
}
