/* The evaluator of DWARF expressions in unwind tables.
 *
 * Where a CFA or the place of a register is more than a register and an offset, tables have a small
 * program for it: `breg7 8; deref` reads the word at rsp + 8. It works on a stack of words. PLT
 * entries, functions that align their stack and the signal frames of the kernel have such.
 *
 * Steps and stack are bounded, so that a program that jumps back ends. An operation that lacks a
 * register or memory says so in the context, as the walk can then try again with all registers.
 * Refused: operations that make no sense in call frame information (6.4.2) or that address other
 * objects and spaces. Specification: DWARF 5, 2.5.1.
 *
 *     DW_OP_breg7 8       push rsp + 8
 *     DW_OP_deref         replace the address on top by the word there
 *     DW_OP_plus_uconst n add n to the top; the result is what is on top at the end */
#include "unwind/unwind_private.h"

#include "base/bytes.h"

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S,
    OP_CONST2U,
    OP_CONST2S,
    OP_CONST4U,
    OP_CONST4S,
    OP_CONST8U,
    OP_CONST8S,
    OP_CONSTU = 0x10,
    OP_CONSTS,
    OP_DUP = 0x12,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_ROT,
    OP_ABS = 0x19,
    OP_AND,
    OP_DIV,
    OP_MINUS,
    OP_MOD,
    OP_MUL,
    OP_NEG,
    OP_NOT,
    OP_OR = 0x21,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA = 0x28,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_REGX = 0x90,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,

    MOST_STEPS = 1000,
    DEPTH = 64,
};

/* A program while it runs. The stack is not cleared before. */
struct evaluation {
    struct cursor in;
    struct expression_context *context;
    uint64_t stack[DEPTH];
    unsigned len;
    bool is_broken;
};

/* A full or empty stack breaks the evaluation; it ends after the operation. */
static void expression_push(struct evaluation *e, uint64_t value)
{
    if (e->len == DEPTH)
        e->is_broken = true;
    else
        e->stack[e->len++] = value;
}

static uint64_t expression_pop(struct evaluation *e)
{
    e->is_broken |= !e->len;
    return e->len ? e->stack[--e->len] : 0;
}

/* The value `depth` places below the top. */
static uint64_t expression_peek(struct evaluation *e, uint64_t depth)
{
    e->is_broken |= depth >= e->len;
    return depth < e->len ? e->stack[e->len - 1 - depth] : 0;
}

/* A register that is not known fails the evaluation, and the context says so. */
static void expression_push_register(struct evaluation *e, uint64_t number, int64_t offset)
{
    const struct unwind_registers *r = e->context->registers;
    bool has_value = number < ARCH_REGISTERS && is_known(r, (unsigned)number);
    if (has_value)
        expression_push(e, r->at[number] + (uint64_t)offset);
    e->context->lacks_register |= !has_value;
    e->is_broken |= !has_value;
}

/* Memory of the stack; of fewer bytes, the low ones, as all machines are little-endian. */
static void expression_dereference(struct evaluation *e, unsigned bytes)
{
    uint64_t word = 0, address = expression_pop(e);
    struct memory *m = e->context->memory;
    if (e->is_broken || !bytes || bytes > 8) {
        e->is_broken = true;
        return;
    }
    if (!memory_copied(m->stack, address, &word, bytes) && !memory_word(m, address, &word))
        e->is_broken = e->context->lacks_memory = true;
    expression_push(e, bytes == 8 ? word : word & ((UINT64_C(1) << 8 * bytes) - 1));
}

/* Within the program alone. */
static void expression_jump(struct evaluation *e, bool is_taken)
{
    int16_t distance = (int16_t)cursor_u16(&e->in);
    if (!is_taken || e->in.failed)
        return;
    if (distance < 0 ? (size_t)-distance > cursor_offset(&e->in)
                     : (size_t)distance > cursor_left(&e->in))
        e->is_broken = true;
    else
        e->in.at += distance;
}

/* Signed, and without the trap of the least number by -1. */
static uint64_t expression_divide(struct evaluation *e, uint64_t a, uint64_t b)
{
    if (b == UINT64_MAX)
        return -a;
    e->is_broken |= !b;
    return b ? (uint64_t)((int64_t)a / (int64_t)b) : 0;
}

/* By any number of bits, 0 and more than a word has included. */
static uint64_t expression_shift_right(uint64_t a, uint64_t b, bool is_signed)
{
    uint64_t sign = is_signed && a >> 63 ? UINT64_MAX : 0;
    if (b > 63)
        return sign;
    return b ? a >> b | sign << (64 - b) : a;
}

/* Two operands, one result. False: it is not one of those. */
static bool expression_run_binary(struct evaluation *e, uint8_t op)
{
    if (!((op >= OP_AND && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE)) || op == OP_NEG ||
        op == OP_NOT || op == OP_PLUS_UCONST || op == OP_BRA)
        return false;
    uint64_t b = expression_pop(e), a = expression_pop(e), value = 0;
    int64_t x = (int64_t)a, y = (int64_t)b;
    switch (op) {
    case OP_AND: value = a & b; break;
    case OP_DIV: value = expression_divide(e, a, b); break;
    case OP_MINUS: value = a - b; break;
    case OP_MOD:
        e->is_broken |= !b;
        value = b ? a % b : 0;
        break;
    case OP_MUL: value = a * b; break;
    case OP_OR: value = a | b; break;
    case OP_PLUS: value = a + b; break;
    case OP_SHL: value = b < 64 ? a << b : 0; break;
    case OP_SHR: value = expression_shift_right(a, b, false); break;
    case OP_SHRA: value = expression_shift_right(a, b, true); break;
    case OP_XOR: value = a ^ b; break;
    case OP_EQ: value = x == y; break;
    case OP_GE: value = x >= y; break;
    case OP_GT: value = x > y; break;
    case OP_LE: value = x <= y; break;
    case OP_LT: value = x < y; break;
    case OP_NE: value = x != y; break;
    }
    expression_push(e, value);
    return true;
}

