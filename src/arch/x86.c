/* x86: 32-bit (i386) and 64-bit (x86-64) programs.
 *
 * Code. Instructions have no fixed length, so every one on the way to a call must be measured.
 * Capstone knows them all, at two or three million instructions a second: seconds for a large
 * program. x86_length() measures what compilers emit fifty times as fast and hands what it is not
 * sure of to capstone; test_calls.c compares the two over whole libraries. 16-bit code is not
 * known.
 *
 * Stacks are read of 64-bit programs alone: calls push the return address, and frames that have no
 * tables may be linked by %rbp.
 *
 * Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
 * appendix A; System V ABI, x86-64 supplement; Linux' <asm/perf_regs.h>, <asm/sigcontext.h>,
 * <sys/user.h> and syscall_64.tbl. */
#include "arch/capstone.h"

#include "arch/code.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

/* --- code ------------------------------------------------------------------------------------ */

enum { MOST = 15, MOST_PREFIXES = 4 }; /* bytes in an instruction; prefixes that are usual */

/* What follows an opcode. Upper case: a ModRM byte with its address, then the same as lower case.
 *
 *     .    nothing                        R    ModRM alone
 *     b B  one byte                       w    two bytes
 *     z Z  four bytes, or two under 66    v    z, or eight bytes under REX.W
 *     e    three bytes (enter)            a    an address (mov)
 *     G H  b, z if ModRM's reg is 0 or 1 (test), else nothing
 *     c    a call's displacement          j s  a jump's, long and short
 *     d    a conditional jump's           ?    prefixes, what differs by mode, what is rare
 */
static const char ONE_BYTE[] = "RRRRbz??RRRRbz??RRRRbz??RRRRbz??"  /* 00 */
                               "RRRRbz??RRRRbz??RRRRbz??RRRRbz??"  /* 20 */
                               "................................"  /* 40 */
                               "???R????zZbB....bbbbbbbbbbbbbbbb"  /* 60 */
                               "BZ?BRRRRRRRRRRR?..........?....."  /* 80 */
                               "aaaa....bz......bbbbbbbbvvvvvvvv"  /* a0 */
                               "BBw.??BZe.w..b?.RRRR???.RRRRRRRR"  /* c0 */
                               "bbbbbbbbcj?s....?.??..GH......RR"; /* e0 */

/* The same after 0f. */
static const char TWO_BYTES[] = "RRRR?.....?.?R.?RRRRRRRRRRRRRRRR"  /* 00 */
                                "????????RRRRRRRR......?.????????"  /* 20 */
                                "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR"  /* 40 */
                                "RRRRRRRRRRRRRRRRBBBBRRR.????RRRR"  /* 60 */
                                "ddddddddddddddddRRRRRRRRRRRRRRRR"  /* 80 */
                                "...RBR??...RBRRRRRRRRRRRR?BRRRRR"  /* a0 */
                                "RRBRBBBR........RRRRRRRRRRRRRRRR"  /* c0 */
                                "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR?"; /* e0 */

/* An instruction while it is being measured. */
struct measure {
    const uint8_t *at; /* MOST bytes can be read here */
    size_t len;        /* so far */
    bool is_64, is_wide, has_66, has_67, has_repeat;
};

/* Whether a byte before an opcode is a prefix, of those that are no REX. */
static bool x86_is_prefix(uint8_t byte)
{
    static const uint8_t PREFIXES[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26,
                                       0x2e, 0x36, 0x3e, 0x64, 0x65};
    return memchr(PREFIXES, byte, sizeof PREFIXES) != NULL;
}

/* Compilers use at most a few. Stops at the opcode, or at REX. */
static void x86_take_prefixes(struct measure *m)
{
    for (; m->len < MOST_PREFIXES && x86_is_prefix(m->at[m->len]); m->len++) {
        uint8_t byte = m->at[m->len];
        m->has_66 |= byte == 0x66;
        m->has_67 |= byte == 0x67;
        m->has_repeat |= byte >= 0xf0;
    }
}

/* VEX and EVEX: opcode map, then what follows an opcode of it. '?' for what is none. */
static char x86_vector_kind(struct measure *m)
{
    const uint8_t *p = m->at + m->len;
    bool is_evex = p[0] == 0x62, is_short = p[0] == 0xc5;
    bool is_loading = !m->is_64 && p[1] >> 6 != 3; /* les, lds, bound */
    unsigned map = is_short ? 1 : is_evex ? p[1] & 0xf : p[1] & 0x1f;
    if (is_loading || m->has_66 || m->has_repeat || map < 1 || map > 3 || (is_evex && !(p[2] & 4)))
        return '?';
    m->len += is_evex ? 4 : is_short ? 2 : 3;
    uint8_t opcode = m->at[m->len++];
    if (map == 1 && opcode == 0x77)
        return is_evex ? '?' : '.';
    if (map == 1)
        return TWO_BYTES[opcode] == 'B' ? 'B' : 'R';
    return map == 2 ? 'R' : 'B';
}

