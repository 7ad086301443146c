/* Call stacks of samples, kept as a tree: a node is (parent node, address), its hits are the
 * samples taken with it innermost. The outermost frame's parent is the thread's root. */
#ifndef MONARC_PROFILE_STACK_H
#define MONARC_PROFILE_STACK_H

#include "../thread.h"

#define MOST_FRAMES 1024

/* Records one sample. `pc`, `sp`, `fp`: the interrupted registers. Signal handlers only. */
void stack_record(struct process *p, struct thread *t, uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* A sample whose frames the kernel has walked. */
struct chain {
    const uint64_t *at; /* the interrupted address, then return addresses */
    size_t len;
    const uint64_t *stack; /* the innermost words of the stack, from `sp` up */
    size_t stack_len;
    uint64_t sp, fp;
    bool is_cut; /* there are frames further out */
};
/* Records such a sample. One at a time for each thread `t`, which need not be the caller's. */
void stack_record_chain(struct process *p, struct thread *t, const struct chain *c);

#endif
