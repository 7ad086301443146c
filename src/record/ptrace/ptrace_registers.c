/* Registers of stopped threads, and of the calls that they are at the end of.
 *
 * All registers come by PTRACE_GETREGSET with NT_PRSTATUS (struct user_regs_struct of <sys/user.h>
 * and <asm/ptrace.h>) as an array of words; which word is which register is a row of src/arch.
 *
 * Calls are made again where the row says how: on x86-64 alone, which keeps the arguments and the
 * number of a call in the registers of a thread that stops at its end, for programs of both word
 * sizes. aarch64 and riscv64 have put the result over the first argument by then and do not say
 * whether the thread has left the call. */
#include "record/ptrace/ptrace_registers.h"
#include "record/proc_threads.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { MOST_WORDS = 64 }; /* of the registers of a thread, on any machine */

/* Whether the instruction at an address makes a system call. */
static bool is_syscall_at(pid_t tid, uint64_t address, const struct arch *a)
{
    uint8_t found[sizeof a->syscall_code];
    return ptrace_memory_read(tid, address, found, a->syscall_code_len) &&
           !memcmp(found, a->syscall_code, a->syscall_code_len);
}

bool ptrace_registers_read(pid_t tid, struct ptrace_registers *out)
{
    enum { MOST_SYSCALLS = 4096 };
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
        int8_t number = a->regset->at[i];
        if (number == REGISTER_PC)
            out->user.pc = words[i];
        if (number < 0)
            continue;
        out->user.at[number] = words[i];
        out->user.known |= UINT32_C(1) << number;
    }
    out->sp = out->user.at[a->sp];
    out->thread = a->thread_word ? words[a->thread_word] : 0;
    if (a->syscall_word) { /* the kernel reports the number */
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
    return proc_read_memory(tid, from, to, size) == size;
}

bool ptrace_memory_write(pid_t tid, uint64_t to, const void *from, size_t size)
{
    struct iovec here = {(void *)(uintptr_t)from, size}, there = {(void *)(uintptr_t)to, size};
    return process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool ptrace_call_read(pid_t tid, struct ptrace_call *out)
{
    const struct arch *a = arch_own();
    const struct arch_calls *c = a ? a->calls : NULL;
    uint64_t words[MOST_WORDS];
    if (!c || ptrace(c->read, tid, 0, words) || (int64_t)words[a->syscall_word] < 0)
        return false;
    for (int abi = 0; abi < CALL_ABIS; abi++) {
        const struct call_convention *by = &c->of[abi];
        if (words[a->mode_word] != by->mode)
            continue;
        uint64_t result = words[c->result];
        *out = (struct ptrace_call){.abi = (enum call_abi)abi,
                                    .word_bytes = by->word,
                                    .number = (int64_t)words[a->syscall_word],
                                    .result = by->word == 4 ? (int32_t)result : (int64_t)result,
                                    .pc = words[c->pc],
                                    .sp = words[c->sp]};
        for (int i = 0; i < CALL_ARGUMENTS; i++)
            out->arguments[i] = words[by->arguments[i]];
        return true;
    }
    return false;
}

/* The call was read, so that the machine has a row of calls. */
bool ptrace_call_again(pid_t tid, const struct ptrace_call *call,
                       const uint64_t arguments[CALL_ARGUMENTS])
{
    const struct arch *a = arch_own();
    const struct call_convention *by = &a->calls->of[call->abi];
    uint64_t words[MOST_WORDS], start = call->pc - sizeof by->code;
    uint8_t code[sizeof by->code];
    if (!ptrace_memory_read(tid, start, code, sizeof code) ||
        memcmp(code, by->code, sizeof code) != 0 || ptrace(a->calls->read, tid, 0, words))
        return false;
    for (int i = 0; i < CALL_ARGUMENTS; i++)
        words[by->arguments[i]] = arguments[i];
    words[a->calls->result] = (uint64_t)call->number;
    words[a->syscall_word] = UINT64_MAX; /* that call is over: the kernel is not to repeat it */
    words[a->calls->pc] = start;
    return !ptrace(a->calls->write, tid, 0, words);
}

void ptrace_call_end(pid_t tid, const struct ptrace_call *call, int64_t result)
{
    const struct arch *a = arch_own();
    const struct call_convention *by = &a->calls->of[call->abi];
    uint64_t words[MOST_WORDS];
    if (ptrace(a->calls->read, tid, 0, words))
        return;
    for (int i = 0; i < CALL_ARGUMENTS; i++)
        words[by->arguments[i]] = call->arguments[i];
    words[a->calls->result] = (uint64_t)result;
    words[a->syscall_word] = (uint64_t)call->number;
    words[a->calls->pc] = call->pc;
    ptrace(a->calls->write, tid, 0, words); /* fails if the thread is gone */
}
