/* Bytes and numbers in them: spans, the bounded reader, the writer, LEB128, sums that saturate,
 * hashes.
 *
 * What comes from a file passes the cursor, what goes into one the writer: bounds, byte order and
 * alignment are their business alone. */
#ifndef MONARC_BASE_BYTES_H
#define MONARC_BASE_BYTES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A span of bytes with another owner. */
struct bytes {
    const uint8_t *at;
    size_t len;
};

/* Without the mark of UTF-8 that some tools put before a text; no file of bytes begins with it. */
static inline struct bytes bytes_without_mark(struct bytes b)
{
    bool has_mark = b.len >= 3 && !memcmp(b.at, "\xef\xbb\xbf", 3);
    return has_mark ? (struct bytes){b.at + 3, b.len - 3} : b;
}

/* A bounded reader over a span of bytes: every read is checked, a failed read yields 0 and sets
 * `failed`, and nothing moves after that. Callers read a record's fields and test `failed` once.
 *
 * `word` is the pointer size of the machine that wrote the bytes (4 or 8), `big_endian` its order.
 */

struct cursor {
    const uint8_t *at, *end, *base;
    const char *name; /* of the input, for messages */
    uint8_t word;
    bool big_endian;
    bool failed;
};

/* A cursor at the start of `b`; 8 bytes to a word until the caller knows better. */
static inline struct cursor cursor_over(struct bytes b, const char *name)
{
    const uint8_t *at = b.at ? b.at : (const uint8_t *)""; /* so that it can be counted from */
    return (struct cursor){.at = at, .end = at + b.len, .base = at, .name = name, .word = 8};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* What messages name: bytes from the start of the span. */
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

/* Integers at any alignment, in either order. */
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

/* "0af3": two digits a byte; `to` has room for them and a NUL. */
static inline void bytes_hex(char *to, const uint8_t *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        *to++ = "0123456789abcdef"[at[i] >> 4];
        *to++ = "0123456789abcdef"[at[i] & 15];
    }
    *to = 0;
}

/* Of a hexadecimal digit in either case; -1: it is none. */
static inline int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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

/* DWARF's variable-length integers, read through the bounded cursor. */

/* The value's low bits, how many there are, and the last byte. Bits beyond the 64th are dropped. */
struct leb {
    uint64_t value;
    unsigned bits;
    uint8_t last;
};

static inline struct leb cursor_leb(struct cursor *c)
{
    struct leb n = {0};
    do {
        n.last = cursor_u8(c);
        if (n.bits < 64)
            n.value |= (uint64_t)(n.last & 0x7f) << n.bits;
        n.bits += 7;
    } while (n.last & 0x80);
    return n;
}

/* An overlong encoding is read to its end, as assemblers pad with them. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
    return cursor_leb(c).value;
}

/* The sign is bit 6 of the last byte. */
static inline int64_t cursor_sleb(struct cursor *c)
{
    struct leb n = cursor_leb(c);
    bool is_negative = n.bits < 64 && (n.last & 0x40);
    return (int64_t)(is_negative ? n.value | ~(uint64_t)0 << n.bits : n.value);
}

/* The numbers of our own files: LEB128 as above, but one that needs more than 64 bits is refused.
 * Most are below 128 and take one byte. */
static inline uint64_t cursor_leb128(struct cursor *c)
{
    enum { MOST_BYTES = 10 };
    if (!c->failed && c->at < c->end && *c->at < 0x80)
        return *c->at++;
    uint64_t value = 0;
    bool is_inside = !c->failed && c->end - c->at >= MOST_BYTES;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = is_inside ? *c->at++ : cursor_u8(c);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    c->failed = true;
    return 0;
}

static inline uint32_t cursor_leb128_u32(struct cursor *c)
{
    uint64_t value = cursor_leb128(c);
    c->failed |= value > UINT32_MAX;
    return (uint32_t)value;
}