/* Operations that push a number out of the program. False: it is not one of those, as with all
 * five.
 */
static bool expression_run_constant(struct evaluation *e, uint8_t op)
{
    struct cursor *in = &e->in;
    switch (op) {
    case OP_ADDR: expression_push(e, cursor_u64(in) + e->context->bias); return true;
    case OP_CONST1U: expression_push(e, cursor_u8(in)); return true;
    case OP_CONST1S: expression_push(e, (uint64_t)(int64_t)(int8_t)cursor_u8(in)); return true;
    case OP_CONST2U: expression_push(e, cursor_u16(in)); return true;
    case OP_CONST2S: expression_push(e, (uint64_t)(int64_t)(int16_t)cursor_u16(in)); return true;
    case OP_CONST4U: expression_push(e, cursor_u32(in)); return true;
    case OP_CONST4S: expression_push(e, (uint64_t)(int64_t)(int32_t)cursor_u32(in)); return true;
    case OP_CONST8U:
    case OP_CONST8S: expression_push(e, cursor_u64(in)); return true;
    case OP_CONSTU: expression_push(e, cursor_uleb(in)); return true;
    case OP_CONSTS: expression_push(e, (uint64_t)cursor_sleb(in)); return true;
    default: return false;
    }
}

/* Operations on the stack itself, and reads of memory at an address from it. */
static bool expression_run_stack(struct evaluation *e, uint8_t op)
{
    uint64_t a, b, c;
    switch (op) {
    case OP_DUP: expression_push(e, expression_peek(e, 0)); return true;
    case OP_DROP: expression_pop(e); return true;
    case OP_OVER: expression_push(e, expression_peek(e, 1)); return true;
    case OP_PICK: expression_push(e, expression_peek(e, cursor_u8(&e->in))); return true;
    case OP_SWAP:
        a = expression_pop(e);
        b = expression_pop(e);
        expression_push(e, a);
        expression_push(e, b);
        return true;
    case OP_ROT:
        a = expression_pop(e);
        b = expression_pop(e);
        c = expression_pop(e);
        expression_push(e, a);
        expression_push(e, c);
        expression_push(e, b);
        return true;
    case OP_DEREF: expression_dereference(e, 8); return true;
    case OP_DEREF_SIZE: expression_dereference(e, cursor_u8(&e->in)); return true;
    default: return false;
    }
}

/* Small numbers, registers, and registers with an offset, which is what most programs begin with.
 */
static bool expression_run_register(struct evaluation *e, uint8_t op)
{
    struct cursor *in = &e->in;
    uint64_t number;
    if (op >= OP_LIT0 && op < OP_REG0)
        expression_push(e, op - OP_LIT0);
    else if (op >= OP_REG0 && op < OP_BREG0)
        expression_push_register(e, op - OP_REG0, 0);
    else if (op >= OP_BREG0 && op < OP_REGX)
        expression_push_register(e, op - OP_BREG0, cursor_sleb(in));
    else if (op == OP_REGX)
        expression_push_register(e, cursor_uleb(in), 0);
    else if (op == OP_BREGX) {
        number = cursor_uleb(in);
        expression_push_register(e, number, cursor_sleb(in));
    } else
        return false;
    return true;
}

/* One operand, jumps, and the operation that does nothing. */
static bool expression_run_unary(struct evaluation *e, uint8_t op)
{
    uint64_t a;
    switch (op) {
    case OP_ABS:
        a = expression_pop(e);
        expression_push(e, a >> 63 ? -a : a);
        return true;
    case OP_NEG: expression_push(e, -expression_pop(e)); return true;
    case OP_NOT: expression_push(e, ~expression_pop(e)); return true;
    case OP_PLUS_UCONST:
        a = expression_pop(e);
        expression_push(e, a + cursor_uleb(&e->in));
        return true;
    case OP_BRA: expression_jump(e, expression_pop(e) != 0); return true;
    case OP_SKIP: expression_jump(e, true); return true;
    case OP_NOP: return true;
    default: return false;
    }
}

/* Operations are tried by kind, the most frequent first. The result is the top of the stack; what
 * is below it does not matter. */
bool expression_run(struct bytes program, const uint64_t *first, struct expression_context *c,
                    uint64_t *out)
{
    struct evaluation e; /* the stack is not cleared */
    e.in = cursor_over(program, "");
    e.context = c;
    e.len = 0;
    e.is_broken = false;
    if (first)
        expression_push(&e, *first);
    for (int steps = 0; cursor_left(&e.in); steps++) {
        uint8_t op = cursor_u8(&e.in);
        if (steps == MOST_STEPS ||
            !(expression_run_register(&e, op) || expression_run_binary(&e, op) ||
              expression_run_stack(&e, op) || expression_run_constant(&e, op) ||
              expression_run_unary(&e, op)))
            return false;
        if (e.is_broken || e.in.failed)
            return false;
    }
    *out = expression_pop(&e);
    return !e.is_broken;
}
