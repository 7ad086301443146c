/* Walking a stack, frame by frame.
 *
 * A walk follows the stack and the frame pointer alone, by rules of a few bytes. Where a frame
 * turns out to need another register, it starts again and follows all of them, by whole rows: any
 * register saved in any way, CFAs that are computed, signal frames. Words that the copy of the
 * stack lacks are fetched one at a time. Each step is bounded, and so are steps that lead nowhere:
 * stack pointers must move outwards, but for a few changes of stack.
 *
 * Signal frames are known by the instructions that handlers return to where tables do not describe
 * them (musl; the kernels of aarch64 and riscv64) or describe them wrongly.
 *
 *     frame at hand: r (pc, sp, fp ...)  --rule or row-->  the caller's r
 *         is_interrupted: pc is an instruction that was to run next (innermost, or under a signal)
 *         else:           pc is a return address, and pc - 1 lies in the call
 *
 * Cost: for most frames one look at a cache line of rules and two words of the stack. */
#include "unwind/unwind_private.h"

#include <stddef.h>

/* --- by whole rows ---------------------------------------------------------------------------- */

/* One step by a row; `cfa` once it is known. */
struct step {
    struct walker *w;
    struct expression_context expressions;
    uint64_t cfa;
};

/* With the CFA on the stack, if it is known: `first`. */
static bool run_expression(struct step *s, const struct column *c, const uint64_t *first,
                           uint64_t *out)
{
    struct bytes program = {c->expression, c->len};
    /* For want of memory, whose own reason counts, or for nonsense. */
    return expression_run(program, first, &s->expressions, out) ||
           walk_ends(s->w, s->expressions.lacks_memory ? s->w->memory.why : UNWIND_BROKEN);
}

/* What a register is in the caller; *has_value false: it is not known. */
static bool restore(struct step *s, const struct column *c, unsigned number, uint64_t *out,
                    bool *has_value)
{
    const struct unwind_registers *r = &s->w->r;
    uint8_t kind = c->kind;
    uint64_t address = s->cfa + (uint64_t)c->offset;
    *has_value = true;
    if (kind == COLUMN_OFFSET || kind == COLUMN_EXPRESSION) {
        bool is_computed = kind == COLUMN_EXPRESSION;
        if (is_computed && !run_expression(s, c, &s->cfa, &address))
            return false;
        /* Functions that align their stack describe places by a frame pointer that is their
         * caller's again before they return: then the place is outside of their frame. */
        bool is_outside = is_computed && address >= s->cfa && s->w->is_interrupted;
        bool is_popped = !s->w->is_signal_frame && (is_outside || walk_is_popped(s->w, address));
        kind = is_popped ? COLUMN_SAME : COLUMN_OFFSET;
    }
    switch (kind) {
    case COLUMN_OFFSET: return walk_word(s->w, address, out);
    case COLUMN_VAL_OFFSET: *out = s->cfa + (uint64_t)c->offset; return true;
    case COLUMN_REGISTER:
        *has_value = is_known(r, c->number);
        *out = r->at[c->number % ARCH_REGISTERS] + (uint64_t)c->offset;
        return true;
    case COLUMN_VAL_EXPRESSION: return run_expression(s, c, &s->cfa, out);
    case COLUMN_UNDEFINED: *has_value = false; return true;
    default:
        *has_value = is_known(r, number);
        *out = r->at[number];
        return true;
    }
}

/* The table says where the caller's value is. */
static bool is_explicit(const struct column *c)
{
    return c->kind != COLUMN_UNSET && c->kind != COLUMN_SAME;
}

/* Fills w->r with the caller's. */
static bool step_to_caller(struct step *s, const struct fde *fde, const struct row *row)
{
    struct walker *w = s->w;
    const struct arch *a = w->arch;
    const struct column *cfa = &row->cfa;
    uint64_t ra = fde->cie.return_column;
    bool is_leaf = !a->pushes_ra && !is_explicit(&row->at[ra]);
    struct unwind_registers next = {.known = 0};
    if (cfa->kind == COLUMN_VAL_EXPRESSION) {
        if (!run_expression(s, cfa, NULL, &s->cfa))
            return false;
    } else if (is_known(&w->r, cfa->number) ||
               (cfa->number == w->fp && cfa->offset == 16 && walk_find_frame(w, fde)))
        s->cfa = w->r.at[cfa->number] + (uint64_t)cfa->offset;
    else
        return walk_lacks(w, cfa->number);
    const struct column *saved = &row->at[ra];
    bool has_not_pushed =
        w->is_interrupted &&
        (saved->kind == COLUMN_REGISTER || (saved->kind == COLUMN_OFFSET && saved->offset > 0));
    if (!w->is_signal_frame && !walk_moves_on(w, s->cfa, is_leaf || has_not_pushed || ra != a->ra))
        return false;
    /* A register that cannot be had ends the walk only if it is one that every walk needs. */
    for (unsigned i = 0; i < ARCH_REGISTERS; i++) {
        bool is_needed = i == ra || i == a->sp || i == a->fp, has_value = true;
        bool was_read = restore(s, &row->at[i], i, &next.at[i], &has_value);
        if (!was_read && is_needed)
            return false;
        if (was_read && has_value)
            next.known |= register_bit(i);
    }
    if (row->at[a->sp].kind == COLUMN_UNSET) {
        next.at[a->sp] = s->cfa;
        next.known |= register_bit(a->sp);
    }
    if (!is_known(&next, (unsigned)ra) || (a->pushes_ra && !is_explicit(&row->at[ra])))
        return walk_ends(w, UNWIND_BROKEN);
    next.pc = next.at[ra];
    if (!w->is_signal_frame) /* the caller's own went when it called */
        next.known &= ~register_bit(a->ra);
    w->memory.is_elsewhere |= w->is_signal_frame;
    w->r = next;
    return true;
}

