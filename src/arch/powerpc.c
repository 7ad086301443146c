/* PowerPC: 32 bits, and 64 bits in both byte orders. Stacks are read of little-endian ones.
 *
 * In 64-bit programs symbols may name descriptors (ELFv1), or functions with a second entry for
 * callers that share their table of contents (ELFv2).
 *
 * Stacks (ELFv2). r1 always points to the caller's r1, at the bottom of that frame: a back chain
 * through all frames. A function that calls saves LR, the return address, in its caller's frame,
 * two words above the caller's r1. LR is 65 in tables; it gets the place of r13, which holds the
 * thread's pointer and is never saved. Frames of variable size have r31 as a frame pointer.
 *
 * Sources: Power ISA, book I, 2.4; 64-bit PowerPC ELF ABI 1.9 and 2.0 (OpenPOWER ELFv2); Linux'
 * <asm/ptrace.h>, <asm/sigcontext.h> and <asm/perf_regs.h>. */
#include "arch/capstone.h"
#include "arch/code.h"

#include <elf.h>

/* I-form branches, with the bits AA (absolute) and LK (link).
 *
 *    010010 offset24 AA LK */
static void scan_word(struct code_finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = signed_field(w & ~(uint32_t)3, 26) + (w & 2 ? 0 : at);
    if (w >> 26 == 18 && w & 1)
        found_call(f, at, to);
    else if (w >> 26 == 18)
        found_jump(f, at, to);
}

static void decode(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_word);
}

static const struct instruction_set sets[] = {{"powerpc", decode}};

/* The three topmost bits of st_other: 0 and 1 for none, then 4, 8, ... 64. */
static void adjust_symbol_64(uint8_t other, struct arch_symbol *s)
{
    unsigned log = other >> 5;
    if (log > 1 && log < 7)
        s->local_entry = (uint8_t)(1u << log);
}

static bool has_descriptors(const struct arch_target *t)
{
    enum { ELFV2 = 2 };
    return (t->flags & EF_PPC64_ABI) != ELFV2;
}

static bool view(const struct arch_target *t, struct capstone_view *out)
{
    *out = (struct capstone_view){CS_ARCH_PPC, t->machine == EM_PPC64 ? CS_MODE_64 : CS_MODE_32,
                                  .unit = 4};
    return true;
}

enum { LR = 65, LR_PLACE = 13 };

/* LR is the caller's at these; r1, too. */
static const struct frameless_code FRAMELESS[] = {
    {0xffff0000, 0x3c4c0000, 0, false}, /* addis r2, r12, n */
    {0xffff0000, 0x38420000, 0, false}, /* addi r2, r2, n */
    {0xffffffff, 0x7c0802a6, 0, false}, /* mflr r0 */
    {0xffffffff, 0xf8010010, 0, false}, /* std r0, 16(r1) */
    {0xffff0003, 0xf8210001, 0, false}, /* stdu r1, -n(r1) */
    {0xffffffff, 0x4e800020, 0, false}, /* blr */
    {0xffffffff, 0xf8410018, 0, false}, /* std r2, 24(r1): a PLT call stub, to the branch */
    {0xffff0000, 0x3d820000, 0, false}, /* addis r12, r2, n */
    {0xffff0003, 0xe98c0000, 0, false}, /* ld r12, n(r12) */
    {0xffff0003, 0xe9820000, 0, false}, /* ld r12, n(r2) */
    {0xffffffff, 0x7d8903a6, 0, false}, /* mtctr r12 */
    {0xffffffff, 0x4e800420, 0, false}, /* bctr */
};

/* struct pt_regs, which is PERF_REG_POWERPC_... as well: r0-r31, nip, msr, orig_r3, ctr, link. */
static const struct register_map REGISTERS = {
    37, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, -1,          14, 15, 16, 17,      18,
         19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, REGISTER_PC, -1, -1, -1, LR_PLACE}};

/* Above the stack pointer are a frame of 128 bytes for the handler, struct ucontext, and in that,
 * 232 bytes on, the registers. The kernel's trampoline takes the frame away first; qemu-user's
 * frame is 16 bytes larger, and its trampoline leaves it there. */
static const struct arch_trampoline TRAMPOLINES[] = {
    {
        /* addi r1, r1, 128; li r0, 172; sc */
        .code = {0x80, 0, 0x21, 0x38, 0xac, 0, 0, 0x38, 0x02, 0, 0, 0x44},
        .code_len = 12,
        .registers = 128 + 232,
        .map = &REGISTERS,
    },
    {
        .code = {0xac, 0, 0, 0x38, 0x02, 0, 0, 0x44},
        .code_len = 8,
        .registers = 128 + 16 + 232,
        .map = &REGISTERS,
    },
};

const struct arch arch_ppc64le = {
    .name = "ppc64le",
    .machines = {EM_PPC64},
    .order = 'l',
    .has_local_entries = true,
    .has_descriptors = has_descriptors,
    .adjust_symbol = adjust_symbol_64,
    .sets = sets,
    .sets_len = 1,
    .capstone = view,
    .registers = 32,
    .sp = 1,
    .fp = 31,
    .ra = LR_PLACE,
    .column_beyond = LR,
    .column_place = LR_PLACE,
    .link = LINK_BACK_CHAIN,
    .frameless = FRAMELESS,
    .frameless_len = sizeof FRAMELESS / sizeof *FRAMELESS,
    .trampolines = TRAMPOLINES,
    .trampolines_len = 2,
    .perf_registers = (UINT64_C(1) << 37) - 1,
    .perf = &REGISTERS,
    .regset = &REGISTERS,
    .regset_len = 48,
    .syscall_code = {0x02, 0, 0, 0x44}, /* sc */
    .syscall_code_len = 4,
};

const struct arch arch_ppc64 = {
    .name = "ppc64",
    .machines = {EM_PPC64},
    .order = 'b',
    .has_local_entries = true,
    .has_descriptors = has_descriptors,
    .adjust_symbol = adjust_symbol_64,
    .sets = sets,
    .sets_len = 1,
    .capstone = view,
};

const struct arch arch_ppc = {
    .name = "ppc",
    .machines = {EM_PPC},
    .has_local_entries = true,
    .sets = sets,
    .sets_len = 1,
    .capstone = view,
};
