/* What is not in the copy of a stack, and what its being missing means. */
#include "unwind/memory.h"

/* A stack goes on that far behind its stack pointer at most. */
static const uint64_t LARGEST_STACK = UINT64_C(1) << 32;

/* No stack is outside of these. */
static const uint64_t LOWEST = 1 << 16, HIGHEST = UINT64_C(1) << 56;

bool memory_read_beyond(struct memory *m, uint64_t address, uint64_t *word)
{
    const struct unwind_stack *s = m->stack;
    if (s->read && s->read(s->context, address, word))
        return true;
    bool is_behind = address - s->address < LARGEST_STACK;
    bool may_be_stack = address >= LOWEST && address < HIGHEST;
    m->why = is_behind || (m->is_elsewhere && may_be_stack) ? UNWIND_DEEP : UNWIND_BROKEN;
    return false;
}
