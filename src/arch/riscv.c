/* RISC-V, 32 and 64 bits. Stacks are read of 64-bit programs alone.
 *
 * Half of the instructions have two bytes. A call further than 1 MB takes two instructions, AUIPC
 * and JALR, which are read together.
 *
 * Sources: RISC-V unprivileged ISA, 2.5 and chapter C; RISC-V psABI for symbols, registers and
 * frames; Linux' <asm/ptrace.h>, <asm/sigcontext.h> and <asm/perf_regs.h>. */
#include "arch/capstone.h"
#include "arch/code.h"
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

/* JAL, C.JAL, C.J, and AUIPC with JALR after it. A branch that links to register zero does not come
 * back. */
struct riscv {
    struct code_finding *f;
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

/* JAL; JALR, if AUIPC has set its register in the instruction before.
 *
 *    JAL     imm[20|10:1|11|19:12] rd 1101111
 *    AUIPC   imm[31:12]            rd 0010111
 *    JALR    imm[11:0] rs1 000     rd 1100111 */
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

/* C.J and, on RV32 alone, C.JAL, whose offset is scattered over the instruction.
 *
 *    101 imm[11|4|9:8|10|6|7|3:1|5] 01 */
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

/* The lowest bits of an instruction give its length: 2, 4, 6 or 8 bytes. */
static void decode(const struct code_stretch *s, struct code_finding *f, bool is_32)
{
    struct riscv r = {.f = f, .is_32 = is_32};
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

static void decode_32(const struct code_stretch *s, struct code_finding *f)
{
    decode(s, f, true);
}

static void decode_64(const struct code_stretch *s, struct code_finding *f)
{
    decode(s, f, false);
}

static const struct instruction_set SET_32 = {"riscv32", decode_32};
static const struct instruction_set SET_64 = {"riscv64", decode_64};

/* $x may be followed by the instruction set: $xrv64i2p1_m2p0 */
static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "xd") || !strncmp(name, "$xrv", 4);
}

#if CS_API_MAJOR >= 5
static bool view(const struct arch_target *t, struct capstone_view *out)
{
    cs_mode mode = t->word == 8 ? CS_MODE_RISCV64 : CS_MODE_RISCV32;
    *out = (struct capstone_view){CS_ARCH_RISCV, mode | CS_MODE_RISCVC, .unit = 2};
    return true;
}
#else
#define view NULL
#endif

/* At these ra has the return address, and sp is the caller's. */
static const struct frameless_code FRAMELESS[] = {
    {0x0000ffff, 0x00008082, 0, false}, /* ret */
    {0x800fffff, 0x80010113, 0, false}, /* addi sp, sp, -n */
    {0x0000ff83, 0x00001101, 0, false}, /* c.addi sp, -n */
    {0x0000ff83, 0x00007101, 0, false}, /* c.addi16sp -n */
    {0x00000fff, 0x00000e17, 0, false}, /* auipc t3, n: a PLT entry, to the jump */
    {0x000fffff, 0x000e3e03, 0, false}, /* ld t3, n(t3) */
    {0xffffffff, 0x000e0367, 0, false}, /* jalr t1, t3 */
};

/* pc, x1-x31, everywhere in the kernel; DWARF's numbers are x0-x31. */
static const struct register_map REGISTERS = {
    32, {REGISTER_PC, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
         16,          17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};
enum { SIGINFO_BYTES = 128, UCONTEXT_TO_SIGCONTEXT = 176 };

static const struct arch_trampoline TRAMPOLINES[] = {{
    .code = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}, /* li a7, 139; ecall */
    .code_len = 8,
    .registers = SIGINFO_BYTES + UCONTEXT_TO_SIGCONTEXT,
    .map = &REGISTERS,
}};

const struct arch arch_riscv32 = {
    .name = "riscv32",
    .machines = {EM_RISCV},
    .word = 4,
    .is_mapping = is_mapping,
    .sets = &SET_32,
    .sets_len = 1,
    .marks = MARKS_SYMBOLS,
    .capstone = view,
};

const struct arch arch_riscv64 = {
    .name = "riscv64",
    .machines = {EM_RISCV},
    .word = 8,
    .is_mapping = is_mapping,
    .sets = &SET_64,
    .sets_len = 1,
    .marks = MARKS_SYMBOLS,
    .capstone = view,
    .registers = 32,
    .sp = 2,
    .fp = 8,
    .ra = 1,
    .link = LINK_BELOW_FP,
    .frameless = FRAMELESS,
    .frameless_len = sizeof FRAMELESS / sizeof *FRAMELESS,
    .trampolines = TRAMPOLINES,
    .trampolines_len = 1,
    .perf_registers = (UINT64_C(1) << 32) - 1,
    .perf = &REGISTERS,
    .regset = &REGISTERS,
    .regset_len = 32,
    .syscalls = syscalls_generic,
    .syscalls_len = SYSCALLS_GENERIC,
    .syscall_code = {0x73, 0, 0, 0}, /* ecall */
    .syscall_code_len = 4,
    .syscall_register = 17, /* a7 */
};
