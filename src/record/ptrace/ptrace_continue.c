/* Making the rest of a call: the same instruction again, with other arguments, between two stops.
 *
 * A stop of ours ends a call in one of four ways (ptrace_form.c says which call in which):
 *
 *   a result that is whole              nothing to do
 *   an error of the ERESTART family     the kernel makes the call again
 *   EINTR, and nothing was done         the call is made again, with what is left of its time limit
 *   less than was asked for             the rest is made, and the sum is the result
 *
 * The thread runs the instruction again and stops on its way into the call and out of it; in
 * between nobody stops it. Then it has its arguments back, and the memory below its stack that held
 * some of them. If a signal comes that the program handles, it finds the call as far as it got, as
 * it would have without us. Calls that wait without a limit need no watching: the kernel is told
 * that they ended with ERESTARTNOHAND, and makes them again unless a handler runs.
 *
 * Where a filter is installed (seccomp), it may not know restart_syscall(), which the kernel uses
 * for poll(), nanosleep() and futex(), and end the program: there such calls are made again by
 * their own numbers. */
#include "record/ptrace/ptrace_continue.h"

#include "record/clocks.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { MOST_TRIES = 1000 };

/* --- beginning ------------------------------------------------------------------------------- */

static uint64_t rest_left_ns(const struct ptrace_rest *rest)
{
    uint64_t now = clock_now();
    if (rest->deadline_ns == UINT64_MAX)
        return UINT64_MAX;
    return rest->deadline_ns > now ? rest->deadline_ns - now : 0;
}

static void rest_put_scratch(struct ptrace_rest *rest)
{
    if (rest->scratch.is_used)
        ptrace_memory_write(rest->tid, rest->scratch.at, rest->scratch.bytes, FORM_SCRATCH_BYTES);
    rest->scratch.is_used = false;
}

/* Sets the thread up to make what is left; false: nothing is, or it cannot. */
static bool rest_try(struct ptrace_rest *rest)
{
    uint64_t arguments[CALL_ARGUMENTS];
    struct form_scratch next;
    rest->has_entered = false;
    memset(&next, 0, sizeof next);
    if (++rest->tries > MOST_TRIES || !form_rest(rest->form, &rest->call, rest->tid, rest->done,
                                                 rest_left_ns(rest), arguments, &next))
        return false;
    if (next.is_used) {
        struct form_scratch *kept = &rest->scratch;
        kept->at = next.at;
        if (!ptrace_memory_read(rest->tid, next.at, kept->bytes, FORM_SCRATCH_BYTES) ||
            !ptrace_memory_write(rest->tid, next.at, next.bytes, FORM_SCRATCH_BYTES))
            return false;
        kept->is_used = true;
    }
    rest->scratch.piece = next.piece;
    if (ptrace_call_again(rest->tid, &rest->call, arguments))
        return true;
    rest_put_scratch(rest);
    return false;
}

/* The time that a call that is made again may take. One that was cut a moment ago, while it was
 * made for the second time, goes on to have the limit of the first. */
static uint64_t rest_deadline(const struct ptrace_rest *rest, const struct ptrace_call *call,
                              const struct call_form *form, const struct ptrace_cut *cut)
{
    bool goes_on = rest->was_cut && rest->form == form && rest->call.pc == call->pc &&
                   rest->call.sp == call->sp;
    if (goes_on)
        return rest->deadline_ns;
    uint64_t limit = form_limit_ns(form, call, cut->pid, cut->tid), now = clock_now();
    if (limit == UINT64_MAX || limit > UINT64_MAX / 4)
        return UINT64_MAX;
    bool has_begun = !form_limit_is_sockets(form) && cut->since_ns < limit;
    return now + limit - (has_begun ? cut->since_ns : 0);
}

enum rest_way { REST_LEFT, REST_BY_KERNEL, REST_BY_US };

