/* From a frame to its caller by what its code does, where no table says it.
 *
 *     pc --> pop %rbx --> pop %rbp --> ret        the return address is where the stack pointer
 *      \-branch-> ... --> call ... --> ret        is by then
 *
 * Every path from the pc to a return takes the same amount off the stack, and puts back every
 * register that the function has to give back. So the code is followed from the pc on, both ways
 * where it branches, past calls, and on where it jumps, until a return. Nothing need be known of
 * where the function begins, and stripped libraries without tables (musl) need nothing else.
 *
 * A path may go wrong in one way: a call that never returns has whatever comes next behind it. So a
 * place counts if a call is before the address that stands there, and if no other return has led to
 * another such place. What was found holds whenever the pc is there, and is kept with the rules.
 *
 * Functions that never return have no path that is right. Those are where processes and threads
 * begin: their outermost frames prove themselves by what the kernel has put there, or by the code
 * that ends the thread.
 *
 * Cost: some hundred instructions, once for each pc and registers that are followed. */
#include "unwind/unwind_private.h"

#include <stddef.h>

enum {
    MOST_FOLLOWED = 3000, /* instructions */
    SEEN_LOG2 = 12,
    SEEN = 1 << SEEN_LOG2, /* more than are followed */
    MOST_PATHS = 64,
    SURE = 2,             /* returns that agree */
    CODE_BYTES = 16,      /* of an instruction, or more */
    MOST_OUTERMOST = 512, /* bytes of a stack to search */
};

/* Where a path is. Registers that were restored are where `slot` says. */
struct path {
    uint64_t pc, sp, fp;
    bool has_sp, has_fp;
    bool has_called; /* which overwrites the register of return addresses, on machines that have one
                      */
    bool is_by_fp;   /* sp was counted from the frame pointer at hand */
    uint32_t restored; /* bit n: at slot[n] */
    uint64_t slot[ARCH_REGISTERS];
};

struct following {
    struct walker *w;
    struct path waiting[MOST_PATHS]; /* branches that were not taken yet */
    size_t waiting_len;
    struct path found; /* at its return */
    unsigned agreed;
    bool is_ambiguous, is_deep;
    bool is_lost;   /* a return was reached with a stack pointer that is not known */
    bool has_frame; /* the frame pointer at hand is the function's own: it is counted from */
    unsigned followed;
    uint64_t seen[SEEN];
};

/* What an instruction does to the stack pointer and to registers of the caller. */
static void follow_apply(struct following *f, struct path *p, const struct arch_effect *e)
{
    const struct walker *w = f->w;
    uint64_t sp = p->sp, fp = p->fp;
    bool has_sp = p->has_sp, has_fp = p->has_fp;
    bool is_by_fp = e->sp == SP_FROM_FP && has_fp && fp == w->r.at[w->fp];
    f->has_frame |= is_by_fp;
    p->is_by_fp |= is_by_fp;
    if (e->restores) {
        bool has_base = e->restores_by_fp ? has_fp : has_sp;
        p->slot[e->number] = (e->restores_by_fp ? fp : sp) + (uint64_t)e->slot;
        p->restored |= has_base ? register_bit(e->number) : 0;
        if (e->second) {
            p->slot[e->second] = p->slot[e->number] + 8;
            p->restored |= has_base ? register_bit(e->second) : 0;
        }
        if (e->number == w->fp || (e->second && e->second == w->fp))
            p->has_fp = false; /* it is the caller's now */
    }
    p->has_called |= e->flow == FLOW_CALL;
    if (e->sets_fp) {
        p->fp = sp + (uint64_t)e->fp_by;
        p->has_fp = has_sp;
    }
    p->has_sp = e->sp == SP_FROM_FP ? has_fp : has_sp && e->sp != SP_LOST;
    p->sp = (e->sp == SP_FROM_FP ? fp : sp) + (uint64_t)e->by;
}

/* The address that a path returns to: on top of the stack by then, or in its register, which is
 * restored on the way or still has what the caller left there. What is saved on the way, below the
 * stack pointer at hand, is in its register now. 0: it is not known. */
static uint64_t path_returns_to(struct following *f, const struct path *p)
{
    struct walker *w = f->w;
    bool is_restored = p->restored & register_bit(w->ra);
    uint64_t pc = 0;
    bool is_saved = is_restored && p->slot[w->ra] < w->r.at[w->sp];
    if (!w->arch->pushes_ra && (!is_restored || is_saved)) {
        bool is_there = w->is_interrupted && (is_saved || !p->has_called) && is_known(&w->r, w->ra);
        return is_there ? walk_unsigned(w, w->r.at[w->ra]) : 0;
    }
    if (!memory_word(&w->memory, w->arch->pushes_ra ? p->sp : p->slot[w->ra], &pc))
        f->is_deep |= w->memory.why == UNWIND_DEEP;
    return walk_unsigned(w, pc);
}