/* Moves past prefixes and opcode, and says what follows the opcode. */
static char x86_opcode_kind(struct measure *m)
{
    uint8_t byte = m->at[0];
    if (ONE_BYTE[byte] == '?' && byte != 0x0f) {
        x86_take_prefixes(m);
        byte = m->at[m->len];
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
        return x86_vector_kind(m);
    if (m->is_64 && byte >> 4 == 4) {
        m->is_wide = byte & 8;
        byte = m->at[++m->len];
        if (byte >> 4 == 4)
            return '?';
    }
    m->len++;
    if (byte != 0x0f)
        return ONE_BYTE[byte];
    byte = m->at[m->len++];
    if (byte != 0x38 && byte != 0x3a)
        return TWO_BYTES[byte];
    m->len++;
    return byte == 0x38 ? 'R' : 'B';
}

/* ModRM, SIB and displacement.
 *
 *    ModRM  mod:2 reg:3 rm:3     rm 4: a SIB byte follows, but for mod 3
 *    SIB    scale:2 index:3 base:3     base 5 with mod 0: four bytes in place of a register */
static size_t x86_address_len(const uint8_t *modrm)
{
    static const uint8_t lens[4][8] = {{1, 1, 1, 1, 2, 5, 1, 1},
                                       {2, 2, 2, 2, 3, 2, 2, 2},
                                       {5, 5, 5, 5, 6, 5, 5, 5},
                                       {1, 1, 1, 1, 1, 1, 1, 1}};
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    bool has_no_base = mod == 0 && rm == 4 && (modrm[1] & 7) == 5;
    return lens[mod][rm] + (has_no_base ? 4 : 0);
}

/* Bytes of the operand in the instruction; MOST for what is not known. */
static size_t x86_operand_len(const struct measure *m, char kind, uint8_t modrm)
{
    size_t word = m->has_66 && !m->is_wide ? 2 : 4;
    bool is_test = (modrm >> 3 & 7) < 2;
    switch (kind) {
    case '.':
    case 'R': return 0;
    case 'b':
    case 's':
    case 'B': return 1;
    case 'w': return 2;
    case 'e': return 3;
    case 'z':
    case 'Z': return word;
    case 'v': return m->is_wide ? 8 : word;
    case 'G': return is_test ? 1 : 0;
    case 'H': return is_test ? word : 0;
    case 'a': return m->has_67 ? MOST : m->is_64 ? 8 : 4;
    case 'c':
    case 'd':
    case 'j': return m->has_66 && !m->is_64 ? MOST : 4; /* 64-bit code ignores 66 here */
    default: return MOST;
    }
}

/* Bytes after the opcode; MOST for what is not known. */
static size_t x86_rest_len(const struct measure *m, char kind)
{
    const uint8_t *modrm = m->at + m->len;
    bool has_modrm = kind >= 'A' && kind <= 'Z';
    if (has_modrm && m->has_67 && !m->is_64)
        return MOST;
    size_t address = has_modrm ? x86_address_len(modrm) : 0;
    return address + (kind == 'R' || kind == '.' ? 0 : x86_operand_len(m, kind, *modrm));
}

/* The length, or 0, and what kind of instruction it is. */
static size_t x86_measure(const uint8_t *at, size_t left, bool is_64, char *kind)
{
    uint8_t copy[MOST + 1] = {0};
    struct measure m = {.at = at, .is_64 = is_64};
    if (left < MOST)
        m.at = memcpy(copy, at, left);
    *kind = x86_opcode_kind(&m);
    size_t len = m.len + x86_rest_len(&m, *kind);
    return len <= left && len <= MOST ? len : 0;
}

size_t x86_length(const uint8_t *at, size_t left, bool is_64)
{
    char kind;
    return x86_measure(at, left, is_64, &kind);
}

/* Four bytes at the end of the instruction, or one, count from there. */
static void x86_take_branch(struct code_finding *f, char kind, uint64_t from, const uint8_t *end,
                            uint64_t after)
{
    uint32_t displacement;
    if (kind == 's') {
        found_jump(f, from, after + (uint64_t)(int8_t)end[-1]);
        return;
    }
    memcpy(&displacement, end - sizeof displacement, sizeof displacement);
    uint64_t to = after + (uint64_t)(int32_t)le32toh(displacement);
    if (kind == 'c')
        found_call(f, from, to);
    else
        found_jump(f, from, to);
}

static const struct capstone *x86_capstone_of(struct code_finding *f, bool is_64)
{
    if (f->capstone || f->no_capstone)
        return f->capstone;
    f->capstone = capstone_open(CS_ARCH_X86, is_64 ? CS_MODE_64 : CS_MODE_32, &f->no_capstone);
    if (f->capstone)
        f->capstone->option(f->capstone->handle, CS_OPT_DETAIL, CS_OPT_ON);
    return f->capstone;
}

/* The length by capstone, which also says what an unusual branch is; 1 for what it does not know.
 */
static size_t x86_ask_capstone(const uint8_t *at, size_t left, uint64_t address, bool is_64,
                               struct code_finding *f)
{
    const struct capstone *c = x86_capstone_of(f, is_64);
    cs_insn *found;
    if (!c || !c->disasm(c->handle, at, left < MOST ? left : MOST, address, 1, &found))
        return 1;
    const cs_x86 *x86 = &found->detail->x86;
    size_t len = found->size;
    if (x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM) {
        if (found->id == X86_INS_CALL)
            found_call(f, address, (uint64_t)x86->operands[0].imm);
        else if (found->id == X86_INS_JMP)
            found_jump(f, address, (uint64_t)x86->operands[0].imm);
    }
    c->free(found, 1);
    return len;
}

/* Each instruction is measured, by us if we can and else by capstone; of those that branch, where
 * to. */
static void x86_decode(const struct code_stretch *s, struct code_finding *f, bool is_64)
{
    for (size_t i = 0; i < s->bytes.len;) {
        const uint8_t *at = s->bytes.at + i;
        size_t left = s->bytes.len - i;
        char kind;
        size_t len = x86_measure(at, left, is_64, &kind);
        if (!len)
            len = x86_ask_capstone(at, left, s->address + i, is_64, f);
        else if (kind == 'c' || kind == 'j' || kind == 's')
            x86_take_branch(f, kind, s->address + i, at + len, s->address + i + len);
        i += len;
    }
}

/* Whether the instruction is one of the many that only go on, by its first bytes: asking capstone
 * takes ten times as long. */
static bool x86_goes_on(const uint8_t *at, size_t left, bool is_64)
{
    uint8_t byte = at[0];
    if (is_64 && byte >> 4 == 4 && left > 2)
        byte = *++at;
    if (byte == 0x0f && left > 2)
        return (at[1] >= 0x10 && at[1] < 0x30) || (at[1] >= 0x40 && at[1] < 0x80) ||
               (at[1] >= 0x90 && at[1] < 0xa0) || (at[1] >= 0xb6 && at[1] < 0xb8) ||
               (at[1] >= 0xbe && at[1] < 0xc0) || at[1] == 0x1e || at[1] == 0x1f;
    return byte < 0x60 || byte == 0x63 || (byte >= 0x68 && byte < 0x6c) ||
           (byte >= 0x80 && byte < 0x9a) || (byte >= 0xa8 && byte < 0xc2);
}

/* capstone says what an instruction does, and we how long most are. */
static struct code_step x86_step(const struct code_stretch *s, struct code_finding *f, bool is_64)
{
    const uint8_t *at = s->bytes.at;
    size_t left = s->bytes.len, len = left ? x86_length(at, left, is_64) : 0;
    if (len && x86_goes_on(at, left, is_64))
        return (struct code_step){.flow = STEP_ON, .len = len};
    const struct capstone *c = x86_capstone_of(f, is_64);
    cs_insn *found;
    if (!c || !left || !c->disasm(c->handle, at, left < MOST ? left : MOST, s->address, 1, &found))
        return (struct code_step){.flow = STEP_UNKNOWN};
    const cs_detail *d = found->detail;
    const cs_x86_op *operand = d->x86.op_count ? &d->x86.operands[d->x86.op_count - 1] : NULL;
    struct code_step step = {.flow = STEP_ON, .len = found->size};
    for (uint8_t i = 0; i < d->groups_count; i++)
        switch (d->groups[i]) {
        case CS_GRP_JUMP: step.flow = STEP_BRANCH; break;
        case CS_GRP_CALL: step.flow = STEP_CALL; break;
        case CS_GRP_RET:
        case CS_GRP_IRET: step.flow = STEP_ENDS; break;
        default: break;
        }
    step.has_target = (step.flow == STEP_BRANCH || step.flow == STEP_CALL) && operand &&
                      operand->type == X86_OP_IMM;
    step.target = step.has_target ? (uint64_t)operand->imm & f->mask : 0;
    switch (found->id) {
    case X86_INS_JMP:
    case X86_INS_LJMP: step.flow = step.has_target ? STEP_JUMP : STEP_ENDS; break;
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE: step.flow = STEP_BRANCH; break;
    case X86_INS_SYSCALL: /* capstone has it among the calls */
    case X86_INS_INT: step.flow = STEP_ON; break;
    case X86_INS_HLT:
    case X86_INS_INT1:
    case X86_INS_INT3:
    case X86_INS_UD0:
    case X86_INS_UD2:
    case X86_INS_XBEGIN:
    case X86_INS_SYSEXIT:
    case X86_INS_SYSRET: step.flow = STEP_ENDS; break;
    default: break;
    }
    c->free(found, 1);
    return step;
}

static struct code_step x86_step_32(const struct code_stretch *s, struct code_finding *f)
{
    return x86_step(s, f, false);
}

static struct code_step x86_step_64(const struct code_stretch *s, struct code_finding *f)
{
    return x86_step(s, f, true);
}

static void x86_decode_32(const struct code_stretch *s, struct code_finding *f)
{
    x86_decode(s, f, false);
}

static void x86_decode_64(const struct code_stretch *s, struct code_finding *f)
{
    x86_decode(s, f, true);
}

static const struct instruction_set SET_I386 = {"i386", x86_decode_32, x86_step_32};
static const struct instruction_set SET_X86_64 = {"x86-64", x86_decode_64, x86_step_64};

static bool x86_view(const struct arch_target *t, struct capstone_view *out)
{
    *out = (struct capstone_view){CS_ARCH_X86, t->machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32,
                                  .unit = 1, .has_intel_syntax = true};
    return t->machine != EM_IAMCU;
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* DWARF: 0 rax, rdx, rcx, rbx, rsi, rdi, 6 rbp, 7 rsp, 8-15 r8-r15, 16 the return address. */
static const struct frameless_code FRAMELESS[] = {
    {0xffffffff, 0xfa1e0ff3, 0, false},                                     /* endbr64 */
    {0x000000ff, 0x00000055, 0, false},                                     /* push %rbp */
    {0x00ffffff, 0x00e58948, 8, true},                                      /* mov %rsp, %rbp */
    {0x00ffffff, 0x00ec8b48, 8, true},  {0x000000ff, 0x000000c3, 0, false}, /* ret */
    {0x000000ff, 0x000000c2, 0, false},                                     /* ret $n */
    {0x0000ffff, 0x0000c3f3, 0, false},                                     /* rep ret */
    {0x0000ffff, 0x000025ff, 0, false}, /* jmp *n(%rip): a PLT entry */
    {0x00ffffff, 0x0025fff2, 0, false}, /* the same with bnd */
    {0x000000ff, 0x00000068, 0, false}, /* push $n: the same, bound lazily */
    {0x0000ffff, 0x000035ff, 8, false}, /* push n(%rip): where those lead to */
};

/* struct sigcontext: r8-r15, di, si, bp, bx, dx, ax, cx, sp, ip. */
static const struct register_map SAVED = {
    17, {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, REGISTER_PC}};
static const struct arch_trampoline TRAMPOLINES[] = {{
    .code = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, /* mov $15, %rax; syscall */
    .code_len = 9,
    .registers = 40,
    .map = &SAVED,
}};

/* PERF_REG_X86_...: ax bx cx dx si di bp sp ip, flags and segments, r8-r15. */
static const struct register_map PERF = {24,
                                         {0,  3,  2,  1,  4, 5, 6,  7,  REGISTER_PC, -1, -1, -1,
                                          -1, -1, -1, -1, 8, 9, 10, 11, 12,          13, 14, 15}};

/* struct user_regs_struct: r15 r14 r13 r12 bp bx r11-r8 ax cx dx si di orig_ax ip cs flags sp... */
static const struct register_map REGSET = {
    20, {15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, -1, REGISTER_PC, -1, -1, 7}};
enum { REGSET_WORDS = 27, ORIG_RAX_WORD = 15, CS_WORD = 17, CS_64 = 0x33, FS_BASE_WORD = 21 };

/* PTRACE_GETREGS and PTRACE_SETREGS show a 32-bit program's registers in the same layout. `syscall`
 * takes di si dx r10 r8 r9, `int $0x80` bx cx dx si di bp. */
static const struct arch_calls CALLS = {
    .read = 12,
    .write = 13,
    .result = 10,
    .pc = 16,
    .sp = 19,
    .of = {{CS_64, 8, {0x0f, 0x05}, {14, 13, 12, 7, 9, 8}},
           {0x23, 4, {0xcd, 0x80}, {5, 11, 12, 13, 14, 4}}},
};

static bool is_behind_clone(const uint8_t before[8])
{
    static const uint8_t clone[] = {0xb8, 56, 0, 0, 0, 0x0f, 0x05}; /* mov $56, %eax; syscall */
    static const uint8_t clone3[] = {0xb8, 0xb3, 1, 0, 0, 0x0f, 0x05};
    return !memcmp(before + 1, clone, sizeof clone) || !memcmp(before + 1, clone3, sizeof clone3);
}

/* call n, call *%r, call *n(%rip) */
static bool is_behind_call(const uint8_t before[8])
{
    return before[3] == 0xe8 || (before[6] == 0xff && (before[7] & 0xf8) == 0xd0) ||
           (before[2] == 0xff && before[3] == 0x15);
}

/* The place that an instruction names as a distance from the next one, which is at `next`. */
static uint64_t x86_relative(const uint8_t *distance, uint64_t next)
{
    int32_t signed_distance;
    memcpy(&signed_distance, distance, sizeof signed_distance);
    return next + (uint64_t)(int64_t)signed_distance;
}

/* `ff /2` with a register, and with memory at none, one byte's and four bytes' distance from one
 * or, with a byte more, from two of them. */
static bool call_before(const uint8_t before[8], uint64_t address, struct arch_call *out)
{
    *out = (struct arch_call){0};
    if (before[3] == 0xe8)
        out->target = x86_relative(before + 4, address);
    else if (before[2] == 0xff && before[3] == 0x15)
        out->pointer = x86_relative(before + 4, address);
    else
        return (before[6] == 0xff && ((before[7] & 0xf8) == 0xd0 || (before[7] & 0xf8) == 0x10)) ||
               (before[5] == 0xff && ((before[6] & 0xf8) == 0x50 || before[6] == 0x14)) ||
               (before[4] == 0xff && before[5] == 0x54) ||
               (before[2] == 0xff && (before[3] & 0xf8) == 0x90) ||
               (before[1] == 0xff && (before[2] == 0x94 || before[2] == 0x14));
    return true;
}

/* jmp *n(%rip), optionally after endbr64 and with bnd */
static uint64_t jump_pointer(const uint8_t code[16], uint64_t address)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned at = memcmp(code, endbr64, sizeof endbr64) ? 0 : sizeof endbr64;
    at += code[at] == 0xf2;
    return code[at] == 0xff && code[at + 1] == 0x25 ? x86_relative(code + at + 2, address + at + 6)
                                                    : 0;
}

/* push %rbp; mov %rsp, %rbp; then pushes, moves between registers and `xor %r, %r` in any order,
 * and sub $N, %rsp or add $-N, %rsp. */
static bool frame_room(const uint8_t *code, size_t len, uint64_t *room)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, begin[] = {0x55, 0x48, 0x89, 0xe5},
                         begin_too[] = {0x55, 0x48, 0x8b, 0xec};
    enum { LONGEST = 7 };
    size_t at = memcmp(code, endbr64, sizeof endbr64) ? 0 : sizeof endbr64;
    *room = 0;
    if (memcmp(code + at, begin, sizeof begin) && memcmp(code + at, begin_too, sizeof begin_too))
        return false;
    for (at += sizeof begin; at + LONGEST <= len;) {
        const uint8_t *c = code + at;
        unsigned has_rex = (c[0] & 0xf0) == 0x40;
        uint8_t op = c[has_rex], operands = c[has_rex + 1];
        if ((op & 0xf8) == 0x50) {
            *room += 8;
            at += has_rex + 1;
        } else if ((op == 0x89 || op == 0x8b || op == 0x31) && operands >> 6 == 3)
            at += has_rex + 2;
        else if (c[0] == 0x48 && op == 0x83 && operands == 0xec) {
            *room += c[3];
            return true;
        } else if (c[0] == 0x48 && op == 0x81 && operands == 0xec) {
            *room += x86_relative(c + 3, 0);
            return true;
        } else
            return true;
    }
    return true;
}

