/* What is not in the copy of a stack, and what its being missing means. */
#include "unwind/memory.h"

/* A stack goes on that far behind its stack pointer at most; an address beyond is no stack's. */
static const uint64_t LARGEST_STACK = UINT64_C(1) << 32;

bool memory_read_beyond(struct memory *m, uint64_t address, uint64_t *word)
{
    const struct unwind_stack *s = m->stack;
    if (s->read && s->read(s->context, address, word))
        return true;
    bool is_behind = address - s->address < LARGEST_STACK;
    m->why = is_behind || m->is_elsewhere ? UNWIND_DEEP : UNWIND_BROKEN;
    return false;
}