/* One path, until it returns, leads nowhere, or joins another one. */
static void follow_path(struct following *f, struct path p)
{
    const struct arch *a = f->w->arch;
    while (f->followed++ < MOST_FOLLOWED) {
        struct arch_effect e;
        uint8_t code[CODE_BYTES] = {0};
        size_t at = (size_t)(p.pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_LOG2));
        while (f->seen[at] && f->seen[at] != p.pc)
            at = (at + 1) % SEEN;
        if (f->seen[at])
            return;
        f->seen[at] = p.pc;
        if (!walk_code(f->w, p.pc, code, sizeof code) && !walk_code(f->w, p.pc, code, 8))
            return;
        a->effect(code, p.pc, &e);
        bool is_return = e.flow == FLOW_RETURN;
        f->is_lost |= is_return && !p.has_sp;
        if (is_return && p.has_sp && !(p.sp & 7) && p.sp >= f->w->r.at[f->w->sp] &&
            walk_call(f->w, path_returns_to(f, &p), 0) != CALL_NONE) {
            f->is_ambiguous |= f->agreed && f->found.sp != p.sp;
            f->found = p;
            f->agreed++;
        }
        if (is_return || e.flow == FLOW_ENDS)
            return;
        follow_apply(f, &p, &e);
        p.pc = e.flow == FLOW_JUMP ? e.target : p.pc + e.len;
        if (e.flow == FLOW_BRANCH && f->waiting_len < MOST_PATHS) {
            f->waiting[f->waiting_len] = p;
            f->waiting[f->waiting_len++].pc = e.target;
        }
    }
}

/* The caller's registers: one that was pushed on the very path is still what it was.
 *
 * And a rule that leads there: the distance of the CFA from the stack pointer, or from the frame
 * pointer of functions that count from it, which may have taken any amount of stack. */
static bool follow_go(struct following *f, uint64_t pc)
{
    struct walker *w = f->w;
    const struct path *p = &f->found;
    uint64_t sp = w->r.at[w->sp], base = p->is_by_fp ? w->r.at[w->fp] : sp;
    uint64_t cfa = p->sp + (w->arch->pushes_ra ? 8 : 0), size = cfa - base, fp = p->slot[w->fp],
             slot = (cfa - fp) / 8;
    bool is_restored = p->restored & register_bit(w->fp) && fp >= sp;
    bool fits =
        size <= INT16_MAX && (!is_restored || (!(fp & 7) && fp < p->sp && slot <= INT16_MAX));
    struct rule rule = {.kind = RULE_NO_FDE,
                        .cfa_offset = (int32_t)size,
                        .fp_slot = is_restored ? (int16_t) - (int64_t)slot : 0,
                        .ra_slot = p->is_by_fp ? RULE_FP : RULE_SP};
    struct unwind_registers next = {.known = register_bit(w->sp)};
    next.pc = path_returns_to(f, p);
    next.at[w->sp] = cfa;
    for (unsigned i = 0; i < ARCH_REGISTERS; i++) {
        bool is_kept = !(p->restored & register_bit(i)) || p->slot[i] < sp;
        bool is_overwritten = is_kept && i == w->ra && !w->arch->pushes_ra;
        if (i == w->sp || is_overwritten || (is_kept && !is_known(&w->r, i)))
            continue;
        if (is_kept)
            next.at[i] = w->r.at[i];
        else if (!walk_word(w, p->slot[i], &next.at[i]))
            return false;
        next.known |= register_bit(i);
    }
    w->r = next;
    /* Where the return address stands apart from the CFA no short rule says both. */
    if (w->module.tables && fits && w->arch->pushes_ra)
        rule_replace(w->module.tables, pc - w->module.bias, rule);
    return true;
}

/* --- outermost frames ------------------------------------------------------------------------- */

/* Whether the kernel's arguments of a process begin here: their number, pointers further out, 0;
 * the environment's, 0; pairs of a small number and a word. */
static bool start_is_process(struct walker *w, uint64_t sp)
{
    enum { MOST_WORDS = 1 << 12, MOST_AUXILIARY = 64, LIST_ENDS = 2 };
    uint64_t word;
    unsigned lists = 0;
    if (sp & 15 || !memory_word(&w->memory, sp, &word) || !word || word >= MOST_WORDS)
        return false;
    uint64_t first_end = sp + 8 * (word + 1);
    for (uint64_t at = sp + 8; at < sp + UINT64_C(8) * MOST_WORDS && lists < LIST_ENDS; at += 8) {
        if (!memory_word(&w->memory, at, &word) || (word && word <= at) ||
            (!word && !lists && at != first_end))
            return false;
        lists += !word;
        if (lists == LIST_ENDS)
            return memory_word(&w->memory, at + 8, &word) && word && word < MOST_AUXILIARY;
    }
    return false;
}

