/* Walking a stack, frame by frame.
 *
 * A walk follows the stack and the frame pointer alone, by rules of a few bytes. Where a frame
 * turns out to need another register, it starts again and follows all of them. Each step is
 * bounded, and so are steps that lead nowhere. */
#include "unwind/walker.h"

#include "unwind/rule_make.h"
#include "unwind/tables.h"

enum { MOST_STACK_CHANGES = 8 };

bool walk_changes_stack(struct walker *w, uint64_t cfa)
{
    uint64_t sp = w->r.at[w->machine.sp], copied = w->stack->address;
    bool is_inward = cfa == sp || (cfa >= copied && cfa < sp && sp - copied < w->stack->bytes.len);
    if (is_inward || w->stack_changes++ == MOST_STACK_CHANGES)
        return walk_ends(w, UNWIND_BROKEN);
    w->memory.is_elsewhere = true;
    return true;
}

bool walk_is_code(struct walker *w, uint64_t pc, struct unwind_module *module)
{
    *module = (struct unwind_module){0};
    return w->stack->module_at(w->stack->context, pc, module);
}

/* Signatures take the bits above the address; how many an address has is up to the kernel. */
uint64_t walk_unsigned(struct walker *w, uint64_t address)
{
    static const uint8_t BITS[] = {48, 47, 42, 39, 36};
    struct unwind_module module;
    uint64_t stripped = address & ((UINT64_C(1) << BITS[0]) - 1);
    if (address == stripped && !(address >> 36))
        return address;
    for (size_t i = 0; i < sizeof BITS; i++) {
        uint64_t shorter = address & ((UINT64_C(1) << BITS[i]) - 1);
        if (walk_is_code(w, shorter - 1, &module))
            return shorter;
    }
    return stripped;
}

/* The step that nine of ten frames take. */
static inline bool step_by_rule(struct walker *w, struct rule rule)
{
    struct machine m = w->machine;
    unsigned base = rule.kind == RULE_SP ? m.sp : m.fp;
    if (!is_known(&w->r, base))
        return walk_lacks(w, base);
    uint64_t cfa = w->r.at[base] + (uint64_t)(int64_t)rule.cfa_offset, pc;
    if (!walk_moves_on(w, cfa, !rule.ra_slot))
        return false;
    if (rule.ra_slot) {
        if (!walk_word(w, cfa + (uint64_t)(rule.ra_slot * INT64_C(8)), &pc))
            return false;
    } else if (is_known(&w->r, m.ra))
        pc = w->r.at[m.ra];
    else
        return walk_ends(w, UNWIND_BROKEN);
    uint32_t known = register_bit(m.sp) | (w->r.known & register_bit(m.fp));
    if (rule.fp_slot) {
        uint64_t slot = cfa + (uint64_t)(rule.fp_slot * INT64_C(8));
        bool is_popped = walk_is_popped(w, slot);
        if (!is_popped && !walk_word(w, slot, &w->r.at[m.fp]))
            return false;
        known |= is_popped ? 0 : register_bit(m.fp);
    }
    w->r.at[m.sp] = cfa;
    w->r.known = known;
    w->r.pc = pc;
    return true;
}

/* Nothing called this frame: how threads and coroutines begin, unless the frame is only a guess. */
static enum unwind_end returns_to_nothing(const struct walker *w)
{
    return w->has_guessed ? w->guess_end : UNWIND_WHOLE;
}

/* A return address that is a function's first instruction, and no code that may have called is
 * before it: there makecontext() has a coroutine return to, in the end. */
static bool is_first_of_coroutine(struct walker *w, uint64_t address)
{
    w->is_entry = !w->is_interrupted && rule_at(w->module.tables, address + 1).kind != RULE_NO_FDE;
    return w->is_entry;
}

static bool step(struct walker *w, uint64_t pc)
{
    struct unwind_tables *t = w->module.tables;
    if (!t || t->s.machine != w->machine_kind)
        return step_without_tables(w);
    uint64_t address = pc - w->module.bias;
    bool was_chained = w->is_chained;
    w->is_chained = false;
    struct rule rule = rule_at(t, address);
    switch (rule.kind) {
    case RULE_SP:
    case RULE_FP: return w->keeps_registers ? step_by_row(w, rule, address) : step_by_rule(w, rule);
    case RULE_ROW:
    case RULE_SIGNAL: return step_by_row(w, rule, address);
    case RULE_OUTERMOST: return walk_ends(w, UNWIND_WHOLE);
    case RULE_NO_FDE:
        if (is_first_of_coroutine(w, address))
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
    if (goes_on && w->machine_kind == UNWIND_AARCH64 && !w->is_interrupted)
        w->r.pc = walk_unsigned(w, w->r.pc);
    return goes_on;
}

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

uint32_t unwind_walk(const struct unwind_stack *s, enum unwind_machine machine,
                     const struct unwind_registers *registers, uint64_t *frames, uint32_t most,
                     enum unwind_end *end)
{
    uint32_t len = 0;
    for (int keeps_registers = 0; keeps_registers < 2; keeps_registers++) {
        struct walker w;
        w.stack = s;
        w.machine = machine_of(machine);
        w.machine_kind = machine;
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
