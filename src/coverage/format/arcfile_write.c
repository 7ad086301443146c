/* Words, texts and records on their way out. */
#include "coverage/format/arcfile_write.h"

#include <string.h>

void arcfile_write_header(struct writer *w, uint32_t magic, const struct arcs_origin *origin,
                          const struct gcov_dialect *dialect)
{
    writer_u32(w, magic);
    writer_u32(w, origin->version);
    writer_u32(w, origin->stamp);
    if (dialect->has_byte_lengths && !origin->lacks_checksum)
        writer_u32(w, origin->checksum);
}

void arcfile_write_u64(struct writer *w, uint64_t value)
{
    writer_u32(w, (uint32_t)value);
    writer_u32(w, (uint32_t)(value >> 32));
}

void arcfile_write_text(struct writer *w, const char *text, bool has_byte_lengths)
{
    static const char PADDING[4];
    size_t len = text ? strlen(text) + 1 : 0;
    size_t padding = has_byte_lengths ? 0 : -len & 3;
    writer_u32(w, (uint32_t)(has_byte_lengths ? len : (len + padding) / 4));
    writer_bytes(w, text, len);
    writer_bytes(w, PADDING, padding);
}

size_t arcfile_start_record(struct writer *w, uint32_t tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

void arcfile_end_record(struct writer *w, size_t start, bool has_byte_lengths)
{
    uint32_t length = (uint32_t)((w->out.len - start) / (has_byte_lengths ? 1 : 4));
    length = w->big_endian ? __builtin_bswap32(length) : length;
    memcpy(w->out.at + start - 4, &length, sizeof length);
}