/* sub %r, %rsp or mov %r, %rsp, either of two codes for each; not the mov %rbp, %rsp of functions
 * that end. What looks like it may be the middle of another instruction. */
static bool takes_stack(const uint8_t *code, size_t len)
{
    for (size_t i = 0; i + 3 <= len; i++) {
        const uint8_t *c = code + i;
        bool to_operand = (c[0] & 0xfb) == 0x48 && (c[2] & 0xc7) == 0xc4;
        bool from_operand = (c[0] & 0xfe) == 0x48 && (c[2] & 0xf8) == 0xe0;
        if ((to_operand && (c[1] == 0x29 || (c[1] == 0x89 && c[2] != 0xec))) ||
            (from_operand && (c[1] == 0x2b || (c[1] == 0x8b && c[2] != 0xe5))))
            return true;
    }
    return false;
}

/* nop, and the long forms of it, with any number of prefixes: 66, and 2e for cs */
static unsigned padding_len(const uint8_t code[16])
{
    unsigned len = 0;
    while (len < 8 && (code[len] == 0x66 || code[len] == 0x2e))
        len++;
    const uint8_t *c = code + len;
    if (c[0] == 0x90)
        return len + 1;
    if (c[0] != 0x0f || c[1] != 0x1f)
        return 0;
    unsigned has_sib = (c[2] & 7) == 4;
    switch (c[2] >> 6) {
    case 0: return (c[2] & 7) == 5 ? 0 : len + 3 + has_sib;
    case 1: return len + 4 + has_sib;
    case 2: return len + 7 + has_sib;
    default: return len + 3;
    }
}

