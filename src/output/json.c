/* Streaming JSON (RFC 8259). */
#include "output/json.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void json_new_line(struct json *j)
{
    if (j->is_compact)
        return;
    out_char(j->out, '\n');
    out_spaces(j->out, 2 * (size_t)j->depth);
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

static void json_escape(struct out *o, unsigned char c)
{
    static const char letters[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    const char *found = c ? strchr(letters, c) : NULL;
    if (found && !((found - letters) & 1))
        out_printf(o, "\\%c", found[1]);
    else
        out_printf(o, "\\u%04x", c);
}

static bool json_is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void json_quoted(struct out *o, const unsigned char *s, size_t len)
{
    out_char(o, '"');
    for (size_t i = 0, run; i < len; i += run) {
        for (run = 0; i + run < len && json_is_plain(s[i + run]);)
            run++;
        out_bytes(o, (const char *)s + i, run);
        if (i + run == len)
            break;
        i += run;
        run = utf8_length(s + i, len - i);
        if (run > 1)
            out_bytes(o, (const char *)s + i, run);
        else if (run == 1)
            json_escape(o, s[i]);
        else {
            out_str(o, UTF8_REPLACEMENT);
            run = 1;
        }
    }
    out_char(o, '"');
}

void json_str_n(struct json *j, const char *text, size_t len)
{
    json_separate(j);
    json_quoted(j->out, (const unsigned char *)text, len);
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

enum { SCHEMA_VERSION = 1 };

void json_document_begin(struct json *j, const char *report)
{
    json_begin(j, '{');
    json_pair_u64(j, "schema_version", SCHEMA_VERSION);
    if (report)
        json_pair_str(j, "report", report);
}
