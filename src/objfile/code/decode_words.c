/* Direct calls where an instruction's length shows in its first bytes: everything but x86. The few
 * bit patterns of branches are all that is looked at; the test compares them with capstone's view.
 */
#include "objfile/code/decode.h"

#include "base/cursor.h"

/* The low `bits` of a word as a number with a sign. */
static uint64_t signed_field(uint32_t word, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return ((word & ((sign << 1) - 1)) ^ sign) - sign;
}

/* --- four bytes each -------------------------------------------------------------------------- */

/* Arm Architecture Reference Manual (A-profile), C6.2: B and BL. */
static void aarch64(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + (signed_field(w, 26) << 2);
    if (w >> 26 == 0x25)
        found_call(f, at, to);
    else if (w >> 26 == 0x05)
        found_jump(f, at, to);
}

/* ARMv7-A and R, A8.8: B, BL and BLX with an immediate, which counts from two instructions on. */
static void arm(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + 8 + (signed_field(w, 24) << 2);
    if (w >> 25 == 0x7d)
        found_call(f, at, to + (w >> 23 & 2));
    else if ((w >> 24 & 0xf) == 0xb && w >> 28 != 0xf)
        found_call(f, at, to);
    else if (w >> 24 == 0xea)
        found_jump(f, at, to);
}

/* MIPS32 and MIPS64, volume II-A: J and JAL stay within 256 MB; BAL is BGEZAL of register zero. */
static void mips(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t next = at + 4, absolute = (next & ~(uint64_t)0xfffffff) | (w & 0x3ffffff) << 2;
    uint64_t relative = next + (signed_field(w, 16) << 2);
    if (w >> 26 == 3)
        found_call(f, at, absolute);
    else if (w >> 26 == 2)
        found_jump(f, at, absolute);
    else if (w >> 16 == 0x0411)
        found_call(f, at, relative);
    else if (w >> 16 == 0x1000)
        found_jump(f, at, relative);
}

/* Release 6 has no JAL's cousins with a delay slot to spare: BALC and BC reach 128 MB. */
static void mips_r6(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + 4 + (signed_field(w, 26) << 2);
    if (w >> 26 == 0x3a)
        found_call(f, at, to);
    else if (w >> 26 == 0x32)
        found_jump(f, at, to);
    else
        mips(f, at, w);
}

/* Power ISA, book I, 2.4: I-form branches, with the bits AA (absolute) and LK (link). */
static void power(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = signed_field(w & ~(uint32_t)3, 26) + (w & 2 ? 0 : at);
    if (w >> 26 == 18 && w & 1)
        found_call(f, at, to);
    else if (w >> 26 == 18)
        found_jump(f, at, to);
}

/* SPARC V9, appendix A: CALL, and BA with 22 bits (V8) or 19 (V9). */
static void sparc(struct finding *f, uint64_t at, uint32_t w)
{
    uint32_t always = w & 0xdfc00000; /* without the annul bit */
    if (w >> 30 == 1)
        found_call(f, at, at + (signed_field(w, 30) << 2));
    else if (always == 0x10800000)
        found_jump(f, at, at + (signed_field(w, 22) << 2));
    else if (always == 0x10400000)
        found_jump(f, at, at + (signed_field(w, 19) << 2));
}

static void decode_fixed(const struct stretch *s, struct finding *f,
                         void (*look)(struct finding *f, uint64_t at, uint32_t w))
{
    for (size_t i = 0; i + 4 <= s->bytes.len; i += 4)
        look(f, s->address + i, bytes_u32(s->bytes.at + i, s->is_big_endian));
}

/* --- two, four or six bytes --------------------------------------------------------------------
 */

/* ARMv7-M, A7.7: BL, BLX and B.W with J1 and J2 folded into a displacement of 25 bits. */
static uint64_t thumb_displacement(uint32_t first, uint32_t second)
{
    uint32_t sign = first >> 10 & 1;
    uint32_t i1 = (second >> 13 & 1) == sign, i2 = (second >> 11 & 1) == sign;
    return signed_field(
        sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1, 25);
}

static void decode_thumb(const struct stretch *s, struct finding *f)
{
    size_t len;
    for (size_t i = 0; i + 2 <= s->bytes.len; i += len) {
        uint32_t first = bytes_u16(s->bytes.at + i, s->is_big_endian);
        uint64_t at = s->address + i, pc = at + 4;
        len = first >> 11 >= 0x1d ? 4 : 2;
        if (first >> 11 == 0x1c)
            found_jump(f, at, pc + (signed_field(first, 11) << 1));
        if (first >> 11 != 0x1e || i + 4 > s->bytes.len)
            continue;
        uint32_t second = bytes_u16(s->bytes.at + i + 2, s->is_big_endian);
        uint64_t to = pc + thumb_displacement(first, second);
        switch (second & 0xd000) {
        case 0xd000: found_call(f, at, to); break;
        case 0xc000: found_call(f, at, to & ~(uint64_t)3); break; /* BLX, from Align(pc, 4) */
        case 0x9000: found_jump(f, at, to); break;
        }
    }
}

