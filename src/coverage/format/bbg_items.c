/* Strings of bbg and da, read and written. */
#include "coverage/format/bbg_items.h"

const char *bbg_string(struct cursor *in)
{
    uint32_t len = cursor_u32(in);
    uint64_t field = ((uint64_t)len + 4) & ~UINT64_C(3);
    const uint8_t *text = field <= cursor_left(in) ? cursor_take(in, field) : NULL;
    for (uint64_t i = len; text && i < field; i++)
        if (text[i])
            text = NULL;
    if (!text)
        in->failed = true;
    return (const char *)text;
}

void bbg_write_string(struct writer *w, const char *text)
{
    static const char PADDING[4];
    size_t len = text ? strlen(text) : 0;
    writer_u32(w, (uint32_t)len);
    writer_bytes(w, text, len);
    writer_bytes(w, PADDING, 4 - len % 4);
}
