/* What a stopped thread's registers say: where it was, in which system call, and with what stack.
 *
 * On x86-64 the kernel reports the system call. On aarch64 and riscv64 it has forgotten it when a
 * thread stops, and the instruction before the pc, or at it where the call will be made again, is
 * read. Programs of another word size than ours have no registers here. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_REGISTERS_H
#define MONARC_RECORD_PTRACE_PTRACE_REGISTERS_H

#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ptrace_registers {
    struct unwind_registers user;
    uint64_t sp;
    int64_t syscall; /* the number; -1: none */
    uint64_t thread; /* the thread pointer; 0: not known */
};

/* false: the thread is gone or not stopped, or not of our machine, or that has no stacks in
 * src/arch. */
bool ptrace_registers_read(pid_t tid, struct ptrace_registers *out);

/* --- calls ------------------------------------------------------------------------------------ */

/* A system call that a stopped thread is at the end of: what it was asked, what it says, and how it
 * is made again. */
enum call_abi { CALL_X86_64, CALL_I386, CALL_ABIS };
enum { CALL_ARGUMENTS = 6 };

struct ptrace_call {
    enum call_abi abi;
    uint8_t word_bytes; /* of a pointer */
    int64_t number, result;
    uint64_t arguments[CALL_ARGUMENTS];
    uint64_t pc, sp;
};

/* What the kernel says to itself, and a program never sees: signal(7), "Interruption of system
 * calls", and <linux/errno.h>. */
enum call_restart {
    CALL_RESTARTSYS = -512,
    CALL_RESTARTNOHAND = -514,
    CALL_RESTART_BLOCK = -516 /* by another call, restart_syscall() */
};

/* false: it is not at the end of a call, or on a machine of which that cannot be known. */
bool ptrace_call_read(pid_t tid, struct ptrace_call *out);

/* Has the call made anew with these arguments, when the thread goes on. false: it is gone, or there
 * is no instruction that would make a call. */
bool ptrace_call_again(pid_t tid, const struct ptrace_call *call,
                       const uint64_t arguments[CALL_ARGUMENTS]);

/* The call is over with this result, arguments and place are as in `call`. */
void ptrace_call_end(pid_t tid, const struct ptrace_call *call, int64_t result);

/* Both copy all or nothing. */
bool ptrace_memory_read(pid_t tid, uint64_t from, void *to, size_t size);
bool ptrace_memory_write(pid_t tid, uint64_t to, const void *from, size_t size);

#endif