/* --- system calls ---------------------------------------------------------------------------- */

/* rax is the result by then. Libraries have `mov $N, %eax; syscall`, or `xor %eax, %eax; syscall`.
 * From 2.41 on, glibc makes the calls at which a thread can be cancelled by two functions that are
 * passed the number. The first has `mov N(%rsp), %rax; syscall`. The second is in assembly, has the
 * number in rsi, in which there is another argument by the time of the call, and last of all
 * `mov %r11, 8(%rsp)`. */
static int64_t syscall_number(struct bytes before, unsigned *slot)
{
    const uint8_t *end = before.at + before.len;
    if (before.len >= 5 && !memcmp(end - 5, (uint8_t[]){0x48, 0x8b, 0x44, 0x24}, 4))
        *slot = end[-1] < 0x80 ? end[-1] : 0;
    if (before.len >= 5 && !memcmp(end - 5, (uint8_t[]){0x4c, 0x89, 0x5c, 0x24, 0x08}, 5))
        *slot = ARCH_SLOT_OF_CALLER;
    if (before.len >= 5 && end[-5] == 0xb8 && end[-2] < 4 && !end[-1])
        return end[-4] | end[-3] << 8;
    return before.len >= 2 && end[-2] == 0x31 && end[-1] == 0xc0 ? 0 : SYSCALL_UNKNOWN;
}

