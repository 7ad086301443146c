/* Call stacks of samples, kept as a tree: a node is (parent node, address), its hits are the
 * samples taken with it innermost. The outermost frame's parent is MONARC_ROOT_NODE. */
#ifndef MONARC_HOSTED_STACK_H
#define MONARC_HOSTED_STACK_H

#include "thread.h"

#define MOST_FRAMES 1024

/* Records one sample. `pc`, `sp`, `fp`: the interrupted registers. Signal handlers only. */
void stack_record(struct process *p, struct thread *t, uintptr_t pc, uintptr_t sp, uintptr_t fp);

#endif
