/* Where a program is in the kernel, for those who may sample user code alone: beside perf events,
 * threads that run are stopped for a moment, at random times, and inspected. Programs that may
 * trace others, have a leak checker or rights of their files are never stopped, nor is what they
 * start (ptrace_conflict.c).
 *
 * It says places, not amounts: which part of all looks met a thread in a system call, in which one
 * and with what stack. A thread is traced from its choice to the end of its inspection, some 50
 * microseconds, and only if it runs; how it is chosen is the ptrace source's (ptrace_sampling.c).
 * Looks become rare where few of them find anything. The work is done by a thread of its own, so
 * that what the monitor does with samples stays away from the program's CPUs.
 *
 * While it exists, waiting for children meets stops that are none of the caller's: peek with
 * WNOWAIT, and __WNOTHREAD, and leave them alone. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_PLACES_H
#define MONARC_RECORD_PTRACE_PTRACE_PLACES_H

#include "record/collector.h"

struct ptrace_places;

/* Who wants whole stacks of some threads, and reads them while these stand. */
struct ptrace_reader {
    void *context;
    /* Before each look, by the thread that looks: whether any is wanted. */
    bool (*prepare)(void *context);
    /* By the same, what stands. Returns how many bytes of its stack were read; 0: it is not wanted.
     */
    size_t (*stopped)(void *context, pid_t tid, const struct unwind_registers *registers);
    /* By ptrace_places_tell(): a call's stack is longer than the `len` bytes that were read. */
    void (*cut)(void *context, pid_t pid, pid_t tid, size_t len);
};

/* Begins to look, at most `rate` times a second; NULL: it cannot. A reader may have no functions.
 */
struct ptrace_places *ptrace_places_new(uint32_t rate, const struct ptrace_reader *reader);

/* The process that the caller waits for. */
void ptrace_places_child(struct ptrace_places *p, pid_t child);

/* What to look at: a new thread and the process that made it (0: it was there
 * before), another program in a process, and the end of a thread. */
void ptrace_places_begin(struct ptrace_places *p, pid_t pid, pid_t tid, pid_t parent);
void ptrace_places_exec(struct ptrace_places *p, pid_t pid);
void ptrace_places_end(struct ptrace_places *p, pid_t tid);

/* Reports to the collector what was seen since the last time. */
void ptrace_places_tell(struct ptrace_places *p, struct collector *c);

/* Ends looking; whatever is stopped goes on. NULL is allowed. */
void ptrace_places_free(struct ptrace_places *p);

#endif
