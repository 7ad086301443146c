/* 32-bit Arm: Arm and Thumb code in one program, distinguished by mapping symbols and by the lowest
 * bit of a function's address. Symbols: AAELF32. */
#include "arch/capstone.h"
#include "arch/code.h"

#include <elf.h>

enum { SET_ARM, SET_THUMB, SETS };

/* ARMv7-A and R, A8.8: B, BL and BLX with an immediate, which counts from two instructions on.
 *
 *    BL, B   cond 101 link offset24
 *    BLX     1111 101 H offset24      to Thumb code, at a halfword */
static void scan_arm_word(struct code_finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + 8 + (signed_field(w, 24) << 2);
    if (w >> 25 == 0x7d)
        found_call(f, at, to + (w >> 23 & 2));
    else if ((w >> 24 & 0xf) == 0xb && w >> 28 != 0xf)
        found_call(f, at, to);
    else if (w >> 24 == 0xea)
        found_jump(f, at, to);
}

static void decode_arm(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_arm_word);
}

/* ARMv7-M, A7.7: BL, BLX and B.W with J1 and J2 folded into a displacement of 25 bits. */
static uint64_t thumb_displacement(uint32_t first, uint32_t second)
{
    uint32_t sign = first >> 10 & 1;
    uint32_t i1 = (second >> 13 & 1) == sign, i2 = (second >> 11 & 1) == sign;
    return signed_field(
        sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1, 25);
}

/* Instructions have two bytes, or four if they begin with 0b11101, 0b11110 or 0b11111.
 *
 *    B      11100 offset11
 *    BL     11110 S imm10   11 J1 1 J2 imm11
 *    BLX    11110 S imm10   11 J1 0 J2 imm10 0
 *    B.W    11110 S imm10   10 J1 1 J2 imm11 */
static void decode_thumb(const struct code_stretch *s, struct code_finding *f)
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

static const struct instruction_set sets[SETS] = {{"arm", decode_arm}, {"thumb", decode_thumb}};

static const struct instruction_set *marked_set(const char *mapping, bool is_compressed)
{
    return &sets[(mapping ? mapping[1] == 't' : is_compressed) ? SET_THUMB : SET_ARM];
}

static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "atdbfpm");
}

/* Odd addresses say that Thumb code runs there; the code itself lies one lower. */
static void adjust_symbol(uint8_t other, struct arch_symbol *s)
{
    (void)other;
    if (!s->is_function)
        return;
    s->is_compressed = s->address & 1;
    s->address &= ~(uint64_t)1;
}

/* Big-endian programs have little-endian code since version 6 (BE8). */
static bool has_big_endian_code(const struct arch_target *t)
{
    return t->is_big_endian && !(t->flags & EF_ARM_BE8);
}

static bool view(const struct arch_target *t, struct capstone_view *out)
{
    (void)t;
    *out = (struct capstone_view){CS_ARCH_ARM, CS_MODE_ARM, CS_MODE_THUMB, .unit = 2};
    return true;
}

const struct arch arch_arm = {
    .name = "armv7l",
    .other_names = {"armv8l", "armv6l", "arm"},
    .machines = {EM_ARM},
    .pe_machine = 0x1c4,
    .word = 4,
    .function_type = STT_ARM_TFUNC,
    .is_mapping = is_mapping,
    .adjust_symbol = adjust_symbol,
    .sets = sets,
    .sets_len = SETS,
    .marks = MARKS_SYMBOLS,
    .marked_set = marked_set,
    .has_big_endian_code = has_big_endian_code,
    .capstone = view,
    .lacks_inside_stacks = true, /* gcc's Thumb code keeps no chain of frames */
};