/* The row is computed anew: rules of this kind are too few for a cache of rows. */
__attribute__((noinline)) static bool step_by_row(struct walker *w, struct rule rule,
                                                  uint64_t address)
{
    struct unwind_tables *t = w->module.tables;
    struct fde fde;
    struct row row;
    bool is_found = rule.kind == RULE_ROW || rule.kind == RULE_SIGNAL
                        ? fde_read(t, rule.cfa_offset ? &t->debug : &t->eh, rule.fde, &fde, NULL)
                        : fde_find(t, address, &fde);
    if (!is_found || !row_at(t, &fde, address, &row))
        return walk_ends(w, UNWIND_BROKEN);
    w->is_signal_frame = rule.kind == RULE_SIGNAL;
    if (w->is_signal_frame && !w->arch->has_true_signal_tables && step_by_trampoline(w))
        return true;
    if (w->arch->pushes_ra) { /* PLT entries compute with their pc */
        w->r.at[w->ra] = w->r.pc;
        w->r.known |= register_bit(w->ra);
    }
    struct step s = {
        .w = w, .expressions = {.registers = &w->r, .memory = &w->memory, .bias = w->module.bias}};
    bool goes_on = step_to_caller(&s, &fde, &row);
    w->lacks_register |= !goes_on && s.expressions.lacks_register && !w->keeps_registers;
    return goes_on;
}

/* --- the walk ----------------------------------------------------------------------------------
 */

/* The step that nine of ten frames take. */
static inline bool step_by_rule(struct walker *w, struct rule rule)
{
    unsigned sp = w->sp, fp = w->fp, ra = w->ra;
    unsigned base = rule.kind == RULE_SP ? sp : fp;
    if (!is_known(&w->r, base))
        return walk_lacks(w, base);
    uint64_t cfa = w->r.at[base] + (uint64_t)(int64_t)rule.cfa_offset, pc;
    /* The return address is below the CFA if the frame has pushed it; powerpc has it above. */
    bool may_stay = rule.ra_slot >= 0 && (!rule.ra_slot || w->is_interrupted);
    if ((cfa & 7 || cfa <= w->r.at[sp]) && !walk_moves_on(w, cfa, may_stay))
        return false;
    if (rule.ra_slot) {
        if (!walk_word(w, cfa + (uint64_t)(rule.ra_slot * INT64_C(8)), &pc))
            return false;
    } else if (is_known(&w->r, ra))
        pc = w->r.at[ra];
    else
        return walk_ends(w, UNWIND_BROKEN);
    uint32_t known = register_bit(sp) | (w->r.known & register_bit(fp));
    if (rule.fp_slot) {
        uint64_t slot = cfa + (uint64_t)(rule.fp_slot * INT64_C(8));
        bool is_popped = walk_is_popped(w, slot);
        if (!is_popped && !walk_word(w, slot, &w->r.at[fp]))
            return false;
        known |= is_popped ? 0 : register_bit(fp);
    }
    w->r.at[sp] = cfa;
    w->r.known = known;
    w->r.pc = pc;
    return true;
}

/* Nothing called this frame: how threads and coroutines begin, unless the frame is only a guess. */
static enum unwind_end returns_to_nothing(const struct walker *w)
{
    return w->has_guessed ? w->guess_end : UNWIND_WHOLE;
}

/* Some functions fall into the next one through the padding before it, which no table covers: with
 * glibc 2.41, __memmove_chk() into memmove(). The stack there is that of the next one's entry, at
 * which *address then is. RULE_NO_FDE: something else is here. */
