/* Escaping by XML 1.0, sections 2.2 and 2.4. */
#include "output/svg.h"

#include "base/utf8.h"
#include "output/text.h"

#include <math.h>

static const char *svg_escape(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* U+FFFE and U+FFFF are well-formed UTF-8, and no characters of XML. */
static bool svg_is_noncharacter(const uint8_t *at, size_t len)
{
    return len == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

void svg_text(struct out *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = utf8_length(at + i, len - i);
        const char *escape = svg_escape(text[i]);
        if (!n || svg_is_noncharacter(at + i, n))
            out_str(out, UTF8_REPLACEMENT);
        else if (at[i] < ' ' || at[i] == 127)
            out_char(out, '?');
        else if (escape)
            out_str(out, escape);
        else
            out_bytes(out, text + i, n);
    }
}

void svg_text_within(struct out *out, const char *text, size_t len, int room)
{
    enum { LEAST = 10 };
    struct out shortened;
    out_init(&shortened, -1);
    text_name_within(&shortened, text, len, room < LEAST ? LEAST : room);
    int columns = 0;
    for (size_t i = 0; i < shortened.len; i++)
        columns += ((uint8_t)shortened.at[i] & 0xc0) != 0x80;
    if (columns <= room)
        svg_text(out, shortened.at, shortened.len);
    out_deinit(&shortened);
}

void svg_length(struct out *out, const char *name, double value)
{
    const double hundred = 100;
    out_printf(out, " %s=\"", name);
    out_shortest(out, round(value * hundred) / hundred);
    out_char(out, '"');
}
