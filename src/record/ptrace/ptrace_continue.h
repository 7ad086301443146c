/* Calls that our stopping a thread has cut short: they are made to their end.
 *
 * While a stop is pending the kernel ends some calls as for a signal: with what they have done so
 * far, or with EINTR. A program without signal handlers has never seen that. So the thread makes
 * the rest of the call, and what it gets as the result is the sum. The same is done where the
 * thread was woken for a signal that it ignores, which happens to traced threads alone. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_CONTINUE_H
#define MONARC_RECORD_PTRACE_PTRACE_CONTINUE_H

#include "record/ptrace/ptrace_registers.h"

/* --- calls that end early when a thread is asked to stop: a table with one row a call -----------
 */

/* What a result says of which there could be more, and how the rest is asked for. */
enum form_rest {
    REST_NONE,     /* all or nothing */
    REST_BYTES,    /* the address moves on, and the length shrinks, by the result */
    REST_LENGTH,   /* the length shrinks; the kernel keeps the places */
    REST_VECTOR,   /* pieces of memory: struct iovec */
    REST_MESSAGE,  /* one message of such pieces: struct msghdr */
    REST_MESSAGES, /* several: struct mmsghdr */
    REST_EVENTS,   /* io_getevents(): at least so many, at most so many */
    REST_WAIT /* io_uring_enter(): what was handed in was counted, what comes was not awaited */
};

/* When a result that is less than asked for may have come of a stop. Elsewhere there is another
 * reason for it, and the rest could be waited for in vain. */
enum form_when {
    WHEN_ALWAYS,
    WHEN_ENDLESS,  /* of a device that never has less: /dev/zero and the like */
    WHEN_STREAM,   /* to a pipe, a socket or a terminal */
    WHEN_NO_PIPE,  /* to anything but a pipe, which takes what it has room for */
    WHEN_WAITALL,  /* the flag MSG_WAITALL */
    WHEN_BLOCKING, /* no flag that says not to wait for all */
    WHEN_FILLED    /* from a pipe that has more */
};

/* What a call that has done nothing is to be told when it is made again. */
enum form_limit {
    LIMIT_NONE,    /* what it was told before */
    LIMIT_MS,      /* the milliseconds that are left, where it had not been endless */
    LIMIT_TIME,    /* the same as a struct timespec of the program's word size */
    LIMIT_TIME_64, /* and of 64 bits */
    LIMIT_RECEIVE, /* the same; the limit is SO_RCVTIMEO of its socket, and cannot be shortened */
    LIMIT_SEND,    /* SO_SNDTIMEO */
    LIMIT_WORK     /* the same, but it works rather than waits: another stop would undo it again */
};

struct call_form {
    const char *name;
    int16_t numbers[CALL_ABIS]; /* -1: there is none */
    uint8_t rest, when, limit;
    int8_t fd, address, length, flags, offset, limit_at; /* which arguments; -1: none */
    uint8_t error; /* that says that it has done nothing and may be made again; 0: none does */
};

/* NULL: such a call is never cut short, or the kernel makes it again by itself. */
const struct call_form *form_find(const struct ptrace_call *call);

/* Whether a result above 0 may be short because the thread was to stop, and there is a rest to be
 * made. Looks at descriptors in /proc/PID, and at copies of them, which it closes. */
bool form_is_short(const struct call_form *form, const struct ptrace_call *call, pid_t pid,
                   pid_t tid);

/* The time limit that the call was given, in ns; UINT64_MAX: it waits for ever. */
uint64_t form_limit_ns(const struct call_form *form, const struct ptrace_call *call, pid_t pid,
                       pid_t tid);

/* Whether that is a socket's. */
bool form_limit_is_sockets(const struct call_form *form);

/* Memory of the program behind the end of its stack, where the kernel would put a signal's frame.
 */
enum { FORM_SCRATCH_BYTES = 96 };
struct form_scratch {
    uint64_t at;
    uint8_t bytes[FORM_SCRATCH_BYTES];
    bool is_used;
    uint64_t piece; /* what the rest has asked for, if that is only the rest of one piece; or 0 */
};

/* The arguments of the rest, when `done` is what was done so far and `left_ns` what is left of the
 * time limit. Part of them may be in the scratch memory, which is filled and not written. false:
 * there is no rest. */
bool form_rest(const struct call_form *form, const struct ptrace_call *call, pid_t tid,
               uint64_t done, uint64_t left_ns, uint64_t arguments[CALL_ARGUMENTS],
               struct form_scratch *scratch);

/* --- making the rest -------------------------------------------------------------------------- */

/* The rest of a call, while it is made. */
struct ptrace_rest {
    pid_t tid;        /* 0: there is none */
    bool has_entered; /* the thread is in the kernel for it */
    bool was_cut;     /* it has ended without having done anything: see begin() */
    const struct call_form *form;
    struct ptrace_call call;           /* as it had ended */
    struct ptrace_registers registers; /* the same, for a sample, if has_registers */
    bool has_registers;
    uint64_t done;        /* of the whole */
    uint64_t deadline_ns; /* UINT64_MAX: it may wait for ever */
    unsigned tries;
    struct form_scratch scratch; /* what was in that memory */
};

/* A thread that was stopped, and has no signal to take but perhaps one that it ignores. */
struct ptrace_cut {
    pid_t pid, tid;
    uint64_t since_ns; /* in that call at least so long */
    bool is_brief;     /* nobody is there to wait for the end of a call that waits */
};

/* If it is at the end of a call that was cut, it is to make the rest of it: the caller lets it go
 * on by PTRACE_SYSCALL, and the next stops are for ptrace_rest_stopped(). It must be traced with
 * PTRACE_O_TRACESYSGOOD. false: it may go on by itself, and makes the call again if that is all
 * that is needed. */
bool ptrace_rest_begin(struct ptrace_rest *rest, const struct ptrace_cut *cut);

/* A stop of that thread; true: it was for the rest. It is done when rest->tid is 0: the thread has
 * its result; otherwise it is to go on by PTRACE_SYSCALL. It is still stopped. */
bool ptrace_rest_stopped(struct ptrace_rest *rest, int status);

/* The call ends as it had, for a signal that the thread takes. It is stopped still. */
void ptrace_rest_undo(struct ptrace_rest *rest);

#endif
