/* A bounded reader over a span of bytes: every read is checked, a failed read yields 0 and sets
 * `failed`, and nothing moves after that. Callers read a record's fields and test `failed` once.
 *
 * `word` is the pointer size of the machine that wrote the bytes (4 or 8), `big_endian` its order.
 */
#ifndef MONARC_BASE_CURSOR_H
#define MONARC_BASE_CURSOR_H

#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

struct cursor {
    const uint8_t *at, *end, *base;
    const char *name; /* of the input, for messages */
    uint8_t word;
    bool big_endian;
    bool failed;
};

static inline struct cursor cursor_over(struct bytes b, const char *name)
{
    const uint8_t *at = b.at ? b.at : (const uint8_t *)""; /* so that it can be counted from */
    return (struct cursor){.at = at, .end = at + b.len, .base = at, .name = name, .word = 8};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline size_t cursor_offset(const struct cursor *c)
{
    return (size_t)(c->at - c->base);
}

/* Advances over `n` bytes and returns where they start, or NULL. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
    if (c->failed || cursor_left(c) < n) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *here = c->at;
    c->at += n;
    return here;
}

static inline uint16_t bytes_u16(const uint8_t *p, bool big_endian)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return big_endian ? __builtin_bswap16(v) : v;
}

static inline uint32_t bytes_u32(const uint8_t *p, bool big_endian)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return big_endian ? __builtin_bswap32(v) : v;
}

static inline uint64_t bytes_u64(const uint8_t *p, bool big_endian)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return big_endian ? __builtin_bswap64(v) : v;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);
    return p ? bytes_u16(p, c->big_endian) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    return p ? bytes_u32(p, c->big_endian) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 8);
    return p ? bytes_u64(p, c->big_endian) : 0;
}

/* One pointer-sized unsigned value. */
static inline uint64_t cursor_word(struct cursor *c)
{
    return c->word == 4 ? cursor_u32(c) : cursor_u64(c);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "monarc's host is little-endian");

#endif
