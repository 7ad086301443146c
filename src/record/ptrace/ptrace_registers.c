/* Registers of stopped threads, and of the calls that they are at the end of.
 *
 * All registers come by PTRACE_GETREGSET with NT_PRSTATUS (struct user_regs_struct of <sys/user.h>
 * and <asm/ptrace.h>) as an array of words; which word is which register is a row of src/arch.
 *
 * Calls are made again on x86-64 alone. It keeps the arguments and the number of a call in the
 * registers of a thread that stops at its end, for programs of both word sizes. (PTRACE_GETREGS
 * shows a 32-bit program's in the 64-bit layout.) aarch64 and riscv64 have put the result over the
 * first argument by then and do not say whether the thread has left the call. */
#include "record/ptrace/ptrace_registers.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

/* Whether the instruction at an address makes a system call. */
static bool is_syscall_at(pid_t tid, uint64_t address, const struct arch *a)
{
    uint8_t found[sizeof a->syscall_code];
    return ptrace_memory_read(tid, address, found, a->syscall_code_len) &&
           !memcmp(found, a->syscall_code, a->syscall_code_len);
}

bool ptrace_registers_read(pid_t tid, struct ptrace_registers *out)
{
    enum { MOST_WORDS = 64, MOST_SYSCALLS = 4096 };
    const struct arch *a = arch_own();
    uint64_t words[MOST_WORDS];
    if (!arch_has_stacks(a))
        return false;
    struct iovec part = {words, a->regset_len * sizeof *words};
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) ||
        part.iov_len != a->regset_len * sizeof *words ||
        (a->mode_word && words[a->mode_word] != a->mode))
        return false;
    out->user = (struct unwind_registers){.known = 0};
    for (unsigned i = 0; i < a->regset->len; i++) {
        int number = a->regset->at[i];
        if (number == REGISTER_PC)
            out->user.pc = words[i];
        if (number < 0)
            continue;
        out->user.at[number] = words[i];
        out->user.known |= UINT32_C(1) << number;
    }
    out->sp = out->user.at[a->sp];
    if (a->syscall_word) { /* the kernel tells the number */
        int64_t number = (int64_t)words[a->syscall_word];
        out->syscall = number >= 0 ? number : -1;
        return true;
    }
    /* It has forgotten whether the thread is in a call: the instruction before the pc says so, or
     * the one at it where the call will be made again. */
    uint64_t number = out->user.at[a->syscall_register], pc = out->user.pc;
    bool is_call = is_syscall_at(tid, pc - a->syscall_code_len, a) || is_syscall_at(tid, pc, a);
    out->syscall = is_call && number < MOST_SYSCALLS ? (int64_t)number : -1;
    return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

bool ptrace_memory_read(pid_t tid, uint64_t from, void *to, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool ptrace_memory_write(pid_t tid, uint64_t to, const void *from, size_t size)
{
    struct iovec here = {(void *)(uintptr_t)from, size}, there = {(void *)(uintptr_t)to, size};
    return process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

#if defined(__x86_64__)

enum { INSTRUCTION_BYTES = 2 };

/* Where the arguments are, as offsets into struct user_regs_struct; and the instruction. */
struct call_machine {
    uint16_t code_segment;
    uint8_t word_bytes;
    uint8_t instruction[INSTRUCTION_BYTES];
    size_t arguments[CALL_ARGUMENTS];
};

#define AT(name) offsetof(struct user_regs_struct, name)
static const struct call_machine call_machines[CALL_ABIS] = {
    [CALL_X86_64] = {0x33, 8, {0x0f, 0x05}, {AT(rdi), AT(rsi), AT(rdx), AT(r10), AT(r8), AT(r9)}},
    [CALL_I386] = {0x23, 4, {0xcd, 0x80}, {AT(rbx), AT(rcx), AT(rdx), AT(rsi), AT(rdi), AT(rbp)}},
};
#undef AT

static unsigned long long *call_argument(struct user_regs_struct *r, const struct call_machine *m,
                                         int i)
{
    return (unsigned long long *)((char *)r + m->arguments[i]);
}

bool ptrace_call_read(pid_t tid, struct ptrace_call *out)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r) || (int64_t)r.orig_rax < 0)
        return false;
    for (int abi = 0; abi < CALL_ABIS; abi++) {
        const struct call_machine *m = &call_machines[abi];
        if (r.cs != m->code_segment)
            continue;
        *out = (struct ptrace_call){.abi = (enum call_abi)abi,
                                    .word_bytes = m->word_bytes,
                                    .number = (int64_t)r.orig_rax,
                                    .result = m->word_bytes == 4 ? (int32_t)r.rax : (int64_t)r.rax,
                                    .pc = r.rip,
                                    .sp = r.rsp};
        for (int i = 0; i < CALL_ARGUMENTS; i++)
            out->arguments[i] = *call_argument(&r, m, i);
        return true;
    }
    return false;
}

bool ptrace_call_again(pid_t tid, const struct ptrace_call *call,
                       const uint64_t arguments[CALL_ARGUMENTS])
{
    const struct call_machine *m = &call_machines[call->abi];
    struct user_regs_struct r;
    uint8_t code[INSTRUCTION_BYTES];
    if (!ptrace_memory_read(tid, call->pc - INSTRUCTION_BYTES, code, sizeof code) ||
        code[0] != m->instruction[0] || code[1] != m->instruction[1] ||
        ptrace(PTRACE_GETREGS, tid, 0, &r))
        return false;
    for (int i = 0; i < CALL_ARGUMENTS; i++)
        *call_argument(&r, m, i) = arguments[i];
    r.rax = (unsigned long long)call->number;
    r.orig_rax = (unsigned long long)-1; /* that call is over: the kernel is not to repeat it */
    r.rip = call->pc - INSTRUCTION_BYTES;
    return !ptrace(PTRACE_SETREGS, tid, 0, &r);
}

void ptrace_call_end(pid_t tid, const struct ptrace_call *call, int64_t result)
{
    const struct call_machine *m = &call_machines[call->abi];
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r))
        return;
    for (int i = 0; i < CALL_ARGUMENTS; i++)
        *call_argument(&r, m, i) = call->arguments[i];
    r.rax = (unsigned long long)result;
    r.orig_rax = (unsigned long long)call->number;
    r.rip = call->pc;
    ptrace(PTRACE_SETREGS, tid, 0, &r); /* fails if the thread is gone */
}

#else /* no call is made again */

bool ptrace_call_read(pid_t tid, struct ptrace_call *out)
{
    (void)tid;
    (void)out;
    return false;
}

bool ptrace_call_again(pid_t tid, const struct ptrace_call *call,
                       const uint64_t arguments[CALL_ARGUMENTS])
{
    (void)tid;
    (void)call;
    (void)arguments;
    return false;
}

void ptrace_call_end(pid_t tid, const struct ptrace_call *call, int64_t result)
{
    (void)tid;
    (void)call;
    (void)result;
}

#endif
