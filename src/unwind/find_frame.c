/* The frame of a function whose frame pointer is not known.
 *
 * Of a thread that waits, only pc and stack pointer can be had without stopping it. Functions that
 * keep a frame pointer (-O0, -fno-omit-frame-pointer) count from it:
 *
 *     sp -> | locals of the function | caller's fp | return address | caller's frame
 *                                 fp -^
 *
 * How far it is from the stack pointer, the function's first instructions show: what they push, and
 * how much they make room for. Where they show it, the frame is there. Functions that take more of
 * the stack as they go (alloca(), arrays of variable length) are searched for from there outwards:
 * what stands there may be left of another call, such as the dynamic linker's.
 *
 * Either way a place has to prove itself, since earlier calls have left theirs in the locals. What
 * is called a return address must follow a call. A call says what it calls (a fixed address), or
 * that can be looked up (through a PLT entry, or a pointer at a fixed address), or it may call
 * anything (through a register). Where the caller counts from its frame pointer, too, the one that
 * was saved must lead on to a return address after a call that may have called that one.
 *
 *     by its first instructions    any call but one that leads on by a frame pointer that leads to
 *                                  none; functions that were jumped to are others than were called,
 *                                  which is believed of those that take no more of the stack
 *     by a search                  the first call of this very function; or one that may be, of a
 *                                  caller whose frame is proved in turn, or where there is none: a
 *                                  saved frame pointer of 0 or 1, as start routines have it
 *
 * A place without proof is not used: the stack then ends there. Cost: some reads of memory for each
 * word of the frame; only where a frame pointer is wanted and is not there. */
#include "unwind/unwind_private.h"

enum {
    MOST_SEARCHED = 1 << 14,
    FRAME_ALIGNMENT = 16,
    MOST_PROLOGUE = 64, /* bytes of code */
    MOST_CODE = 1 << 13,
};

/* One search: of the frame of the function at `start`. */
struct frame_search {
    struct walker *w;
    uint64_t start, end;
};

/* What the call before a return address calls: the function at `start`? */
enum call_kind walk_call(struct walker *w, uint64_t return_address, uint64_t start)
{
    uint8_t before[8], code[16];
    struct unwind_module module;
    struct arch_call call;
    if (!return_address || !walk_is_code(w, return_address - 1, &module) ||
        !walk_code(w, return_address - sizeof before, before, sizeof before) ||
        !w->arch->call_before(before, return_address, &call))
        return CALL_NONE;
    if (call.target && call.target != start && walk_code(w, call.target, code, sizeof code))
        call.pointer = !w->arch->jump_pointer ? 0 /* an entry of a PLT? */
                                              : w->arch->jump_pointer(code, call.target);
    if (call.pointer &&
        !w->stack->read(w->stack->context, call.pointer, &call.target)) /* not to be had */
        return CALL_ANY;
    if (!call.target)
        return CALL_ANY;
    return call.target == start ? CALL_THIS : CALL_OTHER;
}

/* Whether the frame pointer that stands at `at` fits the caller; *is_proved: there is something
 * that it has to fit. */
static bool search_leads_on(struct walker *w, uint64_t at, bool *is_proved)
{
    struct unwind_module module;
    struct fde fde;
    uint64_t fp, pc, outer;
    *is_proved = false;
    if (!memory_word(&w->memory, at, &fp) || !memory_word(&w->memory, at + 8, &pc) ||
        !walk_is_code(w, pc - 1, &module))
        return false;
    if (!module.tables || rule_at(module.tables, pc - 1 - module.bias).kind != RULE_FP ||
        !fde_find(module.tables, pc - 1 - module.bias, &fde))
        return true;
    *is_proved = true;
    return fp > at && fp % FRAME_ALIGNMENT == 0 && memory_word(&w->memory, fp + 8, &outer) &&
           walk_call(w, outer, fde.start + module.bias) != CALL_NONE;
}

/* Whether the function takes stack as it goes. One that is too long to be read may. */
static bool search_takes_more(const struct frame_search *s)
{
    enum { STEP = 56, OVERLAP = 8 };
    uint8_t code[STEP + OVERLAP];
    if (s->end - s->start > MOST_CODE)
        return true;
    for (uint64_t at = s->start; at < s->end; at += STEP)
        if (!walk_code(s->w, at, code, sizeof code) || s->w->arch->takes_stack(code, sizeof code))
            return true;
    return false;
}

/* Whether the frame pointer may be at `at`. `is_there`: by the function's first instructions. */
static bool search_fits(const struct frame_search *s, uint64_t at, bool is_there)
{
    uint64_t return_address, fp;
    bool is_proved;
    if (!memory_word(&s->w->memory, at, &fp) ||
        !memory_word(&s->w->memory, at + 8, &return_address))
        return false;
    enum call_kind kind = walk_call(s->w, return_address, s->start);
    if (kind == CALL_NONE || !search_leads_on(s->w, at, &is_proved))
        return false;
    if (is_there && kind == CALL_OTHER)
        return !search_takes_more(s);
    return is_there || kind == CALL_THIS || (kind == CALL_ANY && (is_proved || fp <= 1));
}

bool walk_find_frame(struct walker *w, const struct fde *fde)
{
    const struct arch *a = w->arch;
    struct frame_search s = {
        .w = w, .start = fde->start + w->module.bias, .end = fde->end + w->module.bias};
    uint8_t code[MOST_PROLOGUE];
    if (!w->keeps_registers || !a->frame_room || !w->stack->read || !is_known(&w->r, w->sp))
        return false;
    uint64_t sp = w->r.at[w->sp], room = 0;
    bool is_found = walk_code(w, s.start, code, sizeof code) &&
                    a->frame_room(code, sizeof code, &room) && search_fits(&s, sp + room, true);
    uint64_t at = (sp + room + FRAME_ALIGNMENT - 1) & ~(uint64_t)(FRAME_ALIGNMENT - 1);
    at = is_found ? sp + room : at;
    for (; !is_found && at - sp < MOST_SEARCHED; at += FRAME_ALIGNMENT)
        if ((is_found = search_fits(&s, at, false)))
            break;
    if (!is_found)
        return false;
    w->r.at[w->fp] = at;
    w->r.known |= register_bit(w->fp);
    return true;
}
