/* JSON (RFC 8259) and CSV (RFC 4180), written as they come.
 *
 * A writer of JSON knows the brackets that are open, at most JSON_DEPTH of them, and whether a
 * comma is due; nothing else is kept, so that a report of any length needs the same few bytes.
 * Numbers are the shortest decimals that read back as the same double: reading what we write loses
 * nothing, and equal tables print equal bytes.
 *
 * Both hold names from files of unknown origin. JSON escapes what a terminal would obey and keeps
 * every character; bytes that are no UTF-8 become U+FFFD. In CSV a spreadsheet is the reader: it
 * takes a cell that begins with = + - or @ for a formula and runs it, so that such a text gets an
 * apostrophe in front ("CSV injection", OWASP). Numbers are not texts and keep their sign. */
#include "output/formats.h"

#include "base/bytes.h"
#include "output/out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Two spaces a level, as people and line-wise diffs like it; a compact document has no lines. */
static void json_new_line(struct json *j)
{
    enum { INDENT = 2 };
    if (j->is_compact)
        return;
    out_char(j->out, '\n');
    out_spaces(j->out, INDENT * (size_t)j->depth);
}

/* What stands between this value or key and what was before. */
static void json_separate(struct json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->has_items)
        out_char(j->out, ',');
    if (j->depth)
        json_new_line(j);
    j->has_items = true;
}

void json_begin(struct json *j, char bracket)
{
    json_separate(j);
    out_char(j->out, bracket);
    if (j->depth == JSON_DEPTH)
        abort();
    j->closers[j->depth++] = bracket == '{' ? '}' : ']';
    j->has_items = false;
}

/* An empty container stays on its line. The outermost one ends the last line of the document. */
void json_end(struct json *j)
{
    char closer = j->closers[--j->depth];
    if (j->has_items)
        json_new_line(j);
    out_char(j->out, closer);
    j->has_items = true;
    if (!j->depth)
        out_char(j->out, '\n');
}

/* Most bytes are, and are copied in runs. */
static bool json_is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

void json_str_n(struct json *j, const char *text, size_t len)
{
    /* Each character that has a letter of its own, before that letter. */
    static const char letters[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    const unsigned char *s = (const unsigned char *)text;
    struct out *o = j->out;
    json_separate(j);
    out_char(o, '"');
    for (size_t i = 0, run; i < len; i += run) {
        for (run = 0; i + run < len && json_is_plain(s[i + run]);)
            run++;
        out_bytes(o, text + i, run);
        if (i + run == len)
            break;
        i += run;
        run = utf8_length(s + i, len - i);
        size_t hidden_len;
        uint32_t hidden = text_hidden(text + i, len - i, &hidden_len);
        const char *found = run == 1 && s[i] ? strchr(letters, s[i]) : NULL;
        if (hidden)
            out_printf(o, "\\u%04" PRIx32, hidden);
        else if (run > 1)
            out_bytes(o, text + i, run);
        else if (found && !((found - letters) & 1))
            out_printf(o, "\\%c", found[1]);
        else if (run == 1)
            out_printf(o, "\\u%04x", s[i]);
        else
            out_str(o, UTF8_REPLACEMENT), run = 1;
    }
    out_char(o, '"');
}

void json_str(struct json *j, const char *text)
{
    if (text)
        json_str_n(j, text, strlen(text));
    else
        json_none(j);
}

void json_key(struct json *j, const char *key)
{
    json_str(j, key);
    out_str(j->out, j->is_compact ? ":" : ": ");
    j->after_key = true;
}

void json_u64(struct json *j, uint64_t value)
{
    json_separate(j);
    out_u64(j->out, value, 0);
}

void json_i64(struct json *j, int64_t value)
{
    json_separate(j);
    if (value < 0)
        out_char(j->out, '-');
    out_u64(j->out, value < 0 ? -(uint64_t)value : (uint64_t)value, 0);
}

/* JSON has no word for infinity or for no number. */
void json_double(struct json *j, double value)
{
    if (!isfinite(value)) {
        json_none(j);
        return;
    }
    json_separate(j);
    out_shortest(j->out, value);
}

void json_millionths(struct json *j, uint64_t value)
{
    enum { DIGITS = 6, MILLION = 1000000 };
    char text[DIGITS];
    uint64_t rest = value % MILLION;
    size_t len = 0;
    json_separate(j);
    out_u64(j->out, value / MILLION, 0);
    for (uint64_t unit = MILLION / 10; rest; rest %= unit, unit /= 10)
        text[len++] = (char)('0' + rest / unit);
    if (len)
        out_char(j->out, '.'), out_bytes(j->out, text, len);
}

void json_bool(struct json *j, bool value)
{
    json_separate(j);
    out_str(j->out, value ? "true" : "false");
}

void json_none(struct json *j)
{
    json_separate(j);
    out_str(j->out, "null");
}

void json_address(struct json *j, uint64_t value)
{
    json_separate(j);
    out_printf(j->out, "\"0x%" PRIx64 "\"", value);
}

void json_pair_u64(struct json *j, const char *key, uint64_t value)
{
    json_key(j, key);
    json_u64(j, value);
}

void json_pair_double(struct json *j, const char *key, double value)
{
    json_key(j, key);
    json_double(j, value);
}

void json_pair_str(struct json *j, const char *key, const char *value)
{
    json_key(j, key);
    json_str(j, value);
}

void json_pair_address(struct json *j, const char *key, uint64_t value)
{
    json_key(j, key);
    json_address(j, value);
}

void json_pair_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key);
    json_bool(j, value);
}

size_t json_array_begin(struct json *j, const char *key)
{
    json_key(j, key), json_begin(j, '[');
    return 0;
}

bool json_row_next(struct json *j, size_t i, size_t len)
{
    if (i)
        json_end(j);
    if (i < len)
        json_begin(j, '{');
    return json_item_next(j, i, len);
}

enum { SCHEMA_VERSION = 1 };

void json_document_begin(struct json *j, const char *report)
{
    json_begin(j, '{');
    json_pair_u64(j, "schema_version", SCHEMA_VERSION);
    if (report)
        json_pair_str(j, "report", report);
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void csv_separate(struct csv *c)
{
    if (c->has_fields)
        out_char(c->out, ',');
    c->has_fields = true;
}

/* RFC 4180; in front of a text that a spreadsheet would take for a formula stands an apostrophe. */
void csv_str(struct csv *c, const char *text)
{
    csv_separate(c);
    if (!text)
        return;
    bool is_quoted = strpbrk(text, ",\"") != NULL;
    if (is_quoted)
        out_char(c->out, '"');
    if (*text && strchr("=+-@", *text))
        out_char(c->out, '\'');
    while (*text) { /* a quote is written twice */
        size_t plain = strcspn(text, "\"");
        text_name_n(c->out, text, plain);
        text += plain;
        if (*text == '"')
            out_str(c->out, "\"\""), text++;
    }
    if (is_quoted)
        out_char(c->out, '"');
}

void csv_u64(struct csv *c, uint64_t value)
{
    csv_separate(c);
    out_u64(c->out, value, 0);
}

void csv_double(struct csv *c, double value)
{
    csv_separate(c);
    if (isfinite(value))
        out_shortest(c->out, value);
}

void csv_address(struct csv *c, uint64_t value)
{
    csv_separate(c);
    out_printf(c->out, "0x%" PRIx64, value);
}

void csv_none(struct csv *c)
{
    csv_separate(c);
}

/* CRLF, as RFC 4180 wants it; spreadsheets and Python's csv take both. */
void csv_end(struct csv *c)
{
    out_str(c->out, "\r\n");
    c->has_fields = false;
}