bool is_thread_end(const struct walker *w, uint64_t pc)
{
    uint8_t code[CODE_BYTES];
    return w->arch->ends_thread && w->stack->read && walk_code(w, pc, code, sizeof code) &&
           w->arch->ends_thread(code);
}

static bool step_to_start(struct walker *w)
{
    uint64_t sp = w->r.at[w->sp], pc;
    for (uint64_t at = sp; at < sp + MOST_OUTERMOST; at += 8) {
        if (!memory_word(&w->memory, at, &pc))
            return false;
        pc = walk_unsigned(w, pc);
        if (walk_call(w, pc, 0) == CALL_NONE)
            continue;
        /* Return addresses stand at the outer end of a frame, or at its inner one. */
        uint64_t end = at + (w->arch->pushes_ra ? 16 : MOST_OUTERMOST), outer = at + 8;
        while (outer < end && !start_is_process(w, outer))
            outer += 8;
        if (!is_thread_end(w, pc) && outer >= end)
            return false; /* another frame is between */
        w->r =
            (struct unwind_registers){.pc = pc, .known = register_bit(w->sp) | register_bit(w->fp)};
        w->r.at[w->sp] = outer < end ? outer : at + 8;
        return true;
    }
    return false;
}

/* --- one step
 */

/* By what was found before. */
static enum code_step_end follow_again(struct walker *w, struct rule rule)
{
    unsigned base = rule.ra_slot == RULE_FP ? w->fp : w->sp;
    uint64_t cfa = w->r.at[base] + (uint64_t)(int64_t)rule.cfa_offset, pc, fp = 0;
    if (!is_known(&w->r, base) || cfa <= w->r.at[w->sp] || cfa & 7)
        return CODE_UNKNOWN;
    if (!memory_word(&w->memory, cfa - 8, &pc) ||
        (rule.fp_slot &&
         !memory_word(&w->memory, cfa + (uint64_t)(rule.fp_slot * INT64_C(8)), &fp))) {
        walk_ends(w, w->memory.why);
        return CODE_ENDS;
    }
    if (walk_call(w, pc, 0) == CALL_NONE)
        return CODE_UNKNOWN;
    w->r.known = register_bit(w->sp) | (w->r.known & register_bit(w->fp));
    if (rule.fp_slot) {
        w->r.at[w->fp] = fp;
        w->r.known |= register_bit(w->fp);
    }
    w->r.pc = pc;
    w->r.at[w->sp] = cfa;
    return CODE_LEADS;
}

enum code_step_end step_by_code(struct walker *w)
{
    struct unwind_tables *t = w->module.tables;
    uint64_t pc = w->r.pc - !w->is_interrupted;
    if (!w->arch->effect || !w->stack->read || w->module.is_generated || !is_known(&w->r, w->sp))
        return CODE_UNKNOWN;
    struct rule rule = {.kind = RULE_NO_FDE};
    if (t && !w->keeps_registers)
        rule = rule_at(t, pc - w->module.bias);
    if (rule.cfa_offset)
        return follow_again(w, rule);
    struct following f;
    f.w = w;
    f.waiting_len = f.agreed = f.followed = 0;
    f.is_ambiguous = f.is_deep = f.is_lost = f.has_frame = false;
    memset(f.seen, 0, sizeof f.seen);
    follow_path(&f, (struct path){.pc = w->r.pc,
                                  .sp = w->r.at[w->sp],
                                  .fp = w->r.at[w->fp],
                                  .has_sp = true,
                                  .has_fp = is_known(&w->r, w->fp)});
    while (f.waiting_len && f.agreed < SURE)
        follow_path(&f, f.waiting[--f.waiting_len]);
    if (f.agreed && !f.is_ambiguous)
        return follow_go(&f, pc) ? CODE_LEADS : CODE_ENDS;
    if (f.is_deep) {
        walk_ends(w, UNWIND_DEEP);
        return CODE_ENDS;
    }
    if (step_to_start(w))
        return CODE_LEADS;
    /* Where the function has no frame pointer yet, or no longer, it is the caller's, and would lead
     * past that. */
    walk_ends(w, UNWIND_NO_TABLE);
    return f.is_lost && !f.has_frame && w->arch->pushes_ra ? CODE_ENDS : CODE_UNKNOWN;
}
