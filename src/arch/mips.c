/* MIPS: MIPS16 and microMIPS functions are known by their symbols, and their calls are not read.
 * Symbols: MIPS psABI and its supplements. */
#include "arch/capstone.h"
#include "arch/code.h"

#include <elf.h>

enum { SET_MIPS, SET_MIPS_R6, SETS };

/* MIPS32 and MIPS64, volume II-A: J and JAL stay within 256 MB; BAL is BGEZAL of register zero.
 *
 *    J, JAL   00001 l target26                    l: links
 *    BAL      000001 00000 10001 offset16
 *    B        000100 00000 00000 offset16         BEQ of zero and zero */
static void scan_word(struct code_finding *f, uint64_t at, uint32_t w)
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
static void scan_r6_word(struct code_finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + 4 + (signed_field(w, 26) << 2);
    if (w >> 26 == 0x3a)
        found_call(f, at, to);
    else if (w >> 26 == 0x32)
        found_jump(f, at, to);
    else
        scan_word(f, at, w);
}

static void decode(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_word);
}

static void decode_r6(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_r6_word);
}

static const struct instruction_set sets[SETS] = {{"mips", decode}, {"mips-r6", decode_r6}};

/* EF_MIPS_ARCH is the topmost digit of e_flags. */
static const struct instruction_set *set_of(const struct arch_target *t)
{
    enum { R6_32 = 0x9, R6_64 = 0xa };
    uint32_t release = (t->flags & EF_MIPS_ARCH) >> 28;
    return &sets[release == R6_32 || release == R6_64 ? SET_MIPS_R6 : SET_MIPS];
}

static bool is_mapping(const char *name)
{
    return name[1] == 'L';
}

/* Odd addresses say that compressed code runs there; the code itself lies one lower. */
static void adjust_symbol(uint8_t other, struct arch_symbol *s)
{
    enum { MIPS16 = 0xf0, MICROMIPS = 0x80, MODE = 0xf0 };
    bool is_compressed = (other & MODE) == MIPS16 || (other & 0xc0) == MICROMIPS;
    if (!s->is_function && !is_compressed)
        return;
    s->is_compressed = s->address & 1 || is_compressed;
    s->address &= ~(uint64_t)1;
}

static bool view(const struct arch_target *t, struct capstone_view *out)
{
    *out = (struct capstone_view){CS_ARCH_MIPS, t->word == 8 ? CS_MODE_MIPS64 : CS_MODE_MIPS32,
                                  CS_MODE_MICRO, .unit = 2};
    return true;
}

const struct arch arch_mips = {
    .name = "mips64",
    .other_names = {"mips"},
    .machines = {EM_MIPS},
    .is_mapping = is_mapping,
    .common_index = SHN_MIPS_SCOMMON,
    .adjust_symbol = adjust_symbol,
    .sets = sets,
    .sets_len = SETS,
    .marks = MARKS_FUNCTIONS,
    .set_of = set_of,
    .capstone = view,
};
