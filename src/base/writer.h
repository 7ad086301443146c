/* A growing buffer of bytes with integers in the byte order and pointer size of a target. */
#ifndef MONARC_BASE_WRITER_H
#define MONARC_BASE_WRITER_H

#include "base/bytes.h"
#include "base/vec.h"

#include <stdbool.h>

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
void writer_word(struct writer *w, uint64_t value); /* truncates to the pointer size */
void writer_deinit(struct writer *w);

#endif