static struct rule rule_behind_padding(const struct walker *w, uint64_t *address)
{
    enum { MOST_BYTES = 128 }; /* of padding */
    const struct unwind_stack *s = w->stack;
    struct rule rule = {.kind = RULE_NO_FDE};
    uint64_t at = *address, words[2] = {0};
    if (!w->arch->padding_len || !s->read)
        return rule;
    while (rule.kind == RULE_NO_FDE && at - *address < MOST_BYTES &&
           s->read(s->context, at + w->module.bias, &words[0])) {
        uint8_t code[sizeof words];
        if (!s->read(s->context, at + w->module.bias + 8, &words[1]))
            words[1] = 0; /* the last word of a mapping */
        memcpy(code, words, sizeof code);
        unsigned len = w->arch->padding_len(code);
        if (!len)
            return rule;
        at += len;
        rule = rule_at(w->module.tables, at);
    }
    if (rule.kind != RULE_NO_FDE)
        *address = at;
    return rule;
}

/* One step by whatever leads on from this pc: a rule, a row, or neither. */
static bool step(struct walker *w, uint64_t pc)
{
    struct unwind_tables *t = w->module.tables;
    if (!t || t->s.arch != w->arch)
        return step_without_tables(w);
    uint64_t address = pc - w->module.bias;
    bool was_chained = w->is_chained;
    w->is_chained = false;
    struct rule rule = rule_at(t, address);
    if (rule.kind == RULE_NO_FDE && w->is_interrupted)
        rule = rule_behind_padding(w, &address);
    switch (rule.kind) {
    case RULE_SP:
    case RULE_FP: return w->keeps_registers ? step_by_row(w, rule, address) : step_by_rule(w, rule);
    case RULE_ROW:
    case RULE_SIGNAL: return step_by_row(w, rule, address);
    case RULE_OUTERMOST: return walk_ends(w, UNWIND_WHOLE);
    case RULE_NO_FDE:
        /* A return address that is a function's first instruction, and no code that may have called
         * is before it: there makecontext() has a coroutine return to, in the end. */
        w->is_entry = !w->is_interrupted && rule_at(t, address + 1).kind != RULE_NO_FDE;
        if (w->is_entry)
            return step_by_trampoline(w) || walk_ends(w, returns_to_nothing(w));
        w->is_chained = was_chained;
        return step_without_tables(w);
    default: return walk_ends(w, UNWIND_BROKEN);
    }
}

/* One frame: notes it and goes to its caller. */
static bool walk_one(struct walker *w, uint64_t *frame, uint32_t *len)
{
    uint64_t pc = w->r.pc - !w->is_interrupted;
    bool is_code = walk_is_code(w, pc, &w->module);
    if (!is_code && !w->is_interrupted) /* a trampoline may be the first thing on its page */
        is_code = walk_is_code(w, pc + 1, &w->module);
    if (!is_code && !w->is_innermost)
        return walk_ends(w, UNWIND_BROKEN);
    w->is_signal_frame = w->is_entry = false;
    bool goes_on = is_code ? step(w, pc) : step_from_nowhere(w);
    /* Nothing called the code that a handler or a coroutine returns to. */
    *frame = pc + ((w->is_signal_frame || w->is_entry) && !w->is_interrupted);
    ++*len;
    w->is_interrupted = w->is_signal_frame;
    w->is_innermost = false;
    if (goes_on && !w->is_interrupted)
        w->r.pc = walk_unsigned(w, w->r.pc);
    return goes_on;
}

/* Frames until one does not lead on. A return address of 0 is where threads begin. */
static uint32_t walk(struct walker *w, uint64_t *frames, uint32_t most)
{
    uint32_t len = 0;
    do
        if (len == most) {
            w->end = UNWIND_TOO_MANY;
            return len;
        }
    while (walk_one(w, &frames[len], &len) && (w->r.pc || walk_ends(w, returns_to_nothing(w))));
    if (w->has_guessed && w->end == UNWIND_BROKEN)
        w->end = w->guess_end;
    return len;
}

/* Follows three registers first; if a frame needs another one, all of them from the start. */
uint32_t unwind_walk(const struct unwind_stack *s, const struct arch *arch,
                     const struct unwind_registers *registers, uint64_t *frames, uint32_t most,
                     enum unwind_end *end)
{
    uint32_t len = 0;
    if (!arch_has_stacks(arch)) {
        *end = most ? UNWIND_NO_TABLE : UNWIND_TOO_MANY;
        if (most)
            frames[len++] = registers->pc;
        return len;
    }
    for (int keeps_registers = 0; keeps_registers < 2; keeps_registers++) {
        struct walker w;
        w.stack = s;
        w.arch = arch;
        w.sp = arch->sp;
        w.fp = arch->fp;
        w.ra = arch->ra;
        w.signs_ra = arch->signs_ra;
        w.memory = (struct memory){.stack = s};
        w.r = *registers;
        w.is_innermost = w.is_interrupted = true;
        w.is_chained = w.has_guessed = w.has_lost_sp = w.lacks_register = false;
        w.keeps_registers = keeps_registers;
        w.stack_changes = 0;
        w.end = UNWIND_BROKEN;
        len = walk(&w, frames, most);
        *end = w.end;
        if (!w.lacks_register)
            break;
    }
    return len;
}
