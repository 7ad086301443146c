/* Making the rest of a call: the same instruction again, with other arguments, between two stops.
 *
 * Only calls whose second part does what the first would have gone on to do are touched: another
 * read() from a pipe could wait for bytes that nobody sends. x86-64 alone: elsewhere the number of
 * the call is not known at its end, and nothing is done. */
#include "record/ptrace/ptrace_continue.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)

/* Which argument is the address that moves on, or none; and which is the length. */
struct rest_form {
    unsigned long long *address, *length;
};

/* /dev/zero, /dev/random and /dev/urandom: a short read of them has no other cause. */
static bool rest_is_endless(pid_t tid, int fd)
{
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid, fd);
    return !stat(path, &file) && S_ISCHR(file.st_mode) && major(file.st_rdev) == 1 &&
           (minor(file.st_rdev) == 5 || minor(file.st_rdev) == 8 || minor(file.st_rdev) == 9);
}

/* pread() and pwrite() go on at another place of the file, too; files are not cut short. */
static bool rest_form(struct user_regs_struct *r, pid_t tid, struct rest_form *out)
{
    switch (r->orig_rax) {
    case SYS_read:
        *out = (struct rest_form){&r->rsi, &r->rdx};
        return rest_is_endless(tid, (int)r->rdi);
    case SYS_write: *out = (struct rest_form){&r->rsi, &r->rdx}; return true;
    case SYS_sendto: *out = (struct rest_form){&r->rsi, &r->rdx}; return r->r8 == 0;
    case SYS_getrandom: *out = (struct rest_form){&r->rdi, &r->rsi}; return true;
    case SYS_sendfile: *out = (struct rest_form){NULL, &r->r10}; return true;
    default: return false;
    }
}

static bool rest_has_instruction(pid_t tid, uint64_t pc)
{
    uint8_t code[2] = {0};
    struct iovec to = {code, sizeof code}, from = {(void *)(uintptr_t)(pc - 2), sizeof code};
    return process_vm_readv(tid, &to, 1, &from, 1, 0) == sizeof code && code[0] == 0x0f &&
           code[1] == 0x05;
}

bool ptrace_rest_begin(struct ptrace_rest *rest, pid_t tid)
{
    enum { USER_CODE_64 = 0x33 };
    struct user_regs_struct r, before;
    struct rest_form form;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r) || r.cs != USER_CODE_64 || (long long)r.rax <= 0 ||
        (long long)r.orig_rax < 0)
        return false;
    before = r;
    if (!rest_form(&r, tid, &form) || r.rax >= *form.length || !rest_has_instruction(tid, r.rip))
        return false;
    *rest = (struct ptrace_rest){.tid = tid,
                                 .number = r.orig_rax,
                                 .done = r.rax,
                                 .address = form.address ? *form.address : 0,
                                 .length = *form.length};
    if (form.address)
        *form.address += r.rax;
    *form.length -= r.rax;
    r.rax = r.orig_rax;
    r.orig_rax = (unsigned long long)-1; /* the call is over: the kernel is not to repeat it */
    r.rip -= 2;
    if (!ptrace(PTRACE_SETREGS, tid, 0, &r) && !ptrace(PTRACE_SYSCALL, tid, 0, 0))
        return true;
    (void)!ptrace(PTRACE_SETREGS, tid, 0, &before); /* fails if the thread is gone */
    rest->tid = 0;
    return false;
}

/* The sum, and the arguments as they were. */
static void rest_end(struct ptrace_rest *rest, uint64_t more, bool is_undone)
{
    struct user_regs_struct r;
    struct rest_form form;
    pid_t tid = rest->tid;
    rest->tid = 0;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r))
        return;
    r.orig_rax = rest->number;
    (void)rest_form(&r, tid, &form);
    if (form.address)
        *form.address = rest->address;
    *form.length = rest->length;
    r.rax = rest->done + more;
    r.rip += is_undone ? 2 : 0;
    ptrace(PTRACE_SETREGS, tid, 0, &r);
}

/* A signal ends the rest as it would have ended the whole: with what was done. */
static uint64_t rest_result(pid_t tid)
{
    struct user_regs_struct r;
    return !ptrace(PTRACE_GETREGS, tid, 0, &r) && (long long)r.rax > 0 ? r.rax : 0;
}

bool ptrace_rest_stopped(struct ptrace_rest *rest, int status)
{
    bool is_call = WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
    if (!is_call)
        return false;
    if (rest->has_entered)
        rest_end(rest, rest_result(rest->tid), false);
    else
        ptrace(PTRACE_SYSCALL, rest->tid, 0, 0);
    rest->has_entered = true;
    return true;
}

void ptrace_rest_undo(struct ptrace_rest *rest)
{
    if (!rest->has_entered)
        rest_end(rest, 0, true);
    rest->tid = 0;
}

#else

bool ptrace_rest_begin(struct ptrace_rest *rest, pid_t tid)
{
    (void)tid;
    rest->tid = 0;
    return false;
}

bool ptrace_rest_stopped(struct ptrace_rest *rest, int status)
{
    (void)rest;
    (void)status;
    return false;
}

void ptrace_rest_undo(struct ptrace_rest *rest)
{
    (void)rest;
}

#endif
