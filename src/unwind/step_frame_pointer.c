/* From a frame to its caller where no table covers the code: by frame pointers, and where a
 * function has just begun or is about to end, by the instruction at its pc.
 *
 * A frame pointer has to lie in the stack, further out than the stack pointer, and
 * has to have a return address into mapped code beside it. */
#include "unwind/rule_make.h"
#include "unwind/tables.h"
#include "unwind/walker.h"

#include <string.h>

/* Where the code at pc left the caller's state. */
struct x86_place {
    uint8_t code[4], len;
    uint8_t ra;      /* bytes from the stack pointer to the return address */
    bool has_pushed; /* the frame pointer is on top of the stack */
};

static const struct x86_place X86_PLACES[] = {
    {{0xf3, 0x0f, 0x1e, 0xfa}, 4, 0, false}, /* endbr64 */
    {{0x55}, 1, 0, false},                   /* push %rbp */
    {{0x48, 0x89, 0xe5}, 3, 8, true},        /* mov %rsp, %rbp */
    {{0x48, 0x8b, 0xec}, 3, 8, true},
    {{0xc3}, 1, 0, false},             /* ret */
    {{0xc2}, 1, 0, false},             /* ret $n */
    {{0xf3, 0xc3}, 2, 0, false},       /* rep ret */
    {{0xff, 0x25}, 2, 0, false},       /* jmp *n(%rip): a PLT entry */
    {{0xf2, 0xff, 0x25}, 3, 0, false}, /* the same with bnd */
    {{0x68}, 1, 0, false},             /* push $n: the same, bound lazily */
    {{0xff, 0x35}, 2, 8, false},       /* push n(%rip): where those lead to */
};

/* Instructions of functions that have not taken anything of the stack, or have given it back. */
static const struct {
    uint32_t mask, value;
    enum unwind_machine machine;
} WITHOUT_FRAME[] = {
    {0xffc07fff, 0xa9807bfd, UNWIND_AARCH64}, /* stp x29, x30, [sp, -n]! */
    {0xffffffff, 0xd503233f, UNWIND_AARCH64}, /* paciasp */
    {0xffffff3f, 0xd503241f, UNWIND_AARCH64}, /* bti */
    {0xffffffff, 0xd65f03c0, UNWIND_AARCH64}, /* ret */
    {0x9f00001f, 0x90000010, UNWIND_AARCH64}, /* adrp x16, n: a PLT entry, to the branch */
    {0xffc003ff, 0xf9400211, UNWIND_AARCH64}, /* ldr x17, [x16, n] */
    {0xffc003ff, 0x91000210, UNWIND_AARCH64}, /* add x16, x16, n */
    {0xffffffff, 0xd61f0220, UNWIND_AARCH64}, /* br x17 */
    {0x0000ffff, 0x00008082, UNWIND_RISCV64}, /* ret */
    {0x800fffff, 0x80010113, UNWIND_RISCV64}, /* addi sp, sp, -n */
    {0x0000ff83, 0x00001101, UNWIND_RISCV64}, /* c.addi sp, -n */
    {0x0000ff83, 0x00007101, UNWIND_RISCV64}, /* c.addi16sp -n */
    {0x00000fff, 0x00000e17, UNWIND_RISCV64}, /* auipc t3, n: a PLT entry, to the jump */
    {0x000fffff, 0x000e3e03, UNWIND_RISCV64}, /* ld t3, n(t3) */
    {0xffffffff, 0x000e0367, UNWIND_RISCV64}, /* jalr t1, t3 */
};

static enum unwind_end step_reason(const struct walker *w)
{
    return w->module.is_generated ? UNWIND_GENERATED : UNWIND_NO_TABLE;
}

