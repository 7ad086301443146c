/* x86-64: what an instruction does to a function's frame.
 *
 * For following code to its return (unwind/follow_code.c): pushes, pops, sums with the stack
 * pointer, frame pointers, and where the code goes on. A few bytes are decoded; x86_length()
 * measures the rest. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, 2. */
#include "arch/code.h"

#include <string.h>

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
bool x86_ends_thread(const uint8_t code[16])
{
    static const uint8_t exits[] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};
    return !memcmp(code, exits, sizeof exits);
}
