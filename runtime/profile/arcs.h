/* Counting calls and blocks: the slow paths of the assembly. */
#ifndef MONARC_PROFILE_ARCS_H
#define MONARC_PROFILE_ARCS_H

#include "thread.h"

/* One call from the return address `from` into the function that holds `self`. Any context. */
void monarc_arc_slow(uint64_t from, uint64_t self) HIDDEN;
/* The same, by way of this thread's newest segment if it has a cell there. */
static inline void arc_count(uintptr_t from, uintptr_t self)
{
    uint64_t place = arc_place(from, self);
    if (!segment_count(monarc_slot.arcs, place, from, self))
        monarc_arc_slow(from, self);
}

/* One execution of the block that holds `at`. */
void monarc_block_slow(uint64_t at) HIDDEN;

/* Enters the start of a block that may run. */
void block_list(struct process *p, uint64_t start);

#endif
