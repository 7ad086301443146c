/* Words of a stack: from the copy, else from whoever can read more. Private to this room. */
#ifndef MONARC_UNWIND_MEMORY_H
#define MONARC_UNWIND_MEMORY_H

#include "unwind/unwind.h"

#include <string.h>

struct memory {
    const struct unwind_stack *stack;
    enum unwind_end why; /* the last failure: UNWIND_DEEP or UNWIND_BROKEN */
    bool is_elsewhere;   /* a signal led to another stack */
};

static inline bool memory_copied(const struct unwind_stack *s, uint64_t address, void *to,
                                 size_t len)
{
    uint64_t offset = address - s->address;
    if (s->bytes.len < len || offset > s->bytes.len - len)
        return false;
    memcpy(to, s->bytes.at + offset, len);
    return true;
}

/* memory.c: what is not in the copy. */
bool memory_read_beyond(struct memory *m, uint64_t address, uint64_t *word);

static inline bool memory_word(struct memory *m, uint64_t address, uint64_t *word)
{
    return memory_copied(m->stack, address, word, sizeof *word) ||
           memory_read_beyond(m, address, word);
}

#endif