/* Goes to the caller if `pc` is code. */
static bool step_go(struct walker *w, uint64_t pc, uint64_t sp, const uint64_t *fp)
{
    struct unwind_module module;
    struct machine m = w->machine;
    if (w->machine_kind == UNWIND_AARCH64)
        pc = walk_unsigned(w, pc);
    if (pc && !walk_is_code(w, pc - 1, &module))
        return false;
    uint32_t known = register_bit(m.sp) | (w->r.known & register_bit(m.fp));
    w->r.pc = pc;
    w->r.at[m.sp] = sp;
    if (fp) {
        w->r.at[m.fp] = *fp;
        known |= register_bit(m.fp);
    }
    w->r.known = known;
    return true;
}

static bool step_go_by_x86_place(struct walker *w, const struct x86_place *place)
{
    uint64_t sp = w->r.at[w->machine.sp], fp, pc;
    return memory_word(&w->memory, sp, &fp) && memory_word(&w->memory, sp + place->ra, &pc) && pc &&
           step_go(w, pc, sp + place->ra + 8, place->has_pushed ? &fp : NULL);
}

static bool step_by_x86_code(struct walker *w)
{
    const struct unwind_stack *s = w->stack;
    uint64_t code;
    if (!s->read || !is_known(&w->r, w->machine.sp) || !s->read(s->context, w->r.pc, &code))
        return false;
    for (size_t i = 0; i < sizeof X86_PLACES / sizeof *X86_PLACES; i++)
        if (!memcmp(&code, X86_PLACES[i].code, X86_PLACES[i].len))
            return step_go_by_x86_place(w, &X86_PLACES[i]);
    return false;
}

/* Whether a call ends where the address is: call n, call *%r, call *n(%rip). */
static bool step_is_behind_x86_call(const struct unwind_stack *s, uint64_t address)
{
    uint64_t before;
    uint8_t code[8];
    if (!s->read(s->context, address - 8, &before))
        return false;
    memcpy(code, &before, sizeof code);
    return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0xf8) == 0xd0) ||
           (code[2] == 0xff && code[3] == 0x15);
}

/* Tables leave out the instruction at which clone() and clone3() become two (so that the new thread
 * has no caller): the old thread's return address is on top of its stack, and the new one begins.
 */
static bool step_behind_x86_clone(struct walker *w, bool *is_new)
{
    static const uint8_t clone[] = {0xb8, 56, 0, 0, 0, 0x0f, 0x05}; /* mov $56, %eax; syscall */
    static const uint8_t clone3[] = {0xb8, 0xb3, 1, 0, 0, 0x0f, 0x05};
    const struct unwind_stack *s = w->stack;
    uint64_t before, pc, sp = w->r.at[w->machine.sp];
    uint8_t code[8];
    if (!w->is_innermost || !s->read || !is_known(&w->r, w->machine.sp) ||
        !s->read(s->context, w->r.pc - 8, &before))
        return false;
    memcpy(code, &before, sizeof code);
    if (memcmp(code + 1, clone, sizeof clone) != 0 && memcmp(code + 1, clone3, sizeof clone3) != 0)
        return false;
    if (memory_word(&w->memory, sp, &pc) && pc && step_is_behind_x86_call(s, pc) &&
        step_go(w, pc, sp + 8, NULL))
        return true;
    *is_new = true;
    return false;
}

/* Whether the stack pointer is what it was at the call, by the instruction at pc. */
static bool step_is_before_frame(struct walker *w)
{
    const struct unwind_stack *s = w->stack;
    uint64_t code;
    if (!s->read || !s->read(s->context, w->r.pc, &code))
        return false;
    for (size_t i = 0; i < sizeof WITHOUT_FRAME / sizeof *WITHOUT_FRAME; i++)
        if (WITHOUT_FRAME[i].machine == w->machine_kind &&
            ((uint32_t)code & WITHOUT_FRAME[i].mask) == WITHOUT_FRAME[i].value)
            return true;
    return false;
}

/* A return address in its register that leads to code with tables was left there by our caller:
 * calls of our own would have left one that leads to us, and we have none. How much of the stack we
 * have taken is another matter. */
