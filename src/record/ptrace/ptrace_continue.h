/* Calls that our stopping a thread has cut short: they are made to their end.
 *
 * While a stop is pending the kernel ends some calls as for a signal: with what they have done so
 * far, or with EINTR. A program without signal handlers has never seen that. So the thread makes
 * the rest of the call, and what it gets as the result is the sum. The same is done where the
 * thread was woken for a signal that it ignores, which happens to traced threads alone. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_CONTINUE_H
#define MONARC_RECORD_PTRACE_PTRACE_CONTINUE_H

#include "record/ptrace/ptrace_registers.h"

/* What is known of a kind of call; NULL: it is never cut short, or the kernel makes it again by
 * itself. */
struct call_form;
const struct call_form *form_find(const struct ptrace_call *call);

/* Memory of the program beyond the end of its stack, where the kernel would put a signal's frame.
 */
enum { FORM_SCRATCH_BYTES = 96 };
struct form_scratch {
    uint64_t at;
    uint8_t bytes[FORM_SCRATCH_BYTES];
    bool is_used;
    uint64_t piece; /* bytes requested for the rest of a single piece; else 0 */
};

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
    bool is_brief;     /* there is no time to wait for the end of a call that waits */
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