/* `mov N(%rsp), %rsi`, moves from register to register, `call`. */
static unsigned syscall_caller_slot(struct bytes before)
{
    enum { CALL_BYTES = 5, LOAD_BYTES = 5, MOVE_BYTES = 3 };
    if (before.len < CALL_BYTES)
        return 0;
    const uint8_t *at = before.at + before.len - CALL_BYTES;
    if (at[0] != 0xe8)
        return 0;
    while (at - before.at >= MOVE_BYTES && (at[-3] & 0xf8) == 0x48 && at[-2] == 0x89 &&
           at[-1] >= 0xc0)
        at -= MOVE_BYTES;
    bool is_load = at - before.at >= LOAD_BYTES &&
                   !memcmp(at - LOAD_BYTES, (uint8_t[]){0x48, 0x8b, 0x74, 0x24}, 4);
    return is_load && at[-1] < 0x80 ? at[-1] : 0;
}

/* clang-format off */
static const char *const SYSCALLS[] = {
    "read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap", "mprotect",
    "munmap", "brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "ioctl", "pread64",
    "pwrite64", "readv", "writev", "access", "pipe", "select", "sched_yield", "mremap", "msync",
    "mincore", "madvise", "shmget", "shmat", "shmctl", "dup", "dup2", "pause", "nanosleep",
    "getitimer", "alarm", "setitimer", "getpid", "sendfile", "socket", "connect", "accept",
    "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown", "bind", "listen", "getsockname",
    "getpeername", "socketpair", "setsockopt", "getsockopt", "clone", "fork", "vfork", "execve",
    "exit", "wait4", "kill", "uname", "semget", "semop", "semctl", "shmdt", "msgget", "msgsnd",
    "msgrcv", "msgctl", "fcntl", "flock", "fsync", "fdatasync", "truncate", "ftruncate", "getdents",
    "getcwd", "chdir", "fchdir", "rename", "mkdir", "rmdir", "creat", "link", "unlink", "symlink",
    "readlink", "chmod", "fchmod", "chown", "fchown", "lchown", "umask", "gettimeofday",
    "getrlimit", "getrusage", "sysinfo", "times", "ptrace", "getuid", "syslog", "getgid", "setuid",
    "setgid", "geteuid", "getegid", "setpgid", "getppid", "getpgrp", "setsid", "setreuid",
    "setregid", "getgroups", "setgroups", "setresuid", "getresuid", "setresgid", "getresgid",
    "getpgid", "setfsuid", "setfsgid", "getsid", "capget", "capset", "rt_sigpending",
    "rt_sigtimedwait", "rt_sigqueueinfo", "rt_sigsuspend", "sigaltstack", "utime", "mknod",
    "uselib", "personality", "ustat", "statfs", "fstatfs", "sysfs", "getpriority", "setpriority",
    "sched_setparam", "sched_getparam", "sched_setscheduler", "sched_getscheduler",
    "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "mlock", "munlock",
    "mlockall", "munlockall", "vhangup", "modify_ldt", "pivot_root", "_sysctl", "prctl",
    "arch_prctl", "adjtimex", "setrlimit", "chroot", "sync", "acct", "settimeofday", "mount",
    "umount2", "swapon", "swapoff", "reboot", "sethostname", "setdomainname", "iopl", "ioperm",
    "create_module", "init_module", "delete_module", "get_kernel_syms", "query_module", "quotactl",
    "nfsservctl", "getpmsg", "putpmsg", "afs_syscall", "tuxcall", "security", "gettid", "readahead",
    "setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr",
    "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr", "tkill", "time",
    "futex", "sched_setaffinity", "sched_getaffinity", "set_thread_area", "io_setup", "io_destroy",
    "io_getevents", "io_submit", "io_cancel", "get_thread_area", "lookup_dcookie", "epoll_create",
    "epoll_ctl_old", "epoll_wait_old", "remap_file_pages", "getdents64", "set_tid_address",
    "restart_syscall", "semtimedop", "fadvise64", "timer_create", "timer_settime", "timer_gettime",
    "timer_getoverrun", "timer_delete", "clock_settime", "clock_gettime", "clock_getres",
    "clock_nanosleep", "exit_group", "epoll_wait", "epoll_ctl", "tgkill", "utimes", "vserver",
    "mbind", "set_mempolicy", "get_mempolicy", "mq_open", "mq_unlink", "mq_timedsend",
    "mq_timedreceive", "mq_notify", "mq_getsetattr", "kexec_load", "waitid", "add_key",
    "request_key", "keyctl", "ioprio_set", "ioprio_get", "inotify_init", "inotify_add_watch",
    "inotify_rm_watch", "migrate_pages", "openat", "mkdirat", "mknodat", "fchownat", "futimesat",
    "newfstatat", "unlinkat", "renameat", "linkat", "symlinkat", "readlinkat", "fchmodat",
    "faccessat", "pselect6", "ppoll", "unshare", "set_robust_list", "get_robust_list", "splice",
    "tee", "sync_file_range", "vmsplice", "move_pages", "utimensat", "epoll_pwait", "signalfd",
    "timerfd_create", "eventfd", "fallocate", "timerfd_settime", "timerfd_gettime", "accept4",
    "signalfd4", "eventfd2", "epoll_create1", "dup3", "pipe2", "inotify_init1", "preadv", "pwritev",
    "rt_tgsigqueueinfo", "perf_event_open", "recvmmsg", "fanotify_init", "fanotify_mark",
    "prlimit64", "name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs", "sendmmsg",
    "setns", "getcpu", "process_vm_readv", "process_vm_writev", "kcmp", "finit_module",
    "sched_setattr", "sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create",
    "kexec_file_load", "bpf", "execveat", "userfaultfd", "membarrier", "mlock2", "copy_file_range",
    "preadv2", "pwritev2", "pkey_mprotect", "pkey_alloc", "pkey_free", "statx", "io_pgetevents",
    "rseq",
};
/* clang-format on */

