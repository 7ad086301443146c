/* Bytes and integers into a growing buffer. */
#include "base/writer.h"

#include <string.h>

void writer_bytes(struct writer *w, const void *bytes, size_t len)
{
    vec_reserve(&w->out, w->out.len + len);
    if (len)
        memcpy(w->out.at + w->out.len, bytes, len);
    w->out.len += len;
}

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

void writer_word(struct writer *w, uint64_t value)
{
    if (w->word == 4)
        writer_u32(w, (uint32_t)value);
    else
        writer_u64(w, value);
}

void writer_deinit(struct writer *w)
{
    vec_free(&w->out);
}
