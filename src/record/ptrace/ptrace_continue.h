/* Calls that transfer bytes, and that our stopping the thread has cut short.
 *
 * While a stop is pending the kernel ends some calls with what they have done so far, as for a
 * signal: writes to pipes and sockets, reads of /dev/zero and /dev/urandom, getrandom(),
 * sendfile(). A program without signal handlers has never seen that. So the thread makes the rest
 * of the call, and what it gets as the result is the sum. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_CONTINUE_H
#define MONARC_RECORD_PTRACE_PTRACE_CONTINUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The rest of a call, while it is made. */
struct ptrace_rest {
    pid_t tid; /* 0: there is none */
    bool has_entered;
    uint64_t number, done, address, length; /* before the rest: call, result, two arguments */
};

/* A thread that was stopped, and has no signal to take: if it has just ended such a call early, it
 * goes on with the rest of it, and the next stops are for ptrace_rest_stopped(). The thread must be
 * traced with PTRACE_O_TRACESYSGOOD. false: nothing was done. */
bool ptrace_rest_begin(struct ptrace_rest *rest, pid_t tid);

/* A stop of that thread; true: it was for the rest, and the thread goes on. It is done when
 * rest->tid is 0: the thread is still stopped then, and has its result. */
bool ptrace_rest_stopped(struct ptrace_rest *rest, int status);

/* At any other stop of that thread: the call ends as it had, short. The thread is stopped still. */
void ptrace_rest_undo(struct ptrace_rest *rest);

#endif
