/* Instruction streams and the direct calls in them. Private to this room.
 *
 * A decoder reads a stretch of code of one kind from an address at which an instruction begins. It
 * never fails: bytes that are no instruction are passed over. */
#ifndef MONARC_OBJFILE_DECODE_H
#define MONARC_OBJFILE_DECODE_H

#include "base/bytes.h"
#include "objfile/code/calls.h"

struct capstone;

enum instruction_set {
    SET_X86_32,
    SET_X86_64,
    SET_ARM,
    SET_THUMB,
    SET_AARCH64,
    SET_MIPS,
    SET_MIPS_R6,
    SET_POWER,
    SET_RISCV_32,
    SET_RISCV_64,
    SET_SPARC,
    SET_S390,
    SETS
};

/* A stretch of code. */
struct stretch {
    struct bytes bytes;
    uint64_t address;
    enum instruction_set set;
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

void decode_calls(const struct stretch *s, struct finding *f);
void finding_deinit(struct finding *f);

/* decode_words.c, decode_x86.c */
void decode_words(const struct stretch *s, struct finding *f);
void decode_x86(const struct stretch *s, struct finding *f);

/* The length of the x86 instruction at `at`; 0 if it is unusual, broken or cut off. */
size_t x86_length(const uint8_t *at, size_t left, bool is_64);

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

#endif
