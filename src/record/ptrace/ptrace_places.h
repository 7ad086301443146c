/* Where a program is in the kernel, for those who may sample user code alone: beside perf events,
 * threads that run are stopped for a moment, at random times, and looked at. Programs that may
 * trace others, have a leak checker or rights of their files are never stopped, nor is what they
 * start (ptrace_conflict.c).
 *
 * It says places, not amounts: which part of all looks met a thread in a system call, in which one
 * and with what stack. A thread is traced from being chosen to having been looked at, some 50
 * microseconds, and only if it runs; how it is chosen is the ptrace source's (ptrace_sampling.c).
 * Looks become rare where few of them find anything. The work is done by a thread of its own, so
 * that what the monitor does with samples stays away from the program's CPUs.
 *
 * The same looks read whole stacks, of threads for which that is wanted (deep_stacks.h), whoever
 * may sample the kernel. Where nothing else is looked for, nothing is stopped until one is.
 *
 * While it exists, waiting for children meets stops that are none of the caller's: peek with
 * WNOWAIT, and __WNOTHREAD, and leave them alone. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_PLACES_H
#define MONARC_RECORD_PTRACE_PTRACE_PLACES_H

#include "record/collector.h"
#include "unwind/unwind.h"

struct ptrace_places;

/* Begins to look; NULL: it cannot. At most `rate` looks a second. only_deep: for whole stacks
 * alone.
 */
struct ptrace_places *ptrace_places_new(uint32_t rate, bool only_deep);

/* The process that the caller waits for. */
void ptrace_places_child(struct ptrace_places *p, pid_t child);

/* What to look at: a new thread and the process that made it (0: it was there
 * before), another program in a process, and the end of a thread. */
void ptrace_places_begin(struct ptrace_places *p, pid_t pid, pid_t tid, pid_t parent);
void ptrace_places_exec(struct ptrace_places *p, pid_t pid);
void ptrace_places_end(struct ptrace_places *p, pid_t tid);

/* Whether a thread that left its CPU then did so because it was stopped to be looked at. */
bool ptrace_places_stopped(struct ptrace_places *p, pid_t tid, uint64_t at_ns);

/* Tells the collector what was seen since the last time. */
void ptrace_places_tell(struct ptrace_places *p, struct collector *c);

/* A thread that was stopped while its whole stack was wanted. */
struct deep_look {
    pid_t pid, tid;
    uint64_t at_ns;
    int64_t syscall; /* that it was in; -1: it was in user code */
    struct unwind_registers registers;
    struct bytes stack; /* from the stack pointer on, ... */
    size_t room;        /* ... as far as it goes, or as there was room */
};

/* The thread's whole stack is wanted for a moment from now on; `room`: this many bytes, at most. */
void ptrace_places_want(struct ptrace_places *p, pid_t pid, pid_t tid, size_t room);

/* Hands over what was read since the last time, in the order of time, by calling `take`. The stack
 * is to be given back. */
void ptrace_places_take_deep(struct ptrace_places *p,
                             void (*take)(void *context, const struct deep_look *look),
                             void *context);

void ptrace_places_give_back(struct ptrace_places *p, const struct deep_look *look);

/* Ends looking; whatever is stopped goes on. NULL is allowed. What was seen can be taken after. */
void ptrace_places_end_looks(struct ptrace_places *p);
void ptrace_places_free(struct ptrace_places *p);

#endif
