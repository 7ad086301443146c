/* Files on the host of a debugger or emulator, by Arm's semihosting calls, which RISC-V has as
 * well. Without a debugger such a call ends in a fault: for that, there are other ways out. */
#include <monarc/embedded.h>

#if defined(__arm__) || defined(__aarch64__) || defined(__riscv)

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE = 5, SYS_EXIT = 0x18, SYS_EXIT_EXTENDED = 0x20 };
enum { OPEN_WRITE_BINARY = 5 };

#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

/* The host reads and writes memory. */
static MONARC_QUIET uintptr_t semihosting_call(uintptr_t operation, const void *block)
{
#if defined(__aarch64__)
    register uintptr_t r0 __asm__("x0") = operation;
    register const void *r1 __asm__("x1") = block;
    __asm__ volatile("hlt #0xf000" : "+r"(r0) : "r"(r1) : "memory");
#elif defined(__riscv)
    register uintptr_t r0 __asm__("a0") = operation;
    register const void *r1 __asm__("a1") = block;
    __asm__ volatile(".balign 16\n\t.option push\n\t.option norvc\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
                     : "+r"(r0)
                     : "r"(r1)
                     : "memory");
#else
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
#if __ARM_ARCH_PROFILE == 'M'
    __asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
#elif defined(__thumb__)
    __asm__ volatile("svc #0xab" : "+r"(r0) : "r"(r1) : "memory", "lr");
#else
    __asm__ volatile("svc #0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
#endif
#endif
    return r0;
}

MONARC_QUIET int monarc_embedded_semihosting_open(const char *name)
{
    uintptr_t block[3] = {(uintptr_t)name, OPEN_WRITE_BINARY, 0};
    while (name[block[2]])
        block[2]++;
    return (int)semihosting_call(SYS_OPEN, block);
}

/* The call returns how many bytes were not written. */
MONARC_QUIET bool monarc_embedded_semihosting_write(void *handle, const void *bytes,
                                                    uint32_t length)
{
    uintptr_t block[3] = {(uintptr_t) * (int *)handle, (uintptr_t)bytes, length};
    return semihosting_call(SYS_WRITE, block) == 0;
}

MONARC_QUIET void monarc_embedded_semihosting_close(int handle)
{
    uintptr_t block[1] = {(uintptr_t)handle};
    semihosting_call(SYS_CLOSE, block);
}

MONARC_QUIET void monarc_embedded_semihosting_exit(int status)
{
    uintptr_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uintptr_t)status};
#if defined(__aarch64__)
    semihosting_call(SYS_EXIT, block);
#else
    semihosting_call(SYS_EXIT_EXTENDED, block);
#endif
}

#endif
