/* From a frame to its caller where no table covers the code.
 *
 * In this order: what signal handlers return to; where clone() makes a thread; what the code
 * does until it returns (follow_code.c); where the kernel starts a process; a function that has
 * just begun or is about to end, by the instruction at its pc or by the return address in its
 * register; and the link to the caller's frame that functions leave in the stack. Such a link is
 * believed if it lies further out than the stack pointer and has a return address into mapped code
 * beside it.
 *
 *     LINK_AT_FP       fp -> | caller's fp | return address | caller's stack
 *     LINK_BELOW_FP          | caller's fp | return address | <- fp: caller's stack
 *     LINK_BACK_CHAIN  sp -> | caller's sp | ...   caller's sp -> | its caller's sp | cr | return
 * address |
 *
 * A frame pointer may be any other value where a program is compiled without: a first one is a
 * guess, which a second one after it proves. A back chain is an obligation of the ABI.
 *
 * Nothing is changed in the walker before a step is sure to succeed, so that the next way can be
 * tried. */
#include "unwind/unwind_private.h"

/* --- signal frames ---------------------------------------------------------------------------- */

/* Compares the code at pc with what the machine's handlers return to, and takes the registers that
 * the kernel saved. Nothing changes unless all of them can be read. */
bool step_by_trampoline(struct walker *w)
{
    const struct unwind_stack *s = w->stack;
    const struct arch_trampoline *t = w->arch->trampolines, *end = t + w->arch->trampolines_len;
    uint64_t code[2] = {0};
    if (!is_known(&w->r, w->sp) || !s->read || !s->read(s->context, w->r.pc, &code[0]))
        return false;
    bool has_second = false;
    for (;; t++) {
        if (t == end)
            return false;
        if (t->code_len > sizeof *code && !has_second)
            has_second = s->read(s->context, w->r.pc + sizeof *code, &code[1]);
        if ((t->code_len <= sizeof *code || has_second) && !memcmp(code, t->code, t->code_len))
            break;
    }
    uint64_t saved = w->r.at[w->sp] + t->registers;
    struct unwind_registers next = {.known = 0};
    for (unsigned i = 0; i < t->map->len; i++) {
        int8_t number = t->map->at[i];
        if (number == REGISTER_NONE)
            continue;
        uint64_t *to = number == REGISTER_PC ? &next.pc : &next.at[number];
        if (!walk_word(w, saved + UINT64_C(8) * i, to))
            return false;
        if (number >= 0)
            next.known |= register_bit((unsigned)number);
    }
    w->is_signal_frame = w->memory.is_elsewhere = true;
    w->r = next;
    return true;
}

/* --- code without tables -----------------------------------------------------------------------
 */

/* Why a stack ends in this code. */
static enum unwind_end step_reason(const struct walker *w)
{
    return w->module.is_generated ? UNWIND_GENERATED : UNWIND_NO_TABLE;
}

/* Goes to the caller if `pc` is code. */
static bool step_go(struct walker *w, uint64_t pc, uint64_t sp, const uint64_t *fp)
{
    struct unwind_module module;
    const struct arch *a = w->arch;
    pc = walk_unsigned(w, pc);
    if (pc && !walk_is_code(w, pc - 1, &module))
        return false;
    uint32_t known = register_bit(a->sp) | (w->r.known & register_bit(a->fp));
    w->r.pc = pc;
    w->r.at[a->sp] = sp;
    if (fp) {
        w->r.at[a->fp] = *fp;
        known |= register_bit(a->fp);
    }
    w->r.known = known;
    return true;
}

/* What is known of the instruction at pc; NULL: nothing. */
static const struct frameless_code *step_frameless(struct walker *w)
{
    const struct unwind_stack *s = w->stack;
    const struct arch *a = w->arch;
    uint64_t code;
    if (!s->read || !s->read(s->context, w->r.pc, &code))
        return NULL;
    for (size_t i = 0; i < a->frameless_len; i++)
        if (((uint32_t)code & a->frameless[i].mask) == a->frameless[i].value)
            return &a->frameless[i];
    return NULL;
}

/* The return address is on the stack, at a place that the instruction at pc gives. */
static bool step_by_pushed_ra(struct walker *w)
{
    uint64_t sp = w->r.at[w->sp], fp, pc;
    const struct frameless_code *c = is_known(&w->r, w->sp) ? step_frameless(w) : NULL;
    return c && memory_word(&w->memory, sp, &fp) && memory_word(&w->memory, sp + c->ra, &pc) &&
           pc && step_go(w, pc, sp + c->ra + 8, c->has_pushed_fp ? &fp : NULL);
}

/* Tables leave out the instruction at which clone() and clone3() become two (so that the new thread
 * has no caller): the old thread's return address is on top of its stack, and the new one begins.
 */
static bool step_behind_clone(struct walker *w, bool *is_new)
{
    const struct unwind_stack *s = w->stack;
    const struct arch *a = w->arch;
    uint64_t before, pc, sp = w->r.at[a->sp];
    uint8_t code[8];
    if (!w->is_innermost || !s->read || !is_known(&w->r, a->sp) ||
        !s->read(s->context, w->r.pc - 8, &before))
        return false;
    memcpy(code, &before, sizeof code);
    if (!a->is_behind_clone(code))
        return false;
    if (memory_word(&w->memory, sp, &pc) && pc && s->read(s->context, pc - 8, &before)) {
        memcpy(code, &before, sizeof code);
        if (a->is_behind_call(code) && step_go(w, pc, sp + 8, NULL))
            return true;
    }
    *is_new = true;
    return false;
}