/* z/Architecture Principles of Operation, chapter 7: BRASL and BRAS; BRCL and BRC of every
 * condition. The two topmost bits of an instruction give its length. */
static void decode_s390(const struct stretch *s, struct finding *f)
{
    size_t len;
    for (size_t i = 0; i + 2 <= s->bytes.len; i += len) {
        const uint8_t *p = s->bytes.at + i;
        uint64_t at = s->address + i;
        len = p[0] < 0x40 ? 2 : p[0] < 0xc0 ? 4 : 6;
        if (i + len > s->bytes.len || (p[0] != 0xc0 && p[0] != 0xa7))
            continue;
        uint64_t displacement = p[0] == 0xa7 ? signed_field(bytes_u16(p + 2, true), 16)
                                             : signed_field(bytes_u32(p + 2, true), 32);
        uint64_t to = at + (displacement << 1);
        if ((p[1] & 0xf) == 5)
            found_call(f, at, to);
        else if (p[1] == 0xf4)
            found_jump(f, at, to);
    }
}

/* RISC-V unprivileged ISA, 2.5 and chapter C: JAL, C.JAL, C.J, and AUIPC with JALR behind it. A
 * branch that links to register zero does not come back. */
struct riscv {
    struct finding *f;
    bool is_32, has_page;
    uint32_t page_register;
    uint64_t page;
};

static void riscv_branch(const struct riscv *r, uint32_t link, uint64_t from, uint64_t to)
{
    if (link)
        found_call(r->f, from, to);
    else
        found_jump(r->f, from, to);
}

static void riscv_word(struct riscv *r, uint64_t at, uint32_t w)
{
    uint32_t link = w >> 7 & 0x1f, base = w >> 15 & 0x1f;
    if ((w & 0x7f) == 0x6f) {
        uint32_t offset =
            w >> 31 << 20 | (w & 0xff000) | (w >> 20 & 1) << 11 | (w >> 21 & 0x3ff) << 1;
        riscv_branch(r, link, at, at + signed_field(offset, 21));
    } else if ((w & 0x707f) == 0x67 && r->has_page && base == r->page_register) {
        riscv_branch(r, link, at, (r->page + signed_field(w >> 20, 12)) & ~(uint64_t)1);
    }
    r->has_page = (w & 0x7f) == 0x17;
    r->page_register = link;
    r->page = at + signed_field(w & 0xfffff000, 32);
}

static void riscv_half(struct riscv *r, uint64_t at, uint32_t h)
{
    uint32_t kind = h & 0xe003;
    r->has_page = false;
    if (kind != 0xa001 && (kind != 0x2001 || !r->is_32))
        return;
    uint32_t offset = (h >> 12 & 1) << 11 | (h >> 11 & 1) << 4 | (h >> 9 & 3) << 8 |
                      (h >> 8 & 1) << 10 | (h >> 7 & 1) << 6 | (h >> 6 & 1) << 7 |
                      (h >> 3 & 7) << 1 | (h >> 2 & 1) << 5;
    riscv_branch(r, kind == 0x2001, at, at + signed_field(offset, 12));
}

static void decode_riscv(const struct stretch *s, struct finding *f)
{
    struct riscv r = {.f = f, .is_32 = s->set == SET_RISCV_32};
    size_t len;
    for (size_t i = 0; i + 2 <= s->bytes.len; i += len) {
        const uint8_t *p = s->bytes.at + i; /* code is little-endian on every RISC-V */
        uint32_t half = bytes_u16(p, false);
        len = (half & 3) != 3 ? 2 : (half & 0x1f) != 0x1f ? 4 : (half & 0x3f) != 0x3f ? 6 : 8;
        if (len == 2)
            riscv_half(&r, s->address + i, half);
        else if (len == 4 && i + 4 <= s->bytes.len)
            riscv_word(&r, s->address + i, bytes_u32(p, false));
        else
            r.has_page = false;
    }
}

void decode_words(const struct stretch *s, struct finding *f)
{
    switch (s->set) {
    case SET_ARM: decode_fixed(s, f, arm); break;
    case SET_THUMB: decode_thumb(s, f); break;
    case SET_AARCH64: decode_fixed(s, f, aarch64); break;
    case SET_MIPS: decode_fixed(s, f, mips); break;
    case SET_MIPS_R6: decode_fixed(s, f, mips_r6); break;
    case SET_POWER: decode_fixed(s, f, power); break;
    case SET_SPARC: decode_fixed(s, f, sparc); break;
    case SET_S390: decode_s390(s, f); break;
    case SET_RISCV_32:
    case SET_RISCV_64: decode_riscv(s, f); break;
    default: break;
    }
}
