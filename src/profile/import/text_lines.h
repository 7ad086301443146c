/* A text file line by line, without copies. */
#ifndef MONARC_PROFILE_IMPORT_TEXT_LINES_H
#define MONARC_PROFILE_IMPORT_TEXT_LINES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text_lines {
    const char *at, *end;
    uint64_t number; /* of the line that was taken last, from 1 */
};

/* [at, end), without the line's end. */
struct text_span {
    const char *at, *end;
};

/* Names end in NUL in memory: there must be none within. */
static inline bool text_is_text(struct bytes b)
{
    return !b.len || !memchr(b.at, 0, b.len);
}

static inline struct text_lines text_lines_over(struct bytes b)
{
    const char *at = b.at ? (const char *)b.at : "";
    return (struct text_lines){at, at + b.len, 0};
}

static inline bool text_lines_take(struct text_lines *t, struct text_span *out)
{
    if (t->at == t->end)
        return false;
    const char *newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
    out->at = t->at;
    out->end = newline ? newline : t->end;
    t->at = newline ? newline + 1 : t->end;
    t->number++;
    if (out->end > out->at && out->end[-1] == '\r')
        out->end--;
    return true;
}

static inline size_t text_len(struct text_span s)
{
    return (size_t)(s.end - s.at);
}

/* Without blanks at either end. */
static inline struct text_span text_trimmed(struct text_span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    while (s.at < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t'))
        s.end--;
    return s;
}

static inline bool text_begins(struct text_span s, const char *prefix)
{
    size_t len = strlen(prefix);
    return text_len(s) >= len && !memcmp(s.at, prefix, len);
}

/* Takes decimal digits from the front; false: there are none, or they are no 64-bit number. */
static inline bool text_take_u64(struct text_span *s, uint64_t *out)
{
    const char *start = s->at;
    uint64_t value = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*s->at - '0'), &value))
            return false;
    *out = value;
    return s->at > start;
}

/* The last word, taken from the end; what stands in front of it loses its blanks. */
static inline struct text_span text_take_last_word(struct text_span *s)
{
    *s = text_trimmed(*s);
    const char *at = s->end;
    while (at > s->at && at[-1] != ' ' && at[-1] != '\t')
        at--;
    struct text_span word = {at, s->end};
    s->end = at;
    *s = text_trimmed(*s);
    return word;
}

#endif
