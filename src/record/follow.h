/* Runs a program and follows all its processes by ptrace, with nothing in their way: threads run
 * freely, and only stops that mean something come to the caller. */
#ifndef MONARC_RECORD_FOLLOW_H
#define MONARC_RECORD_FOLLOW_H

#include "base/bytes.h"
#include "base/err.h"
#include "objfile/object.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the caller does at each. Functions may be NULL; false with *e: what is asked for cannot be
 * had, but the program goes on. */
struct follow_calls {
    void *context;
    /* A process, before it runs. Its memory is its parent's, a copy of that, or (of the first) ours
     * until it executes the program. */
    void (*began)(void *context, pid_t pid, bool is_in_parent, bool is_forked);
    /* It has executed a program, of which nothing has run. *lets_go: it is no longer followed. */
    bool (*executed)(void *context, pid_t pid, bool *lets_go, struct err *e);
    /* A thread stopped by a trap of the processor's: whether that was the caller's doing. If not,
     * the program gets its signal. */
    bool (*trapped)(void *context, pid_t pid, pid_t tid);
    void (*leaving)(void *context, pid_t pid); /* a thread's last moment: memory is still there */
    bool (*ended)(void *context, pid_t pid, int status, struct err *e);
    void (*interval)(void *context);
    uint64_t interval_ms;         /* 0: no intervals */
    const char *variable, *value; /* set in the program's environment; NULL: none */
};

/* The memory of a process that is stopped, to be read and written; the caller closes it. */
int follow_memory_open(pid_t pid);
bool follow_memory_write(int memory, uint64_t at, const void *bytes, size_t len);

/* Where the dynamic linker says that objects were mapped, or are about to be unmapped: a function
 * that does nothing, made for debuggers' breakpoints. 0: the object is no linker. */
uint64_t follow_linker_place(struct object *o, uint64_t bias);

/* Goes on behind it, for a thread that a breakpoint at `at` has stopped; the breakpoint stays.
 * `code`: the first bytes of the function in its file; `word`: of a pointer. */
bool follow_linker_return(pid_t pid, pid_t tid, uint64_t at, struct bytes code, uint8_t word);

/* Until the last process that is followed has ended. *status is the program's, as a shell has it.
 * False: it could not be run or followed, or one of the functions above failed. */
MUST_CHECK bool follow_program(char **argv, const struct follow_calls *calls, int *status,
                               struct err *e);

#endif
