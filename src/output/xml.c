/* Escapes, and characters that XML does not allow. */
#include "output/xml.h"

#include "base/utf8.h"

/* Length of the UTF-8 character at `at`, in a text with a NUL, if XML 1.0 allows it, else 0. */
static size_t xml_character(const unsigned char *at)
{
    if (*at < ' ')
        return *at == '\t' || *at == '\n' || *at == '\r';
    size_t len = utf8_length(at, 4);
    bool is_no_character = len == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
    return is_no_character ? 0 : len;
}

void xml_text(struct out *out, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    while (*at) {
        size_t len = xml_character(at);
        if (*at == '&')
            out_str(out, "&amp;");
        else if (*at == '<')
            out_str(out, "&lt;");
        else if (*at == '>')
            out_str(out, "&gt;");
        else if (*at == '"')
            out_str(out, "&quot;");
        else if (len == 1 && *at < ' ')
            out_printf(out, "&#%u;", *at);
        else if (len)
            out_bytes(out, (const char *)at, len);
        else
            out_str(out, UTF8_REPLACEMENT);
        at += len ? len : 1;
    }
}

void xml_attribute(struct out *out, const char *key, const char *value)
{
    out_printf(out, " %s=\"", key);
    xml_text(out, value);
    out_char(out, '"');
}