/* How a call that says an error is completed. */
static enum rest_way rest_of_failure(const struct ptrace_call *call, const struct call_form *form,
                                     const struct ptrace_cut *cut, bool is_undone,
                                     uint64_t deadline_ns)
{
    if (call->result == CALL_RESTART_BLOCK)
        return !cut->is_brief && proc_has_filter(cut->tid) ? REST_BY_US : REST_LEFT;
    if (!is_undone)
        return REST_LEFT;
    if (cut->is_brief || (deadline_ns == UINT64_MAX && form->limit != LIMIT_WORK))
        return REST_BY_KERNEL;
    return REST_BY_US;
}

bool ptrace_rest_begin(struct ptrace_rest *rest, const struct ptrace_cut *cut)
{
    struct ptrace_call call;
    bool has_call = ptrace_call_read(cut->tid, &call);
    const struct call_form *form = has_call ? form_find(&call) : NULL;
    if (!form || call.result == 0) {
        rest->was_cut = false;
        return false;
    }
    bool is_failure = call.result < 0;
    bool is_undone = form->error && call.result == -(int64_t)form->error;
    uint64_t deadline = is_undone || call.result == CALL_RESTART_BLOCK
                            ? rest_deadline(rest, &call, form, cut)
                            : UINT64_MAX;
    enum rest_way way = REST_LEFT;
    if (is_undone && form_limit_is_sockets(form) && deadline <= clock_now())
        ptrace_call_end(cut->tid, &call, -EAGAIN); /* that was its time */
    else if (is_failure)
        way = rest_of_failure(&call, form, cut, is_undone, deadline);
    else if (form_is_short(form, &call, cut->pid, cut->tid))
        way = REST_BY_US;
    if (way == REST_BY_KERNEL)
        ptrace_call_end(cut->tid, &call, CALL_RESTARTNOHAND);
    *rest = (struct ptrace_rest){.form = form,
                                 .call = call,
                                 .done = is_failure ? 0 : (uint64_t)call.result,
                                 .deadline_ns = deadline};
    if (way != REST_BY_US)
        return false;
    rest->has_registers = ptrace_registers_read(cut->tid, &rest->registers);
    rest->tid = cut->tid;
    if (!rest_try(rest))
        rest->tid = 0;
    return rest->tid != 0;
}

/* --- between --------------------------------------------------------------------------------- */

/* The sum, and the arguments as they were. */
static void rest_end(struct ptrace_rest *rest, int64_t result)
{
    rest_put_scratch(rest);
    ptrace_call_end(rest->tid, &rest->call, result);
    rest->was_cut = result == -EINTR || result == CALL_RESTART_BLOCK;
    rest->tid = 0;
}

/* What a rest that failed leaves is what was done before. recvmmsg() leaves the error that has
 * ended it to the next call on the socket, and that is the rest. */
static void rest_left(struct ptrace_rest *rest, int64_t result)
{
    bool is_old_error = rest->form->rest == REST_MESSAGES && result == CALL_RESTARTSYS;
    if (result > 0 && rest->form->rest != REST_WAIT)
        rest->done += (uint64_t)result;
    rest_put_scratch(rest);
    bool has_next = rest->scratch.piece && result == (int64_t)rest->scratch.piece;
    if ((has_next || (is_old_error && rest->tries == 1)) && rest_try(rest))
        return;
    rest_end(rest, rest->done ? (int64_t)rest->done : result);
}

bool ptrace_rest_stopped(struct ptrace_rest *rest, int status)
{
    struct ptrace_call now;
    bool is_call = WIFSTOPPED(status) && status >> 8 == (SIGTRAP | 0x80);
    if (!is_call)
        return false;
    if (!rest->has_entered)
        rest->has_entered = true;
    else if (ptrace_call_read(rest->tid, &now))
        rest_left(rest, now.result);
    else
        rest->tid = 0; /* it is gone */
    return true;
}

void ptrace_rest_undo(struct ptrace_rest *rest)
{
    if (!rest->has_entered)
        rest_end(rest, rest->call.result);
    rest->tid = 0;
}
