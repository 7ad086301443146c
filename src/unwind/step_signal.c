/* Signal frames known by the instructions that handlers return to, where tables do not describe
 * them (musl; aarch64 and riscv64 kernels) or wrongly.
 *
 * Needs the `read` of the stack to reach code. Layouts: the kernels' uapi sigcontext.h and
 * ucontext.h of each machine. */
#include "unwind/walker.h"

#include <stddef.h>

/* Bytes from the stack pointer to the saved registers, and the order of these. */
struct trampoline {
    uint8_t code[9];
    uint8_t code_len;
    uint16_t registers;
    uint8_t pc;         /* index of the interrupted pc */
    int8_t numbers[33]; /* DWARF number by index; -1: none */
    uint8_t numbers_len;
};

static const struct trampoline X86_64 = {
    .code = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, /* mov $15, %rax; syscall */
    .code_len = 9,
    .registers = 40,
    .pc = 16,
    .numbers = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7},
    .numbers_len = 16,
};
static const struct trampoline AARCH64 = {
    .code = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, /* mov x8, #139; svc #0 */
    .code_len = 8,
    .registers = 128 + 176 + 8,
    .pc = 32,
    .numbers = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
    .numbers_len = 32,
};
static const struct trampoline RISCV64 = {
    .code = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}, /* li a7, 139; ecall */
    .code_len = 8,
    .registers = 128 + 176,
    .pc = 0,
    .numbers = {-1, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
    .numbers_len = 32,
};

static const struct trampoline *trampoline_of(enum unwind_machine m)
{
    return m == UNWIND_X86_64 ? &X86_64 : m == UNWIND_AARCH64 ? &AARCH64 : &RISCV64;
}

static bool is_at(struct walker *w, const struct trampoline *t)
{
    const struct unwind_stack *s = w->stack;
    uint64_t code[2] = {0};
    return s->read && s->read(s->context, w->r.pc, &code[0]) &&
           (t->code_len <= 8 || s->read(s->context, w->r.pc + 8, &code[1])) &&
           !memcmp(code, t->code, t->code_len);
}

bool step_by_trampoline(struct walker *w)
{
    const struct trampoline *t = trampoline_of(w->machine_kind);
    unsigned sp = w->machine.sp;
    if (!is_known(&w->r, sp) || !is_at(w, t))
        return false;
    uint64_t saved = w->r.at[sp] + t->registers;
    struct unwind_registers next = {.known = 0};
    bool is_whole = walk_word(w, saved + UINT64_C(8) * t->pc, &next.pc);
    for (unsigned i = 0; i < t->numbers_len && is_whole; i++)
        if (t->numbers[i] >= 0) {
            is_whole = walk_word(w, saved + UINT64_C(8) * i, &next.at[t->numbers[i]]);
            next.known |= register_bit((unsigned)t->numbers[i]);
        }
    if (!is_whole)
        return false;
    w->is_signal_frame = w->memory.is_elsewhere = true;
    w->r = next;
    return true;
}