static bool step_by_ra_register(struct walker *w)
{
    struct machine m = w->machine;
    struct unwind_module module;
    if (!is_known(&w->r, m.ra) || !is_known(&w->r, m.sp) || !w->r.at[m.ra])
        return false;
    uint64_t pc = w->r.at[m.ra];
    if (w->machine_kind == UNWIND_AARCH64)
        pc = walk_unsigned(w, pc);
    if (!walk_is_code(w, pc - 1, &module) || !module.tables ||
        rule_at(module.tables, pc - 1 - module.bias).kind == RULE_NO_FDE)
        return false;
    bool keeps_sp = step_is_before_frame(w);
    if (!step_go(w, pc, w->r.at[m.sp], NULL))
        return false;
    if (!keeps_sp)
        w->r.known &= ~register_bit(m.sp);
    w->has_lost_sp |= !keeps_sp;
    return true;
}

static bool step_by_frame_pointer(struct walker *w)
{
    struct machine m = w->machine;
    uint64_t fp = w->r.at[m.fp], sp = w->r.at[m.sp], next, pc;
    bool is_riscv = w->machine_kind == UNWIND_RISCV64;
    if (!is_known(&w->r, m.fp))
        return walk_ends(w, step_reason(w));
    if (!fp && w->is_chained) /* the mark of the outermost frame */
        return walk_ends(w, UNWIND_WHOLE);
    if (fp & 7 || fp < sp + (is_riscv ? 16 : 0))
        return walk_ends(w, step_reason(w));
    uint64_t pair = is_riscv ? fp - 16 : fp, cfa = is_riscv ? fp : fp + 16;
    /* The first frame pointer may be anything, so its leading out of the copy or to a return
     * address of 0, which is how threads begin, means nothing. */
    if (!memory_word(&w->memory, pair, &next) || !memory_word(&w->memory, pair + 8, &pc))
        return walk_ends(w, w->is_chained ? w->memory.why : step_reason(w));
    if ((!pc && !w->is_chained) || !step_go(w, pc, cfa, &next))
        return walk_ends(w, step_reason(w));
    if (!w->is_chained)
        w->guess_end = step_reason(w);
    w->has_guessed = !w->is_chained; /* the second in a row proves the first */
    w->is_chained = true;
    return true;
}

/* Whether a process begins here: no frame pointer, and its arguments on the stack as the kernel put
 * them there. The dynamic linker's entry has no tables. */
static bool step_is_process_start(struct walker *w)
{
    enum { MOST_ARGUMENTS = 1 << 16 };
    struct machine m = w->machine;
    uint64_t sp = w->r.at[m.sp], count, first, last;
    return is_known(&w->r, m.sp) && is_known(&w->r, m.fp) && !w->r.at[m.fp] &&
           memory_word(&w->memory, sp, &count) && count && count < MOST_ARGUMENTS &&
           memory_word(&w->memory, sp + 8, &first) && first > sp &&
           memory_word(&w->memory, sp + 8 * (count + 1), &last) && !last;
}

bool step_without_tables(struct walker *w)
{
    if (step_by_trampoline(w))
        return true;
    bool is_new = false;
    if (w->machine_kind == UNWIND_X86_64 && step_behind_x86_clone(w, &is_new))
        return true;
    if (is_new || step_is_process_start(w))
        return walk_ends(w, UNWIND_WHOLE);
    bool may_have_no_frame = w->is_interrupted;
    if (may_have_no_frame &&
        (w->machine.has_ra_register ? step_by_ra_register(w) : step_by_x86_code(w)))
        return true;
    return step_by_frame_pointer(w);
}

bool step_from_nowhere(struct walker *w)
{
    struct machine m = w->machine;
    uint64_t sp = w->r.at[m.sp], pc = w->r.at[m.ra];
    if (!is_known(&w->r, m.sp))
        return walk_ends(w, UNWIND_BROKEN);
    if (m.has_ra_register)
        return (is_known(&w->r, m.ra) && pc && step_go(w, pc, sp, NULL)) ||
               walk_ends(w, UNWIND_BROKEN);
    if (!walk_word(w, sp, &pc))
        return false;
    return (pc && step_go(w, pc, sp + 8, NULL)) || walk_ends(w, UNWIND_BROKEN);
}