/* ---- x86-64: what an instruction does to a function's frame.
 *
 * For following code to its return (unwind/follow_code.c): pushes, pops, sums with the stack
 * pointer, frame pointers, and where the code goes on. A few bytes are decoded; x86_length()
 * measures the rest. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, 2. */

enum { REG_SP = 4, REG_FP = 5, REG_NONE = 16, MOD_REGISTER = 3, SIB_SP = 0x24 };

/* Of the instructions with a ModRM byte, those that compute, move or exchange. */
static const uint8_t COMPUTING[] = {0x63, 0x69, 0x6b, 0x81, 0x83, 0x87, 0xc1, 0xd1, 0xd3};

static int64_t signed_byte(uint8_t byte)
{
    return (int64_t)(byte ^ 0x80) - 0x80;
}

/* An instruction with ModRM, whose register operands are those that have no REX of their own. */
struct operands {
    bool is_register;                /* the second one, and not memory */
    bool is_beside_sp, is_beside_fp; /* memory at a constant distance */
    unsigned reg, rm;                /* with REX */
    int64_t distance;
};

static struct operands x86_operands(const uint8_t *modrm, uint8_t rex)
{
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    struct operands o = {.is_register = mod == MOD_REGISTER,
                         .reg = (modrm[0] >> 3 & 7) | (rex & 4) << 1,
                         .rm = rm | (rex & 1) << 3};
    bool has_distance = mod == 1 || mod == 2;
    bool has_sib = rm == REG_SP;
    const uint8_t *at = modrm + 1 + has_sib;
    o.is_beside_sp = !o.is_register && has_sib && modrm[1] == SIB_SP && !(rex & 3);
    o.is_beside_fp = has_distance && rm == REG_FP && !(rex & 1);
    if (mod == 1)
        o.distance = signed_byte(at[0]);
    else if (mod == 2)
        o.distance = (int64_t)x86_relative(at, 0);
    return o;
}

