/* Instruction streams and the direct calls in them. Private to this room.
 *
 * A decoder reads a stretch of code of one kind from an address at which an instruction begins. It
 * never fails: bytes that are no instruction are passed over. */
#ifndef MONARC_OBJFILE_CODE_DECODE_H
#define MONARC_OBJFILE_CODE_DECODE_H

#include "base/bytes.h"
#include "base/cursor.h"
#include "objfile/code/found_calls.h"

struct capstone;
struct stretch;
struct finding;

struct instruction_set {
    const char *name;
    void (*decode)(const struct stretch *s, struct finding *f);
};

/* A stretch of code. */
struct stretch {
    struct bytes bytes;
    uint64_t address;
    const struct instruction_set *set;
    bool is_big_endian;
};

/* Where decoders put what they find. */
struct finding {
    struct code_calls *calls;
    uint64_t mask; /* of addresses: 32 or 64 bits */
    struct code_range range;
    uint32_t index;            /* of the range */
    struct capstone *capstone; /* x86: opened when it is first needed */
    bool has_no_capstone;
};

void finding_deinit(struct finding *f);

static inline void found_call(struct finding *f, uint64_t from, uint64_t to)
{
    vec_push(&f->calls->all, (struct code_call){from, to & f->mask, f->index, false});
}

/* Most jumps stay within their function. */
static inline void found_jump(struct finding *f, uint64_t from, uint64_t to)
{
    to &= f->mask;
    if (to <= f->range.low || to >= f->range.high)
        vec_push(&f->calls->all, (struct code_call){from, to, f->index, true});
}

/* The low `bits` of a word as a number with a sign. */
static inline uint64_t signed_field(uint32_t word, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return ((word & ((sign << 1) - 1)) ^ sign) - sign;
}

/* Looks at code whose instructions have four bytes each. The few bit patterns of branches are all
 * that is looked at; a test compares them with capstone's view. */
static inline void decode_words(const struct stretch *s, struct finding *f,
                                void (*look)(struct finding *f, uint64_t at, uint32_t w))
{
    for (size_t i = 0; i + 4 <= s->bytes.len; i += 4)
        look(f, s->address + i, bytes_u32(s->bytes.at + i, s->is_big_endian));
}

#endif
