/* Runs a program and follows all its processes by ptrace, with nothing in their way: threads run
 * freely, and only stops that mean something come to the caller. */
#ifndef MONARC_RECORD_FOLLOW_H
#define MONARC_RECORD_FOLLOW_H

#include "base/err.h"
#include "record/space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the caller does at each, always with a thread `tid` that is stopped in the space. Functions
 * may be NULL; false with *e: the request cannot be met, but the program goes on. */
struct follow_calls {
    void *context;
    /* A copy of another space, by fork, in which nothing has run. `from`: that one, or NULL. */
    void (*began)(void *context, struct space *s, const struct space *from, pid_t tid);
    /* A process has executed a program, of which nothing has run: whether it is no longer to be
     * followed; and what is in it, if it is. */
    bool (*lets_go)(void *context, pid_t pid);
    void (*executed)(void *context, struct space *s, pid_t tid);
    /* Objects are about to be unmapped, or were mapped, as the dynamic linker says; x86 alone. */
    void (*mapped)(void *context, struct space *s, pid_t tid);
    /* A process may execute another program in a moment; x86, and by the C library alone. */
    void (*executing)(void *context, struct space *s, pid_t tid);
    /* A thread stopped by a trap of the processor's: whether that was the caller's doing. If not,
     * the program gets its signal. */
    bool (*trapped)(void *context, struct space *s, pid_t tid, uint64_t at);
    void (*passed)(void *context, struct space *s, uint64_t at); /* one of space.h's was hit */
    /* The last moment of a thread, memory is still there: of the last one that runs in the space
     * (`running` is 0), or of one that ends with all others. */
    bool (*leaving)(void *context, struct space *s, pid_t pid, pid_t tid, struct err *e);
    /* The last process has left it: by an end with this status, or, -1, by an exec. Its state is to
     * be freed. */
    bool (*left)(void *context, struct space *s, pid_t pid, int status, struct err *e);
    void (*interval)(void *context, struct space *s, pid_t tid);
    void *(*read_file)(void *context, struct object *o, const char *path, bool *keeps);
    uint64_t interval_ms;         /* 0: no intervals */
    const char *variable, *value; /* set in the program's environment; NULL: none */
};

struct follow_result {
    int status;           /* the program's, as a shell has it */
    uint64_t processes;   /* that were followed; an exec begins no other */
    uint64_t with_rights; /* programs with rights of their files, which were not followed */
    bool was_stopped;     /* by a signal, while processes ran that outlived the program */
};

/* Until the last process that is followed has ended. Signals that would end us are the program's;
 * once that has ended, they end the following. False: it could not be run or followed, or one of
 * the functions above failed. */
MUST_CHECK bool follow_program(char **argv, const struct follow_calls *calls,
                               struct follow_result *result, struct err *e);

#endif
