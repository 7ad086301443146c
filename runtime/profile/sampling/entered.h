/* Which functions are on the stack, noted as they are entered: call stacks of code compiled with
 * -pg -mfentry, which keeps no frame pointers. Linux on x86-64 alone; elsewhere nothing is noted.
 */
#ifndef MONARC_PROFILE_ENTERED_H
#define MONARC_PROFILE_ENTERED_H

#include "../thread.h"

/* One call of __fentry__. The assembly knows the order. 32 bytes, so that the list's end is a mask.
 */
struct entered {
    uintptr_t key;  /* the stack pointer within __fentry__; the largest there is: none */
    uintptr_t from; /* the return address into the caller, which lies above key */
    uintptr_t self; /* where __fentry__ returns to, in the function */
    uintptr_t unused;
};

/* Begins to note what the calling thread enters; ends it. */
void entered_start(struct process *p, struct thread *t);
void entered_stop(void);

/* Whether the calling thread has entered such a function. */
bool entered_is_used(const struct thread *t);

/* The interrupted address and return addresses of the calling thread, innermost first; returns how
 * many. Signal handlers only. `frames` has room for `most`. */
int entered_walk(const struct thread *t, uint64_t *frames, int most, uintptr_t pc, uintptr_t sp);

#endif
