/* Amounts in columns, and escapes. */
#include "output/text.h"

#include <stdio.h>
#include <string.h>

static void text_piece(struct out *out, const char *at, size_t len)
{
    char *to = out_begin(out, len);
    for (const char *c = at; c < at + len; c++)
        *to++ = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    out_end(out, to);
}

void text_name(struct out *out, const char *name)
{
    text_piece(out, name, strlen(name));
}

static bool is_continued(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static int text_columns(const char *name, size_t len)
{
    int columns = 0;
    for (size_t i = 0; i < len; i++)
        columns += !is_continued(name[i]);
    return columns;
}

/* The byte at which column `column` begins. */
static size_t text_byte_of(const char *name, size_t len, int column)
{
    size_t i = 0;
    for (; i < len; i++)
        if (!is_continued(name[i]) && column-- == 0)
            break;
    return i;
}

void text_path_within(struct out *out, const char *path, size_t len, int room)
{
    static const char GAP[] = "...";
    int columns = text_columns(path, len), kept = room - (int)sizeof GAP + 1;
    size_t from = columns > room && kept > 0 ? text_byte_of(path, len, columns - kept) : 0;
    if (from)
        out_str(out, GAP);
    text_piece(out, path + from, len - from);
}

void text_name_within(struct out *out, const char *name, size_t len, int room)
{
    static const char GAP[] = "...";
    enum { LEAST = 2 + sizeof GAP };
    int columns = text_columns(name, len), kept = room - (int)sizeof GAP + 1;
    if (columns <= room || room < LEAST) {
        text_piece(out, name, len);
        return;
    }
    size_t tail = text_byte_of(name, len, columns - kept / 2);
    text_piece(out, name, text_byte_of(name, len, kept - kept / 2));
    out_str(out, GAP);
    text_piece(out, name + tail, len - tail);
}

void text_amount(char *into, size_t size, double amount, char abbreviation)
{
    static const char prefixes[] = "fpnum";
    size_t prefix = sizeof prefixes - 1; /* none */
    double shown = amount;
    while (shown > 0 && shown < 0.99995 && prefix) {
        shown *= 1000;
        prefix--;
    }
    int whole = shown < 9.9995 ? 1 : shown < 99.995 ? 2 : shown < 999.95 ? 3 : 4;
    bool is_visible = abbreviation > ' ' && abbreviation <= '~';
    char unit = is_visible ? abbreviation : '?';
    if (amount <= 0)
        snprintf(into, size, "0 %c", unit);
    else if (prefixes[prefix])
        snprintf(into, size, "%.*f %c%c", 4 - whole, shown, prefixes[prefix], unit);
    else
        snprintf(into, size, "%.*f %c", 4 - whole, shown, unit);
}

enum { WARM = 2, HOT = 10 }; /* percent */

void text_heat_on(struct out *out, const struct text_style *style, double share)
{
    if (style->has_colour && 100 * share >= WARM)
        out_str(out, 100 * share >= HOT ? "\033[1;31m" : "\033[33m");
}

void text_heat_off(struct out *out, const struct text_style *style, double share)
{
    if (style->has_colour && 100 * share >= WARM)
        out_str(out, "\033[0m");
}

int text_digits(uint64_t value)
{
    int digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

void text_markdown(struct out *out, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (strchr("\\`*_{}[]<>#|~&", c))
            out_char(out, '\\');
        out_char(out, c < ' ' || c == 127 ? '?' : (char)c);
    }
}
