/* System calls by number: a program may define or mock open, write and rename, and a thread may be
 * cancelled in libc's. They return the kernel's value (-errno on failure) and leave errno alone.
 * Specification: the kernel's ABI, syscall(2).
 *
 * By the instruction itself: usable between two instructions of the program, with libc's state in
 * any condition. Compiled with SYS_THROUGH_LIBC: through libc's syscall, usable in a signal
 * handler, on every architecture of Linux. */
#ifndef MONARC_RUNTIME_COMMON_SYS_H
#define MONARC_RUNTIME_COMMON_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(SYS_THROUGH_LIBC)
long sys6(long n, long a, long b, long c, long d, long e, long f);
#elif defined(__x86_64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    long r;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}
#elif defined(__aarch64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#elif defined(__riscv) && __riscv_xlen == 64
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    register long a7 __asm__("a7") = n;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
}
#elif defined(__i386__)
/* Two of the six go into registers that the compiler may keep for itself: all are loaded from
 * memory, whose address is in that of the fourth until the last moment. */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    const long all[6] = {a, b, c, d, e, f}, *at = all;
    __asm__ volatile("pushl %%ebx\n\tpushl %%ebp\n\t"
                     "movl (%1), %%ebx\n\tmovl 4(%1), %%ecx\n\tmovl 8(%1), %%edx\n\t"
                     "movl 16(%1), %%edi\n\tmovl 20(%1), %%ebp\n\tmovl 12(%1), %%esi\n\t"
                     "int $0x80\n\tpopl %%ebp\n\tpopl %%ebx"
                     : "+a"(n), "+S"(at)
                     :
                     : "ecx", "edx", "edi", "memory");
    return n;
}
#elif defined(__arm__)
/* The number belongs in r7, which Thumb code may use as its frame pointer: it is put there at the
 * last moment. */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d;
    register long r4 __asm__("r4") = e;
    register long r5 __asm__("r5") = f;
    register long ip __asm__("ip") = n;
    __asm__ volatile("mov r6, r7\n\tmov r7, ip\n\tsvc #0\n\tmov r7, r6"
                     : "+r"(r0)
                     : "r"(ip), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                     : "r6", "memory");
    return r0;
}
#else
#error "for this architecture there is SYS_THROUGH_LIBC alone"
#endif

#define SYS3(n, a, b, c)       sys6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d)    sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS5(n, a, b, c, d, e) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* True for the range of values that carry an error number. */
static inline int sys_failed(long r)
{
    return (unsigned long)r >= (unsigned long)-4095L;
}

long sys_open(const char *path, int flags, unsigned mode);
long sys_close(int fd);
long sys_read(int fd, void *to, size_t bytes);
long sys_write(int fd, const void *from, size_t bytes);
/* Writes without SIGXFSZ and SIGPIPE, which would end the program for what is not its own: their
 * errors remain. */
long sys_write_quietly(int fd, const void *from, size_t bytes);
/* All of it or an error; a file that ends early, or takes no more, is -EIO. */
long sys_read_all(int fd, void *to, size_t bytes);
long sys_write_all(int fd, const void *from, size_t bytes);
long sys_mkdir(const char *path, unsigned mode);
long sys_rename(const char *from, const char *to);
long sys_unlink(const char *path);
bool sys_exists(const char *path);
/* Zero pages, or NULL. */
void *sys_pages(size_t bytes);
/* mmap(2) of a file, shared, to read and write, from a multiple of the page size on; NULL if it
 * fails. */
void *sys_map(size_t bytes, int fd, uint64_t from);
/* Zero pages in the place of others; false if that fails. */
bool sys_map_over(uintptr_t at, size_t bytes);
/* Bytes of this process's memory, which the kernel reads: false if any are not there. */
bool sys_peek(uintptr_t at, void *bytes, size_t n);
/* Blocks on disk for a part of a file. */
long sys_allocate(int fd, uint64_t at, uint64_t bytes);
long sys_write_at(int fd, const void *from, size_t bytes, uint64_t at);
void sys_pages_free(void *at, size_t bytes);
int sys_pid(void);
int sys_tid(void);
/* Ends the process. */
_Noreturn void sys_exit(int status);
/* Sends the signal to this thread. */
void sys_raise(int signal);
/* Nanoseconds of a clock of clock_gettime(2), 0 if it does not exist. */
uint64_t sys_clock(int clock);
/* The CPU clock of a thread of this process. */
int sys_thread_clock(int tid);
/* Blocks every signal; the old mask goes back with sys_unblock. */
void sys_block(uint64_t *old);
/* Every signal but this one, if it is not 0. */
void sys_block_but(uint64_t *old, int signal);
void sys_unblock(const uint64_t *old);
/* An unpredictable number, if the kernel has one; else one that differs. */
uint64_t sys_random(void);
/* The soft limit of a resource, UINT64_MAX if there is none. */
uint64_t sys_limit(int resource);

#endif
