/* AArch64, 64-bit Arm: code is little-endian whatever data is.
 *
 * Functions that call save x29 and x30 as a pair, to which x29 then points. With pointer
 * authentication return addresses are signed in their high bits, and unwinding takes that off.
 *
 * Sources: Arm Architecture Reference Manual (A-profile), C6.2; AAELF64 for symbols; AADWARF64 for
 * registers; Linux' <asm/ptrace.h>, <asm/sigcontext.h> and <asm/perf_regs.h>. */
#include "arch/capstone.h"
#include "arch/code.h"
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

/* B and BL
 *
 *    link 00101 offset26     in words, from the instruction itself */
static void scan_word(struct code_finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + (signed_field(w, 26) << 2);
    if (w >> 26 == 0x25)
        found_call(f, at, to);
    else if (w >> 26 == 0x05)
        found_jump(f, at, to);
}

static void decode(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_word);
}

static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "xdc");
}

static bool has_big_endian_code(const struct arch_target *t)
{
    (void)t;
    return false;
}

static bool view(const struct arch_target *t, struct capstone_view *out)
{
    (void)t;
    *out = (struct capstone_view){CS_ARCH_ARM64, CS_MODE_ARM, .unit = 4};
    return true;
}

static const struct instruction_set sets[] = {{"aarch64", decode}};

/* A call before a return address: BL, or one through a register (BLR, with or without a check of a
 * signature), whose target is unknown. */
static bool call_before(const uint8_t before[8], uint64_t address, struct arch_call *out)
{
    struct arch_effect e;
    uint8_t code[16];
    memcpy(code, before + 4, 4);
    aarch64_effect(code, address - 4, &e);
    *out = (struct arch_call){.target = e.target};
    return e.flow == FLOW_CALL;
}

/* At these x30 has the return address, and sp is the caller's: before the pair is saved, after it
 * was restored, and in stubs of the PLT, which have no frame. */
static const struct frameless_code FRAMELESS[] = {
    {0xffc07fff, 0xa9807bfd, 0, false}, /* stp x29, x30, [sp, -n]! */
    {0xffffffff, 0xd503233f, 0, false}, /* paciasp */
    {0xffffff3f, 0xd503241f, 0, false}, /* bti */
    {0xffffffff, 0xd65f03c0, 0, false}, /* ret */
    {0x9f00001f, 0x90000010, 0, false}, /* adrp x16, n: a PLT entry, to the branch */
    {0xffc003ff, 0xf9400211, 0, false}, /* ldr x17, [x16, n] */
    {0xffc003ff, 0x91000210, 0, false}, /* add x16, x16, n */
    {0xffffffff, 0xd61f0220, 0, false}, /* br x17 */
};

/* x0-x30, sp, pc: DWARF's numbers in order, everywhere in the kernel. */
static const struct register_map REGISTERS = {
    33, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,         16,
         17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, REGISTER_PC}};
enum { SIGINFO_BYTES = 128, UCONTEXT_TO_SIGCONTEXT = 176, FAULT_ADDRESS_BYTES = 8 };

static const struct arch_trampoline TRAMPOLINES[] = {{
    .code = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, /* mov x8, #139; svc #0 */
    .code_len = 8,
    .registers = SIGINFO_BYTES + UCONTEXT_TO_SIGCONTEXT + FAULT_ADDRESS_BYTES,
    .map = &REGISTERS,
}};

const struct arch arch_aarch64 = {
    .name = "aarch64",
    .machines = {EM_AARCH64},
    .pe_machine = 0xaa64,
    .is_mapping = is_mapping,
    .sets = sets,
    .sets_len = 1,
    .marks = MARKS_SYMBOLS,
    .has_big_endian_code = has_big_endian_code,
    .capstone = view,
    .registers = 32,
    .sp = 31,
    .fp = 29,
    .ra = 30,
    .signs_ra = true,
    .call_before = call_before,
    .effect = aarch64_effect,
    .ends_thread = aarch64_ends_thread,
    .link = LINK_AT_FP,
    .frameless = FRAMELESS,
    .frameless_len = sizeof FRAMELESS / sizeof *FRAMELESS,
    .trampolines = TRAMPOLINES,
    .trampolines_len = 1,
    .perf_registers = (UINT64_C(1) << 33) - 1,
    .perf = &REGISTERS,
    .regset = &REGISTERS,
    .regset_len = 34, /* pstate */
    .syscalls = syscalls_generic,
    .syscalls_len = SYSCALLS_GENERIC,
    .syscall_code = {0x01, 0, 0, 0xd4}, /* svc #0 */
    .syscall_code_len = 4,
    .syscall_register = 8,
};
