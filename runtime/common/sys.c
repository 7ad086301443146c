/* System calls without libc. See sys.h. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_SIGSET_BYTES 8

/* 32-bit machines with a 64-bit time_t have only the call that takes that. */
#if defined(SYS_rt_sigtimedwait_time64) && (__SIZEOF_LONG__ == 4) && \
    (!defined(SYS_rt_sigtimedwait) || (defined(_TIME_BITS) && _TIME_BITS == 64))
#define SIGTIMEDWAIT SYS_rt_sigtimedwait_time64
#else
#define SIGTIMEDWAIT SYS_rt_sigtimedwait
#endif

#ifdef SYS_THROUGH_LIBC
long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    int kept = errno;
    long r = syscall(n, a, b, c, d, e, f);
    if (r == -1)
        r = -errno;
    errno = kept;
    return r;
}
#endif

long sys_open(const char *path, int flags, unsigned mode)
{
    return SYS4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

long sys_close(int fd)
{
    return SYS3(SYS_close, fd, 0, 0);
}

long sys_read(int fd, void *to, size_t bytes)
{
    return SYS3(SYS_read, fd, to, bytes);
}

long sys_write(int fd, const void *from, size_t bytes)
{
    return SYS3(SYS_write, fd, from, bytes);
}

long sys_read_all(int fd, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        long n = sys_read(fd, (char *)to + done, bytes - done);
        if (n == 0)
            return -EIO;
        if (n < 0 && n != -EINTR)
            return n;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

long sys_write_all(int fd, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        long n = sys_write(fd, (const char *)from + done, bytes - done);
        if (n == 0)
            return -EIO;
        if (n < 0 && n != -EINTR)
            return n;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Both signals are sent to the thread that writes, so one that is pending after the write and was
 * not before is the write's. */
long sys_write_quietly(int fd, const void *from, size_t bytes)
{
    const uint64_t both = (uint64_t)1 << (SIGXFSZ - 1) | (uint64_t)1 << (SIGPIPE - 1);
    uint64_t mask, pending = 0;
    struct timespec none = {0, 0};
    sys_block(&mask);
    SYS3(SYS_rt_sigpending, &pending, KERNEL_SIGSET_BYTES, 0);
    long r = sys_write_all(fd, from, bytes);
    uint64_t own = both & ~pending;
    if (r < 0 && own)
        SYS4(SIGTIMEDWAIT, &own, 0, &none, KERNEL_SIGSET_BYTES);
    sys_unblock(&mask);
    return r;
}

long sys_mkdir(const char *path, unsigned mode)
{
    return SYS3(SYS_mkdirat, AT_FDCWD, path, mode);
}

long sys_rename(const char *from, const char *to)
{
    return SYS5(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

long sys_unlink(const char *path)
{
    return SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
}

bool sys_exists(const char *path)
{
    return SYS3(SYS_faccessat, AT_FDCWD, path, 0) == 0;
}

static long sys_mmap(uintptr_t at, size_t bytes, long how, int fd, uint64_t from)
{
    const long rights = PROT_READ | PROT_WRITE;
#if defined(__s390__) /* takes one argument: where the six are */
    const long six[] = {(long)at, (long)bytes, rights, how, fd, (long)from};
    return SYS3(SYS_mmap, six, 0, 0);
#elif defined(SYS_mmap2) /* its offset counts pages */
    enum { UNIT = 4096 };
    return sys6(SYS_mmap2, (long)at, (long)bytes, rights, how, fd, (long)(from / UNIT));
#else
    return sys6(SYS_mmap, (long)at, (long)bytes, rights, how, fd, (long)from);
#endif
}

void *sys_pages(size_t bytes)
{
    long r = sys_mmap(0, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return sys_failed(r) ? NULL : (void *)r;
}

void *sys_map(size_t bytes, int fd, uint64_t from)
{
    long r = sys_mmap(0, bytes, MAP_SHARED, fd, from);
    return sys_failed(r) ? NULL : (void *)r;
}

bool sys_map_over(uintptr_t at, size_t bytes)
{
    return !sys_failed(sys_mmap(at, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

bool sys_peek(uintptr_t at, void *bytes, size_t n)
{
    struct iovec to = {bytes, n}, from = {(void *)at, n};
    return sys6(SYS_process_vm_readv, sys_pid(), (long)&to, 1, (long)&from, 1, 0) == (long)n;
}

/* 32-bit machines take a 64-bit argument in two halves; Arm in a pair of registers that begins at
 * an even one, so that a register before it may be left out. */
#if __SIZEOF_LONG__ == 4
long sys_allocate(int fd, uint64_t at, uint64_t bytes)
{
    return sys6(SYS_fallocate, fd, 0, (long)at, (long)(at >> 32), (long)bytes, (long)(bytes >> 32));
}

long sys_write_at(int fd, const void *from, size_t bytes, uint64_t at)
{
#if defined(__arm__)
    return sys6(SYS_pwrite64, fd, (long)from, (long)bytes, 0, (long)at, (long)(at >> 32));
#else
    return SYS5(SYS_pwrite64, fd, from, bytes, at, at >> 32);
#endif
}
#else
long sys_allocate(int fd, uint64_t at, uint64_t bytes)
{
    return SYS4(SYS_fallocate, fd, 0, at, bytes);
}

long sys_write_at(int fd, const void *from, size_t bytes, uint64_t at)
{
    return SYS4(SYS_pwrite64, fd, from, bytes, at);
}
#endif

void sys_pages_free(void *at, size_t bytes)
{
    if (at)
        SYS3(SYS_munmap, at, bytes, 0);
}

int sys_pid(void)
{
    return (int)SYS3(SYS_getpid, 0, 0, 0);
}

int sys_tid(void)
{
    return (int)SYS3(SYS_gettid, 0, 0, 0);
}

_Noreturn void sys_exit(int status)
{
    for (;;)
        SYS3(SYS_exit_group, status, 0, 0);
}

void sys_raise(int signal)
{
    SYS3(SYS_tgkill, sys_pid(), sys_tid(), signal);
}

uint64_t sys_clock(int clock)
{
    struct timespec t = {0, 0};
    if (SYS3(SYS_clock_gettime, clock, &t, 0) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int sys_thread_clock(int tid)
{
    return (int)((~(unsigned)tid << 3) | 6); /* the kernel's CPUCLOCK_SCHED, per thread */
}

void sys_block(uint64_t *old)
{
    sys_block_but(old, 0);
}

void sys_block_but(uint64_t *old, int signal)
{
    uint64_t all = ~(uint64_t)0;
    if (signal)
        all &= ~((uint64_t)1 << (signal - 1));
    SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, KERNEL_SIGSET_BYTES);
}

void sys_unblock(const uint64_t *old)
{
    SYS4(SYS_rt_sigprocmask, SIG_SETMASK, old, 0, KERNEL_SIGSET_BYTES);
}

uint64_t sys_random(void)
{
    uint64_t n = 0;
    if (SYS3(SYS_getrandom, &n, sizeof n, 1 /* GRND_NONBLOCK */) == sizeof n)
        return n;
    return sys_clock(CLOCK_MONOTONIC) * 0x9e3779b97f4a7c15u ^ (uint64_t)sys_tid() << 32;
}

uint64_t sys_limit(int resource)
{
    uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};
    SYS4(SYS_prlimit64, 0, resource, 0, limit);
    return limit[0];
}
