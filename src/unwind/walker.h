/* The state of one walk, and the ways to get from a frame to its caller. Private to this room. */
#ifndef MONARC_UNWIND_WALKER_H
#define MONARC_UNWIND_WALKER_H

#include "unwind/machine.h"
#include "unwind/memory.h"
#include "unwind/rule.h"

struct walker {
    const struct unwind_stack *stack;
    struct machine machine;
    enum unwind_machine machine_kind;
    struct memory memory;
    struct unwind_registers r;   /* of the frame at hand */
    struct unwind_module module; /* that its pc is in */
    bool is_innermost;
    bool is_interrupted;  /* pc is where the frame was, not where it will return to */
    bool is_signal_frame; /* the frame at hand was made by the kernel */
    bool is_entry;        /* the frame at hand would go on with a function's first instruction */
    bool is_chained;      /* the frame was found by a frame pointer */
    bool keeps_registers; /* every register is followed, not only stack and frame pointer */
    bool has_guessed;     /* a frame was found by what may have been no frame pointer */
    enum unwind_end guess_end; /* why it had to be guessed */
    bool has_lost_sp;          /* a frame of unknown size: at[sp] is no more than a bound */
    bool lacks_register;       /* set: a register was needed that was not followed */
    unsigned stack_changes;
    enum unwind_end end;
};

/* Each fills w->r with the caller's registers; false: w->end says why not. */

/* step_row.c: by the whole row of the tables. */
bool step_by_row(struct walker *w, struct rule rule, uint64_t address);

/* step_frame_pointer.c: in code without tables. */
bool step_without_tables(struct walker *w);

/* step_frame_pointer.c: from a pc where nothing is mapped, that is, from a call through a bad
 * pointer. */
bool step_from_nowhere(struct walker *w);

/* step_signal.c: whether the code at pc is what signal handlers return to, known by its
 * instructions; the registers are then those that the kernel saved. */
bool step_by_trampoline(struct walker *w);

static inline bool walk_ends(struct walker *w, enum unwind_end why)
{
    w->end = why;
    return false;
}

/* A register that is needed is not known. */
static inline bool walk_lacks(struct walker *w, unsigned number)
{
    bool is_lost = w->has_lost_sp && number == w->machine.sp;
    w->lacks_register |= !is_lost && !w->keeps_registers;
    return walk_ends(w, is_lost ? UNWIND_NO_TABLE : UNWIND_BROKEN);
}

static inline bool walk_word(struct walker *w, uint64_t address, uint64_t *word)
{
    return memory_word(&w->memory, address, word) || walk_ends(w, w->memory.why);
}

/* Whether a register's place in the stack is gone, because the function that was interrupted is
 * about to return: then the register has its caller's value again. Tables do not say so. What is
 * below the stack pointer is believed if it was copied with the stack, not if it is read later. */
static inline bool walk_is_popped(const struct walker *w, uint64_t slot)
{
    uint64_t word;
    return slot < w->r.at[w->machine.sp] && w->is_interrupted &&
           !memory_copied(w->stack, slot, &word, sizeof word);
}

/* walk.c: whether a stack pointer that does not lie further out is one of another stack. */
bool walk_changes_stack(struct walker *w, uint64_t cfa);

/* Whether the caller's stack pointer makes sense. `may_stay`: the frame is one that has not pushed
 * anything, which at most the innermost one of a stack is. */
static inline bool walk_moves_on(struct walker *w, uint64_t cfa, bool may_stay)
{
    uint64_t sp = w->r.at[w->machine.sp];
    if (cfa & 7)
        return walk_ends(w, UNWIND_BROKEN);
    return cfa > sp || (cfa == sp && may_stay) || walk_changes_stack(w, cfa);
}

/* walk.c: whether there is code at an address, or at the call before it. */
bool walk_is_code(struct walker *w, uint64_t pc, struct unwind_module *module);

/* walk.c: a return address without its signature, see docs/unwinding.md. */
uint64_t walk_unsigned(struct walker *w, uint64_t address);

#endif
