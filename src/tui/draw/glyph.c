/* Deciding what may be shown. */
#include "tui/draw/glyph.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <wchar.h>

/* Blocks of Unicode whose letters are written from right to left, and the marks for that. */
static bool is_right_to_left(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } BLOCKS[] = {{0x0590, 0x08ff}, {0x200e, 0x200f}, {0x202a, 0x202e},   {0x2066, 0x2069},
                  {0xfb1d, 0xfdff}, {0xfe70, 0xfeff}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++)
        if (c >= BLOCKS[i].first && c <= BLOCKS[i].last)
            return true;
    return false;
}

static uint32_t decode(const uint8_t *at, size_t bytes)
{
    uint32_t c = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++)
        c = c << 6 | (at[i] & 0x3f);
    return c;
}

struct glyph glyph_next(const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t bytes = utf8_length(at, len);
    uint32_t c = bytes ? decode(at, bytes) : 0;
    if (c >= ' ' && c < 0x7f)
        return (struct glyph){c, 1, 1};
    int columns = c < 0xa0 ? 0 : wcwidth((wchar_t)c);
    if (columns < 1 || columns > 2 || is_right_to_left(c))
        return (struct glyph){'?', 1, bytes ? bytes : 1};
    return (struct glyph){c, columns, bytes};
}

size_t glyph_columns(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        struct glyph g = glyph_next(text + at, len - at);
        columns += (size_t)g.columns;
        at += g.bytes;
    }
    return columns;
}
