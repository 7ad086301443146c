/* Readers of machine code: the direct calls in it, found without running anything.
 *
 * A reader takes a stretch of code of one kind from an address at which an instruction begins. It
 * never fails: bytes that are no instruction are passed over. Calls through registers, memory and
 * linkage tables lead to no known place and are left out. For the machines' rows, and for objfile,
 * which makes stretches of programs. */
#ifndef MONARC_ARCH_CODE_H
#define MONARC_ARCH_CODE_H

#include "arch/arch.h"
#include "base/bytes.h"
#include "base/vec.h"

struct capstone;
struct code_stretch;
struct code_finding;

/* Addresses from `low` to before `high`. */
struct code_range {
    uint64_t low, high;
};

/* A direct call or jump, as the code has it: whether a function begins there is for objfile to
 * say. */
struct code_call {
    uint64_t from; /* of the instruction */
    uint64_t to; /* without mode bits; an ELFv2 local entry point counts as its symbol's address */
    uint32_t range; /* that `from` lies in: an index */
    bool is_jump;   /* unconditional: a call only if it leads to the entry of a function */
};

/* `unread` is why unusual instructions were passed over, among which may be calls; NULL: none
 * were. */
struct code_calls {
    VEC(struct code_call) all;
    const char *unread;
};

/* Where code goes on after an instruction. */
enum code_flow {
    STEP_UNKNOWN, /* it is none, or one that is not known */
    STEP_ON,      /* to the next one */
    STEP_CALL,    /* to the next one, once what is called returns */
    STEP_BRANCH,  /* to the next one or to a target */
    STEP_JUMP,    /* to a target */
    STEP_ENDS,    /* unknown: a return, a jump through a register, a trap */
};

struct code_step {
    enum code_flow flow;
    size_t len;
    bool has_target; /* of calls, too */
    uint64_t target;
};

/* A kind of code, with its reader. Readers find what decode() puts into a struct code_finding; they
 * keep nothing. step() looks at the first instruction of a stretch; NULL where that is not written.
 */
struct instruction_set {
    const char *name;
    void (*decode)(const struct code_stretch *s, struct code_finding *f);
    struct code_step (*step)(const struct code_stretch *s, struct code_finding *f);
};

/* A stretch of code. */
struct code_stretch {
    struct bytes bytes;
    uint64_t address;
    const struct instruction_set *set;
    bool is_big_endian;
};

/* Where readers put what they find. */
struct code_finding {
    struct code_calls *calls;
    uint64_t mask; /* of addresses: 32 or 64 bits */
    struct code_range range;
    uint32_t index;            /* of the range */
    struct capstone *capstone; /* x86: opened when it is first needed */
    const char *no_capstone;   /* why it could not be opened when it was needed */
};

void code_finding_deinit(struct code_finding *f);

static inline void found_call(struct code_finding *f, uint64_t from, uint64_t to)
{
    vec_push(&f->calls->all, (struct code_call){from, to & f->mask, f->index, false});
}

/* Most jumps stay within their function, and are no calls. */
static inline void found_jump(struct code_finding *f, uint64_t from, uint64_t to)
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

/* Looks at code whose instructions have four bytes each. Only the few bit patterns of branches are
 * read; a test compares them with capstone's view. */
static inline void decode_words(const struct code_stretch *s, struct code_finding *f,
                                void (*scan_word)(struct code_finding *f, uint64_t at, uint32_t w))
{
    for (size_t i = 0; i + 4 <= s->bytes.len; i += 4)
        scan_word(f, s->address + i, bytes_u32(s->bytes.at + i, s->is_big_endian));
}

/* `$` and one of `letters`, alone or before a dot: a mapping symbol. */
bool is_mapping_tag(const char *name, const char *letters);

/* x86.c: the length of the x86 instruction at `at`; 0 if it is unusual, broken or cut off. */
size_t x86_length(const uint8_t *at, size_t left, bool is_64);

/* x86.c, aarch64_effect.c: `effect` and `ends_thread` of struct arch. */
void x86_effect(const uint8_t code[16], uint64_t address, struct arch_effect *e);
void aarch64_effect(const uint8_t code[16], uint64_t address, struct arch_effect *e);
bool aarch64_ends_thread(const uint8_t code[16]);

#endif
