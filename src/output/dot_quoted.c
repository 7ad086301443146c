/* Quoting for Graphviz. */
#include "output/dot_quoted.h"

#include "base/utf8.h"

/* `&` would begin an entity, a backslash an escape. */
void dot_quoted(struct out *out, const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = utf8_length((const uint8_t *)text + i, len - i);
        if (!n)
            out_str(out, UTF8_REPLACEMENT);
        else if (text[i] == '"' || text[i] == '\\')
            out_printf(out, "\\%c", text[i]);
        else if (text[i] == '&')
            out_str(out, "&amp;");
        else if ((unsigned char)text[i] < ' ' || text[i] == 127)
            out_char(out, '?');
        else
            out_bytes(out, text + i, n);
    }
}