/* rbx, rbp and r12 to r15 are given back as they were; in DWARF's numbers rbp is 6. */
static void x86_restores(struct arch_effect *e, unsigned reg, bool by_fp, int64_t slot)
{
    if (reg != 3 && reg != REG_FP && reg < 12)
        return;
    e->restores = true;
    e->restores_by_fp = by_fp;
    e->number = reg == REG_FP ? 6 : reg;
    e->slot = slot;
}

/* mov and lea, between registers or from memory. */
static void x86_moves(struct arch_effect *e, unsigned to, const struct operands *o, unsigned from,
                      bool is_address)
{
    bool by_sp = is_address ? o->is_beside_sp : o->is_register && from == REG_SP;
    bool by_fp = is_address ? o->is_beside_fp : o->is_register && from == REG_FP;
    if (to == REG_SP) {
        e->sp = by_sp ? SP_MOVED : by_fp ? SP_FROM_FP : SP_LOST;
        e->by = is_address ? o->distance : 0;
    } else if (to == REG_FP && by_sp) {
        e->sets_fp = true;
        e->fp_by = is_address ? o->distance : 0;
    } else if (!is_address && !o->is_register && (o->is_beside_sp || o->is_beside_fp))
        x86_restores(e, to, o->is_beside_fp, o->distance);
}

/* The others with a ModRM byte: those that write to the stack pointer. */
static void x86_computes(struct arch_effect *e, uint8_t op, const struct operands *o,
                         const uint8_t *after)
{
    enum { ADD = 0, SUB = 5, COMPARE = 7 };
    bool is_small = op == 0x83, has_number = is_small || op == 0x81;
    bool writes_rm = has_number || (op < 0x38 && (op & 7) < 2) || op == 0x87 || op == 0xc1 ||
                     op == 0xd1 || op == 0xd3;
    bool writes_reg =
        (op < 0x38 && (op & 6) == 2) || op == 0x63 || op == 0x69 || op == 0x6b || op == 0x87;
    unsigned what = o->reg & 7;
    if (writes_reg && o->reg == REG_SP)
        e->sp = SP_LOST;
    if (!writes_rm || !o->is_register || o->rm != REG_SP || (has_number && what == COMPARE))
        return;
    int64_t number = is_small ? signed_byte(after[0]) : (int64_t)x86_relative(after, 0);
    if (has_number && (what == ADD || what == SUB))
        e->by = what == ADD ? number : -number;
    else
        e->sp = SP_LOST;
}

/* ff: inc, dec, call, call far, jmp, jmp far, push. A jump through a pointer at a fixed place is
 * to another function, as in a PLT, that returns for this one. */
static void x86_group_5(struct arch_effect *e, const struct operands *o, uint8_t modrm)
{
    enum { FIXED_PLACE = 0x25 };
    switch (o->reg & 7) {
    case 2:
    case 3: e->flow = FLOW_CALL; break;
    case 4:
    case 5: e->flow = modrm == FIXED_PLACE ? FLOW_RETURN : FLOW_ENDS; break;
    case 6: e->by = -8; break;
    default: e->sp = o->is_register && o->rm == REG_SP ? SP_LOST : SP_MOVED; break;
    }
}

/* Instructions of one byte, with or without numbers. */
static void x86_plain(struct arch_effect *e, uint8_t op, unsigned reg)
{
    switch (op & 0xf8) {
    case 0x50: e->by = -8; return;
    case 0x58:
        e->by = 8;
        e->sp = reg == REG_SP ? SP_LOST : SP_MOVED;
        x86_restores(e, reg, false, 0);
        return;
    case 0x90:
    case 0xb8: e->sp = reg == REG_SP ? SP_LOST : SP_MOVED; break;
    default: break;
    }
    switch (op) {
    case 0x68:
    case 0x6a:
    case 0x9c: e->by = -8; break;
    case 0x9d: e->by = 8; break;
    case 0xc2:
    case 0xc3: e->flow = FLOW_RETURN; break;
    case 0xc9:
        e->sp = SP_FROM_FP;
        e->by = 8;
        x86_restores(e, REG_FP, true, 0);
        break;
    case 0xe8: e->flow = FLOW_CALL; break;
    case 0xe9:
    case 0xeb: e->flow = FLOW_JUMP; break;
    case 0xc8: /* enter, returns of other kinds, int3, hlt */
    case 0xca:
    case 0xcb:
    case 0xcc:
    case 0xcf:
    case 0xf4: e->flow = FLOW_ENDS; break;
    default:
        if ((op >= 0x70 && op < 0x80) || (op >= 0xe0 && op < 0xe4))
            e->flow = FLOW_BRANCH;
        break;
    }
}