/* Zigzag: 0, 1, 2, 3 are 0, -1, 1, -2, so that small differences stay short. */
static inline uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t cursor_zigzag(struct cursor *c)
{
    uint64_t value = cursor_leb128(c);
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* A growing buffer of bytes with integers in the byte order and pointer size of a target. */

struct writer {
    VEC(uint8_t) out;
    uint8_t word;
    bool big_endian;
};

void writer_bytes(struct writer *w, const void *bytes, size_t len);
void writer_u8(struct writer *w, uint8_t value);
void writer_u16(struct writer *w, uint16_t value);
void writer_u32(struct writer *w, uint32_t value);
void writer_u64(struct writer *w, uint64_t value);
void writer_word(struct writer *w, uint64_t value);   /* truncates to the pointer size */
void writer_leb128(struct writer *w, uint64_t value); /* seven bits a byte, the lowest first */
void writer_zigzag(struct writer *w, int64_t value);  /* as cursor_zigzag() reads it */

/* Text of any length, without its NUL byte. */
__attribute__((format(printf, 2, 3))) void writer_printf(struct writer *w, const char *format, ...);
void writer_deinit(struct writer *w);

/* Sums of counts that stop at the largest number. */

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Hashes of bytes. None withstands bytes that are made to collide: what has one hash is compared,
 * unless a file format says that the hash is all there is. */

/* For tables in memory: eight bytes at a time, and other values on machines of other byte order. */
static inline uint64_t hash_bytes(const void *bytes, size_t len)
{
    const char *at = bytes;
    uint64_t h = 0x9e3779b97f4a7c15u ^ len;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t part;
        memcpy(&part, at, 8);
        h = (h ^ part) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, at, len);
    h = (h ^ rest) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/* For files: FNV-1a, of 64 and of 32 bits. */
static inline uint64_t hash_fnv64(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

static inline uint32_t hash_fnv32(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint32_t h = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ at[i]) * 0x01000193u;
    return h;
}

/* ---- UTF-8 in texts that may hold any bytes. */

/* Length of the well-formed sequence at `at`, of which `left` bytes (at least one) may be read as
 * far as they are continued; 0 if there is none. Table 3-7 of the Unicode Standard. */
static inline size_t utf8_length(const uint8_t *at, size_t left)
{
    uint8_t c = at[0], low = 0x80, high = 0xbf;
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 4;
    if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || n > left)
        return 0;
    if (c == 0xe0 || c == 0xf0)
        low = c == 0xe0 ? 0xa0 : 0x90;
    if (c == 0xed || c == 0xf4)
        high = c == 0xed ? 0x9f : 0x8f;
    for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf)
        if (at[i] < low || at[i] > high)
            return 0;
    return n;
}

/* Length of the character at `at` that a terminal only shows; 0 for a byte that it may obey: a
 * control of ASCII, or of C1 (0x80 to 0x9f), as a byte of its own or as the first of U+0080 to
 * U+009F. Another byte that is no UTF-8 is a character. */
static inline size_t shown_length(const uint8_t *at, size_t left)
{
    if (at[0] < 0x80)
        return at[0] >= ' ' && at[0] != 0x7f;
    size_t n = utf8_length(at, left);
    return n ? (at[0] == 0xc2 && at[1] < 0xa0 ? 0 : n) : at[0] >= 0xa0;
}

/* In place: what a terminal may obey becomes `?`, byte by byte. */
static inline void hide_controls(char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = shown_length((const uint8_t *)text + i, len - i);
        if (!n)
            text[i] = '?';
    }
}

/* How much of `len` bytes to keep when `most` are allowed: a character is not cut in two. */
static inline size_t utf8_cut(const uint8_t *at, size_t len, size_t most)
{
    enum { LONGEST = 4 };
    size_t cut = len < most ? len : most;
    while (cut && cut < len && cut + LONGEST > most && (at[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

/* Writes a character, which must be one, and returns where the next one goes. */
static inline char *utf8_put(char *to, uint32_t c)
{
    static const uint8_t LEADS[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    *to++ = (char)(LEADS[more] | c >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

/* Stands for what is no character. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

#endif
