/* JSON from front to back (RFC 8259), for whoever knows what to expect.
 *
 * The caller's own loops follow what is nested, so the reader needs no stack and no memory but for
 * texts. Only values that are passed over have a depth that the input decides; that is a counter
 * here, not recursion, and 512 is the most.
 *
 * After the first failure every question gets the answer that ends loops: no member, no element,
 * no value. So callers test `failed` once, at the end, and the message is that of the first thing
 * that was wrong.
 *
 * It is strict where leniency could change a meaning (commas, colons, escapes, NUL), and lenient
 * where only the spelling of numbers is concerned: their digits are handed on to whoever converts
 * them. */
#include "base/json_read.h"

#include "base/bytes.h"

#include <string.h>

enum { MOST_DEPTH = 512 };

struct json_reader json_reader_over(struct bytes in, const char *name, struct err *e)
{
    const char *at = in.len ? (const char *)in.at : "";
    return (struct json_reader){.at = at, .end = at + in.len, .start = at, .name = name, .e = e};
}

bool json_read_fail(struct json_reader *r, const char *what)
{
    if (!r->failed)
        err_in(r->e, r->name, "at offset %zu: %s", (size_t)(r->at - r->start), what);
    r->failed = true;
    return false;
}

static void json_blanks(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* The next byte that is no blank; 0 after the last one and after a failure. */
static char json_next(struct json_reader *r)
{
    json_blanks(r);
    return r->failed || r->at == r->end ? 0 : *r->at;
}

/* Takes the byte if it is next. */
static bool json_take(struct json_reader *r, char c)
{
    if (json_next(r) != c)
        return false;
    r->at++;
    return true;
}

bool json_read_is(struct json_reader *r, char first)
{
    return json_next(r) == first;
}

void json_read_object(struct json_reader *r)
{
    if (!json_take(r, '{'))
        json_read_fail(r, "expected an object");
    r->is_first = true;
}

void json_read_array(struct json_reader *r)
{
    if (!json_take(r, '['))
        json_read_fail(r, "expected an array");
    r->is_first = true;
}

/* Passes the comma before another item, or the end. */
static bool json_another(struct json_reader *r, char end)
{
    bool is_first = r->is_first;
    r->is_first = false;
    if (json_take(r, end))
        return false;
    if (!is_first && !json_take(r, ','))
        json_read_fail(r, "expected a comma or a closing bracket");
    return !r->failed;
}

/* The bytes between quotes, escapes as they are. A backslash skips the next byte, so that `\"` does
 * not end the string; escapes are decoded later, if at all. */
static struct json_span json_string(struct json_reader *r)
{
    if (!json_take(r, '"')) {
        json_read_fail(r, "expected a string");
        return (struct json_span){"", ""};
    }
    const char *from = r->at;
    while (r->at < r->end && *r->at != '"' && (unsigned char)*r->at >= ' ')
        r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    struct json_span s = {from, r->at};
    if (!json_take(r, '"')) {
        json_read_fail(r, "unterminated string");
        return (struct json_span){"", ""};
    }
    return s;
}

bool json_read_member(struct json_reader *r, struct json_span *key)
{
    if (!json_another(r, '}'))
        return false;
    *key = json_string(r);
    if (!json_take(r, ':'))
        json_read_fail(r, "expected a colon after the member's name");
    return !r->failed;
}

bool json_read_element(struct json_reader *r)
{
    return json_another(r, ']');
}

bool json_key_is(struct json_span key, const char *name)
{
    size_t len = strlen(name);
    return (size_t)(key.end - key.at) == len && !memcmp(key.at, name, len);
}

/* Four hexadecimal digits at `at`; -1: there are none. */
static int32_t json_hex(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        char c = at[i] | 0x20;
        bool is_digit = at[i] >= '0' && at[i] <= '9', is_letter = c >= 'a' && c <= 'f';
        if (!is_digit && !is_letter)
            return -1;
        value = value * 16 + (is_digit ? at[i] - '0' : c - 'a' + 10);
    }
    return value;
}