/* A return address in its register that leads to code with tables was left there by our caller:
 * calls of our own would have left one that leads to us, and we have none. Wherever it leads, it is
 * our caller's where the instruction at pc says so. How much of the stack we have taken is another
 * matter: a back chain says so, and the instruction at pc may. */
static bool step_by_ra_register(struct walker *w)
{
    const struct arch *a = w->arch;
    struct unwind_module module;
    if (!is_known(&w->r, a->ra) || !is_known(&w->r, a->sp) || !w->r.at[a->ra])
        return false;
    uint64_t pc = walk_unsigned(w, w->r.at[a->ra]), sp = w->r.at[a->sp];
    bool keeps_sp = step_frameless(w) != NULL;
    if (!walk_is_code(w, pc - 1, &module))
        return false;
    bool has_tables =
        module.tables && rule_at(module.tables, pc - 1 - module.bias).kind != RULE_NO_FDE;
    if (!keeps_sp && !has_tables)
        return false;
    if (!keeps_sp && a->link == LINK_BACK_CHAIN) {
        uint64_t outer, saved;
        bool has_frame = memory_word(&w->memory, sp, &outer) && outer > sp && !(outer & 7) &&
                         memory_word(&w->memory, outer + 16, &saved) && saved == pc;
        sp = has_frame ? outer : sp;
        keeps_sp = true;
    }
    if (!step_go(w, pc, sp, NULL))
        return false;
    if (!keeps_sp)
        w->r.known &= ~register_bit(a->sp);
    w->has_lost_sp |= !keeps_sp;
    return true;
}

/* By LINK_AT_FP or LINK_BELOW_FP: the pair that the frame pointer leads to. */
static bool step_by_frame_pointer(struct walker *w)
{
    const struct arch *a = w->arch;
    uint64_t fp = w->r.at[a->fp], sp = w->r.at[a->sp], next, pc;
    if (!is_known(&w->r, a->fp))
        return walk_ends(w, step_reason(w));
    if (!fp && w->is_chained) /* the mark of the outermost frame */
        return walk_ends(w, UNWIND_WHOLE);
    bool is_below = a->link == LINK_BELOW_FP;
    if (fp & 7 || fp < sp + (is_below ? 16 : 0))
        return walk_ends(w, step_reason(w));
    uint64_t pair = is_below ? fp - 16 : fp, cfa = is_below ? fp : fp + 16;
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

/* By LINK_BACK_CHAIN. The stack pointer of every frame leads to that of its caller, at every
 * instruction: no guess, but a leaf has saved no return address, which step_by_ra_register() has
 * looked for before. */
static bool step_by_back_chain(struct walker *w)
{
    uint64_t sp = w->r.at[w->sp], outer, pc;
    if (!is_known(&w->r, w->sp))
        return walk_ends(w, step_reason(w));
    if (!walk_word(w, sp, &outer))
        return false;
    if (!outer) /* the mark of the outermost frame */
        return walk_ends(w, UNWIND_WHOLE);
    if (outer <= sp || outer & 7)
        return walk_ends(w, step_reason(w));
    return walk_word(w, outer + 16, &pc) &&
           (step_go(w, pc, outer, NULL) || walk_ends(w, step_reason(w)));
}

/* Whether a process begins here: no frame pointer, and its arguments on the stack as the kernel put
 * them there. The dynamic linker's entry has no tables. */
static bool step_is_process_start(struct walker *w)
{
    enum { MOST_ARGUMENTS = 1 << 16 };
    const struct arch *a = w->arch;
    uint64_t sp = w->r.at[a->sp], count, first, last;
    return is_known(&w->r, a->sp) && is_known(&w->r, a->fp) && !w->r.at[a->fp] &&
           memory_word(&w->memory, sp, &count) && count && count < MOST_ARGUMENTS &&
           memory_word(&w->memory, sp + 8, &first) && first > sp &&
           memory_word(&w->memory, sp + 8 * (count + 1), &last) && !last;
}

bool step_without_tables(struct walker *w)
{
    if (step_by_trampoline(w))
        return true;
    bool is_new = false;
    if (w->arch->is_behind_clone && step_behind_clone(w, &is_new))
        return true;
    bool is_end = !w->is_interrupted && is_thread_end(w, w->r.pc);
    if (is_new || is_end)
        return walk_ends(w, UNWIND_WHOLE);
    enum code_step_end by_code = step_by_code(w);
    if (by_code == CODE_LEADS)
        return true;
    if (step_is_process_start(w))
        return walk_ends(w, UNWIND_WHOLE);
    if (by_code == CODE_ENDS)
        return false;
    bool may_have_no_frame = w->is_interrupted;
    if (may_have_no_frame && (w->arch->pushes_ra ? step_by_pushed_ra(w) : step_by_ra_register(w)))
        return true;
    return w->arch->link == LINK_BACK_CHAIN ? step_by_back_chain(w) : step_by_frame_pointer(w);
}

/* The call has left the return address where the machine's calls do, and nothing has happened
 * since. */
bool step_from_nowhere(struct walker *w)
{
    const struct arch *a = w->arch;
    uint64_t sp = w->r.at[a->sp], pc = w->r.at[a->ra];
    if (!is_known(&w->r, a->sp))
        return walk_ends(w, UNWIND_BROKEN);
    if (!a->pushes_ra)
        return (is_known(&w->r, a->ra) && pc && step_go(w, pc, sp, NULL)) ||
               walk_ends(w, UNWIND_BROKEN);
    if (!walk_word(w, sp, &pc))
        return false;
    return (pc && step_go(w, pc, sp + 8, NULL)) || walk_ends(w, UNWIND_BROKEN);
}
