/* Looks at whole stacks: of threads for which that is wanted, their registers and all bytes from
 * the stack pointer on, at moments in which they stood still.
 *
 * Nothing is stopped, and the program cannot notice: a timer takes the CPU away from the thread, as
 * those of any program do. Up to 1,000 times a second in all.
 *
 * The work is done by a thread of its own. */
#ifndef MONARC_RECORD_PERF_DEEP_LOOKS_H
#define MONARC_RECORD_PERF_DEEP_LOOKS_H

#include "base/bytes.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct deep_looks;

/* NULL: it cannot. At most `rate` looks a second. The kernel must be one that may be sampled. */
struct deep_looks *deep_looks_new(uint32_t rate);

/* The same for one that may not: threads are stopped by somebody else, who calls the two functions
 * below, both from one thread. */
struct deep_looks *deep_looks_new_stopping(void);

/* Before a thread is stopped: whether any is wanted. */
bool deep_looks_prepare(struct deep_looks *l);

/* The thread stands, with these registers: its stack is read if it is wanted. Returns how many
 * bytes that has, as far as there was room; 0: it was not read. */
size_t deep_looks_stopped(struct deep_looks *l, pid_t tid,
                          const struct unwind_registers *registers);

/* What one has shown. */
struct deep_look {
    pid_t pid, tid;
    uint64_t at_ns;
    struct unwind_registers registers; /* of user code */
    struct bytes stack;                /* from the stack pointer on, ... */
    size_t room;                       /* ... as far as it goes, or as there was room */
};

/* The thread's whole stack is wanted for a moment from now on; `room`: this many bytes, at most.
 * false: it has ended, may not be inspected, or too many are wanted. */
bool deep_looks_want(struct deep_looks *l, pid_t pid, pid_t tid, size_t room);

/* The thread has ended. */
void deep_looks_gone(struct deep_looks *l, pid_t tid);

/* Hands over what was read since the last time, in the order of time, by calling `take`. The stack
 * is to be given back. */
void deep_looks_take(struct deep_looks *l,
                     void (*take)(void *context, const struct deep_look *look), void *context);

void deep_looks_give_back(struct deep_looks *l, const struct deep_look *look);

/* Ends looking. NULL is allowed. What was seen can be taken after. */
void deep_looks_end(struct deep_looks *l);
void deep_looks_free(struct deep_looks *l);

#endif
