/* System calls without libc. See sys.h. */
#include "sys.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define KERNEL_SIGSET_BYTES 8

long sys_open(const char *path, int flags, int mode)
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

long sys_mkdir(const char *path)
{
    return SYS3(SYS_mkdirat, AT_FDCWD, path, 0777);
}

long sys_rename(const char *from, const char *to)
{
    return SYS5(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

long sys_unlink(const char *path)
{
    return SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
}

int sys_exists(const char *path)
{
    return SYS3(SYS_faccessat, AT_FDCWD, path, 0) == 0;
}

void *sys_pages(size_t bytes)
{
    long r = sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return sys_failed(r) ? NULL : (void *)r;
}

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
    uint64_t all = ~(uint64_t)0;
    SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, KERNEL_SIGSET_BYTES);
}

void sys_unblock(const uint64_t *old)
{
    SYS4(SYS_rt_sigprocmask, SIG_SETMASK, old, 0, KERNEL_SIGSET_BYTES);
}

uint64_t sys_limit(int resource)
{
    uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};
    SYS4(SYS_prlimit64, 0, resource, 0, limit);
    return limit[0];
}
