/* DWARF's variable-length integers, read through the bounded cursor. */
#ifndef MONARC_BASE_LEB_H
#define MONARC_BASE_LEB_H

#include "base/cursor.h"

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

static inline uint64_t cursor_uleb(struct cursor *c)
{
    return cursor_leb(c).value;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
    struct leb n = cursor_leb(c);
    bool is_negative = n.bits < 64 && (n.last & 0x40);
    return (int64_t)(is_negative ? n.value | ~(uint64_t)0 << n.bits : n.value);
}

#endif
