/* Words of this machine's byte order, written into and read from memory, never past its end. */
#ifndef MONARC_COVER_BUFFER_H
#define MONARC_COVER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Under construction in the owner's memory. `is_full` is set by what no longer fits. */
struct buffer {
    unsigned char *at;
    size_t used, size;
    bool is_full;
};

/* Some bytes, and how far they have been read. `is_short` is set by reading past the end. */
struct cursor {
    const unsigned char *at;
    size_t used, size;
    bool is_short;
};

void buffer_bytes(struct buffer *b, const void *from, size_t n);
void buffer_u32(struct buffer *b, uint32_t v);
/* Low word first, on every machine. */
void buffer_u64(struct buffer *b, uint64_t v);
/* Overwrites a word written before. */
void buffer_set_u32(struct buffer *b, size_t where, uint32_t v);

struct cursor cursor_on(const void *at, size_t size);
size_t cursor_left(const struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* The next word, 0 at the end. */
uint32_t cursor_peek(const struct cursor *c);
/* The next n bytes as a cursor of their own. */
struct cursor cursor_part(struct cursor *c, size_t n);

#endif