/* The character of \uXXXX, or of two of them, at `*at` after the `u`. Halves of pairs are U+FFFD.
 */
static uint32_t json_escaped(const char **at, const char *end)
{
    int32_t c = json_hex(*at, end), low;
    if (c < 0)
        return 0;
    *at += 4;
    if (c < 0xd800 || c > 0xdfff)
        return (uint32_t)c;
    bool has_low = c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u';
    if (!has_low || (low = json_hex(*at + 2, end)) < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *at += 6;
    return 0x10000 + (((uint32_t)c & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
}

/* Takes one escape after its backslash; false: not an escape, or NUL. */
static bool json_unescape(const char **at, const char *end, char **to)
{
    static const char LETTERS[] = "\"\\/bfnrt", BYTES[] = "\"\\/\b\f\n\r\t";
    const char *letter = *at < end && **at ? strchr(LETTERS, **at) : NULL;
    if (letter) {
        *(*to)++ = BYTES[letter - LETTERS];
        ++*at;
        return true;
    }
    if (*at == end || *(*at)++ != 'u')
        return false;
    uint32_t c = json_escaped(at, end);
    *to = utf8_put(*to, c);
    return c != 0;
}

/* A text is never longer than its spelling: one allocation is enough. */
const char *json_read_text(struct json_reader *r, struct arena *a)
{
    struct json_span s = json_string(r);
    char *text = arena_alloc_text(a, (size_t)(s.end - s.at) + 1), *to = text;
    for (const char *c = s.at; c < s.end;) {
        if (*c != '\\') {
            *to++ = *c++;
            continue;
        }
        c++;
        if (!json_unescape(&c, s.end, &to)) {
            json_read_fail(r, "invalid escape, or NUL, in the string before");
            return "";
        }
    }
    *to = 0;
    return text;
}

struct json_span json_read_number(struct json_reader *r)
{
    json_blanks(r);
    const char *from = r->at;
    while (!r->failed && r->at < r->end && *r->at && strchr("+-.0123456789eE", *r->at))
        r->at++;
    if (r->at == from)
        json_read_fail(r, "expected a number");
    return (struct json_span){from, r->at};
}

static bool json_word(struct json_reader *r, const char *word)
{
    size_t len = strlen(word);
    if (r->failed || (size_t)(r->end - r->at) < len || memcmp(r->at, word, len))
        return false;
    r->at += len;
    return true;
}

bool json_read_bool(struct json_reader *r)
{
    json_blanks(r);
    bool is_true = json_word(r, "true");
    if (!is_true && !json_word(r, "false"))
        json_read_fail(r, "expected true or false");
    return is_true;
}

/* A value that is neither an object nor an array. */
static void json_past_scalar(struct json_reader *r)
{
    switch (json_next(r)) {
    case '"': json_string(r); return;
    case 't':
    case 'f': json_read_bool(r); return;
    case 'n':
        if (!json_word(r, "null"))
            json_read_fail(r, "expected null");
        return;
    default: json_read_number(r);
    }
}

/* Each turn takes one value, then leaves all that ends with it. */
void json_read_past(struct json_reader *r)
{
    bool is_object[MOST_DEPTH];
    unsigned depth = 0;
    struct json_span key;
    do {
        bool begins_object = json_read_is(r, '{'), begins = begins_object || json_read_is(r, '[');
        if (begins && depth == MOST_DEPTH) {
            json_read_fail(r, "is nested more than 512 deep");
        } else if (begins) {
            is_object[depth++] = begins_object;
            begins_object ? json_read_object(r) : json_read_array(r);
        } else {
            json_past_scalar(r);
        }
        while (depth && !(is_object[depth - 1] ? json_read_member(r, &key) : json_read_element(r)))
            depth--;
    } while (depth);
}

bool json_read_end(struct json_reader *r)
{
    json_blanks(r);
    return !r->failed && (r->at == r->end || json_read_fail(r, "expected the end of the file"));
}
