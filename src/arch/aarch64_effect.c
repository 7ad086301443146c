/* AArch64: what an instruction does to a function's frame.
 *
 * For following code to its return (unwind/follow_code.c): loads and stores that move the stack
 * pointer or bring back registers, sums with the stack pointer, frame pointers, and where the code
 * goes on. All others leave the frame alone. Source: Arm Architecture Reference Manual (A-profile),
 * C4.1 and C6.2. */
#include "arch/code.h"

#include <string.h>

enum { REG_FP = 29, REG_RA = 30, REG_SP = 31, FIRST_KEPT = 19 };

static int64_t field(uint32_t word, unsigned low, unsigned bits)
{
    return (int64_t)signed_field(word >> low, bits);
}

/* x19 to x30 are given back as they were. */
static void restores(struct arch_effect *e, unsigned base, unsigned first, unsigned second,
                     int64_t slot)
{
    if (base == REG_SP || base == REG_FP) {
        e->restores = first >= FIRST_KEPT && first <= REG_RA;
        e->restores_by_fp = base == REG_FP;
        e->number = first;
        e->second = second >= FIRST_KEPT && second <= REG_RA ? second : 0;
        e->slot = slot;
    }
}

/* ldp, stp: of 4, 8 or 16 bytes a register.
 *
 *     size 101 vector 0 mode load distance7 second5 base5 first5      mode: none, post, offset, pre
 */
static void pair(struct arch_effect *e, uint32_t w)
{
    enum { NEVER_KEPT, POST, OFFSET, PRE };
    unsigned mode = w >> 23 & 3, base = w >> 5 & 31, size = w >> 30;
    bool is_vector = w >> 26 & 1, is_load = w >> 22 & 1;
    int64_t distance = field(w, 15, 7) * (is_vector ? 4 << size : size == 2 ? 8 : 4);
    if (base == REG_SP && (mode == POST || mode == PRE))
        e->by = distance;
    if (is_load && !is_vector && size == 2)
        restores(e, base, w & 31, w >> 10 & 31, mode == POST ? 0 : distance);
}

/* ldr, str with a base that they move, or not.
 *
 *     size 111 vector 00 opc 0 distance9 mode base5 register5         mode: unscaled, post, -, pre
 *     size 111 vector 01 opc distance12 base5 register5               in units of the size */
static void single(struct arch_effect *e, uint32_t w)
{
    enum { UNSCALED, POST, UNPRIVILEGED, PRE };
    unsigned mode = w >> 10 & 3, base = w >> 5 & 31;
    bool is_scaled = w >> 24 & 1, is_word = w >> 30 == 3 && !(w >> 26 & 1);
    int64_t distance = is_scaled ? (int64_t)(w >> 10 & 0xfff) * 8 : field(w, 12, 9);
    if (!is_scaled && (w >> 21 & 1)) /* a register is the distance, or it is an atomic one */
        return;
    if (base == REG_SP && !is_scaled && (mode == POST || mode == PRE))
        e->by = distance;
    if (is_word && (w >> 22 & 3) == 1)
        restores(e, base, w & 31, 0, !is_scaled && mode == POST ? 0 : distance);
}

/* add, sub with a number; mov to and from the stack pointer is one with 0. */
static void sum(struct arch_effect *e, uint32_t w)
{
    unsigned to = w & 31, from = w >> 5 & 31;
    int64_t number = (int64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
    bool sets_flags = w >> 29 & 1; /* cmp: register 31 is no stack pointer then */
    number = w >> 30 & 1 ? -number : number;
    if (to == REG_SP && !sets_flags) {
        e->sp = from == REG_SP ? SP_MOVED : from == REG_FP ? SP_FROM_FP : SP_LOST;
        e->by = number;
    } else if (to == REG_FP && from == REG_SP) {
        e->sets_fp = true;
        e->fp_by = number;
    }
}

/* Sums with a register, and with what depends on the machine (addvl); and, orr, eor with a mask. */
static bool is_computed(uint32_t w)
{
    bool sets_flags = (w >> 29 & 3) == 3;
    return (w & 0xbfe00000) == 0x8b200000 || (w & 0xffe0f800) == 0x04205000 ||
           ((w & 0x9f800000) == 0x92000000 && !sets_flags);
}

/* br, blr, ret, and those that check signatures. */
static void through_register(struct arch_effect *e, uint32_t w)
{
    enum { BR, BLR, RET, SIGNED = 8 };
    unsigned kind = w >> 21 & 15;
    e->flow = (kind & ~SIGNED) == BLR ? FLOW_CALL : kind == RET ? FLOW_RETURN : FLOW_ENDS;
}

static void to_target(struct arch_effect *e, enum arch_flow flow, uint64_t address, int64_t words)
{
    e->flow = flow;
    e->target = address + (uint64_t)words * 4;
}

void aarch64_effect(const uint8_t code[16], uint64_t address, struct arch_effect *e)
{
    enum { WORD = 4 };
    uint32_t w = bytes_u32(code, false);
    *e = (struct arch_effect){.flow = FLOW_ON, .len = WORD};
    if (w >> 26 == 0x05 || w >> 26 == 0x25) /* b, bl */
        to_target(e, w >> 31 ? FLOW_CALL : FLOW_JUMP, address, field(w, 0, 26));
    else if (w >> 24 == 0x54 || (w & 0x7e000000) == 0x34000000) /* b.cond, cbz, cbnz */
        to_target(e, FLOW_BRANCH, address, field(w, 5, 19));
    else if ((w & 0x7e000000) == 0x36000000) /* tbz, tbnz */
        to_target(e, FLOW_BRANCH, address, field(w, 5, 14));
    else if (w >> 25 == 0x6b)
        through_register(e, w);
    else if (!(w >> 16) || (w >> 24 == 0xd4 && (w & 0x1f) != 1)) /* udf, brk, hlt; not svc */
        e->flow = FLOW_ENDS;
    else if ((w & 0x3a000000) == 0x28000000)
        pair(e, w);
    else if ((w & 0x3a000000) == 0x38000000)
        single(e, w);
    else if ((w & 0x9f800000) == 0x91000000)
        sum(e, w);
    else if ((w & 0x1f) == REG_SP && is_computed(w))
        e->sp = SP_LOST;
}

/* mov x8, #93; svc #0: as musl's clone() has it. */
bool aarch64_ends_thread(const uint8_t code[16])
{
    static const uint8_t exits[] = {0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
    return !memcmp(code, exits, sizeof exits);
}