/* What is too rare to be measured ends the path. Vector instructions and those of two bytes leave
 * the stack pointer alone, but for the conditional jumps among them. */
void x86_effect(const uint8_t code[16], uint64_t address, struct arch_effect *e)
{
    enum { LONGEST = 15 };
    size_t len = x86_length(code, LONGEST, true);
    const uint8_t *at = code;
    uint8_t rex = 0;
    *e = (struct arch_effect){.flow = len ? FLOW_ON : FLOW_ENDS, .len = (unsigned)len};
    if (!len)
        return;
    while (x86_is_prefix(at[0]))
        at++;
    if ((at[0] & 0xf0) == 0x40)
        rex = *at++;
    uint8_t op = at[0];
    struct operands o = x86_operands(at + 1, rex);
    bool is_short = (op >= 0x70 && op < 0x80) || (op >= 0xe0 && op < 0xe4) || op == 0xeb;
    bool is_shared = (op < 0x40 && (op & 7) < 4) || memchr(COMPUTING, op, sizeof COMPUTING);
    if (op == 0x0f && (at[1] == 0x0b || (at[1] & 0xf0) == 0x80))
        e->flow = at[1] == 0x0b ? FLOW_ENDS : FLOW_BRANCH; /* ud2 */
    else if (op == 0x89)
        x86_moves(e, o.is_register ? o.rm : REG_NONE, &o, o.reg, false);
    else if (op == 0x8b || op == 0x8d)
        x86_moves(e, o.reg, &o, o.rm, op == 0x8d);
    else if (op == 0x8f)
        e->by = 8;
    else if (op == 0xff)
        x86_group_5(e, &o, at[1]);
    else if (is_shared)
        x86_computes(e, op, &o, at + 2);
    else if (op != 0x0f && op != 0x62 && op != 0xc4 && op != 0xc5)
        x86_plain(e, op, (op & 7) | (rex & 1) << 3);
    uint64_t after = address + len;
    e->target = is_short  ? after + (uint64_t)signed_byte(code[len - 1])
                : len > 4 ? x86_relative(code + len - 4, after)
                          : 0;
}

/* mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall: as musl's clone() has it. */
static bool x86_ends_thread(const uint8_t code[16])
{
    static const uint8_t exits[] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};
    return !memcmp(code, exits, sizeof exits);
}

const struct arch arch_i386 = {
    .name = "i686",
    .other_names = {"i586", "i486", "i386"},
    .machines = {EM_386, EM_IAMCU},
    .word = 4,
    .pe_machine = 0x14c,
    .has_pe_underscores = true,
    .sets = &SET_I386,
    .sets_len = 1,
    .capstone = x86_view,
};

/* Also of x32 programs, whose words have four bytes. */
const struct arch arch_x86_64 = {
    .name = "x86_64",
    .machines = {EM_X86_64},
    .pe_machine = 0x8664,
    .common_index = 0xff02, /* of the large model: x86-64 psABI, 4.3 */
    .sets = &SET_X86_64,
    .sets_len = 1,
    .capstone = x86_view,
    .registers = 16,
    .sp = 7,
    .fp = 6,
    .ra = 16,
    .pushes_ra = true,
    .has_true_signal_tables = true,
    .link = LINK_AT_FP,
    .frameless = FRAMELESS,
    .frameless_len = sizeof FRAMELESS / sizeof *FRAMELESS,
    .trampolines = TRAMPOLINES,
    .trampolines_len = 1,
    .is_behind_clone = is_behind_clone,
    .is_behind_call = is_behind_call,
    .call_before = call_before,
    .jump_pointer = jump_pointer,
    .frame_room = frame_room,
    .takes_stack = takes_stack,
    .effect = x86_effect,
    .ends_thread = x86_ends_thread,
    .padding_len = padding_len,
    .perf_registers = 0xff0fff, /* all but the segment registers, which is refused */
    .perf = &PERF,
    .regset = &REGSET,
    .regset_len = REGSET_WORDS,
    .thread_word = FS_BASE_WORD,
    .mode_word = CS_WORD,
    .mode = CS_64,
    .syscall_word = ORIG_RAX_WORD,
    .syscalls = SYSCALLS,
    .syscalls_len = sizeof SYSCALLS / sizeof *SYSCALLS,
    .breakpoint = {0xcc},
    .breakpoint_len = 1,
    .breakpoint_back = 1,
    .syscall_code = {0x0f, 0x05},
    .syscall_code_len = 2,
    .syscall_number = syscall_number,
    .syscall_caller_slot = syscall_caller_slot,
    .syscall_arguments = {5, 4, 1}, /* rdi, rsi, rdx */
    .calls = &CALLS,
};
