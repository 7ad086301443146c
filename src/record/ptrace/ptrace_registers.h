/* What a stopped thread's registers say: where it was, in which system call, and with what stack.
 *
 * On x86-64 the kernel tells the system call. On aarch64 and riscv64 it has forgotten it when a
 * thread stops, and the instruction before the pc, or at it where the call will be made again, is
 * looked at. Programs of another word size than ours have no registers here. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_REGISTERS_H
#define MONARC_RECORD_PTRACE_PTRACE_REGISTERS_H

#include "unwind/unwind.h"

#include <sys/types.h>

struct ptrace_registers {
    struct unwind_registers user;
    uint64_t sp;
    int64_t syscall; /* the number; -1: none */
};

/* The machine this was built for, or UNWIND_NO_MACHINE. */
enum unwind_machine ptrace_machine(void);

/* false: the thread is gone or not stopped, or not of our machine. */
bool ptrace_registers_read(pid_t tid, struct ptrace_registers *out);

/* Copies the stack from `sp` on as far as it goes, at most `room` bytes; returns how much. */
size_t ptrace_read_stack(pid_t tid, uint64_t sp, uint8_t *to, size_t room);

#endif
