/* Words in memory. See buffer.h. */
#include "buffer.h"

#include <string.h>

void buffer_bytes(struct buffer *b, const void *from, size_t n)
{
    if (b->is_full || n > b->size - b->used) {
        b->is_full = true;
        return;
    }
    memcpy(b->at + b->used, from, n);
    b->used += n;
}

void buffer_u32(struct buffer *b, uint32_t v)
{
    buffer_bytes(b, &v, sizeof v);
}

void buffer_u64(struct buffer *b, uint64_t v)
{
    buffer_u32(b, (uint32_t)v);
    buffer_u32(b, (uint32_t)(v >> 32));
}

void buffer_set_u32(struct buffer *b, size_t where, uint32_t v)
{
    if (!b->is_full)
        memcpy(b->at + where, &v, sizeof v);
}

struct cursor cursor_on(const void *at, size_t size)
{
    return (struct cursor){at, 0, size, false};
}

size_t cursor_left(const struct cursor *c)
{
    return c->size - c->used;
}

uint32_t cursor_peek(const struct cursor *c)
{
    uint32_t v = 0;
    if (cursor_left(c) >= sizeof v)
        memcpy(&v, c->at + c->used, sizeof v);
    return v;
}

uint32_t cursor_u32(struct cursor *c)
{
    uint32_t v = cursor_peek(c);
    if (cursor_left(c) < sizeof v)
        c->is_short = true;
    else
        c->used += sizeof v;
    return v;
}

uint64_t cursor_u64(struct cursor *c)
{
    uint64_t low = cursor_u32(c);
    return low | (uint64_t)cursor_u32(c) << 32;
}

struct cursor cursor_part(struct cursor *c, size_t n)
{
    if (n > cursor_left(c)) {
        c->is_short = true;
        n = cursor_left(c);
    }
    struct cursor part = cursor_on(c->at + c->used, n);
    c->used += n;
    return part;
}
