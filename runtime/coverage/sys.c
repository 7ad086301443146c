/* System calls by number. See sys.h. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_SIGSET_BYTES 8

long sys_call(long number, long a, long b, long c, long d, long e)
{
    int kept = errno;
    long r = syscall(number, a, b, c, d, e);
    if (r == -1)
        r = -errno;
    errno = kept;
    return r;
}

#ifdef SYS_fchown32
#define FCHOWN SYS_fchown32
#else
#define FCHOWN SYS_fchown
#endif
#define CALL1(n, a)             sys_call(n, (long)(a), 0, 0, 0, 0)
#define CALL2(n, a, b)          sys_call(n, (long)(a), (long)(b), 0, 0, 0)
#define CALL3(n, a, b, c)       sys_call(n, (long)(a), (long)(b), (long)(c), 0, 0)
#define CALL4(n, a, b, c, d)    sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define CALL5(n, a, b, c, d, e) sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

long sys_open(const char *path, int flags, unsigned mode)
{
    return CALL4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

long sys_close(int fd)
{
    return CALL1(SYS_close, fd);
}

long sys_read_all(int fd, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        long n = CALL3(SYS_read, fd, (char *)to + done, bytes - done);
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
        long n = CALL3(SYS_write, fd, (const char *)from + done, bytes - done);
        if (n == 0)
            return -EIO;
        if (n < 0 && n != -EINTR)
            return n;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

long sys_truncate(int fd)
{
    return CALL4(SYS_ftruncate, fd, 0, 0, 0);
}

long sys_rewrite(int fd, const void *from, size_t bytes)
{
#ifdef SYS__llseek
    uint64_t at;
    CALL5(SYS__llseek, fd, 0, 0, &at, SEEK_SET);
#else
    CALL3(SYS_lseek, fd, 0, SEEK_SET);
#endif
    return sys_write_all(fd, from, bytes);
}

long sys_lock(int fd)
{
#ifdef SYS_fcntl64
    struct flock64 all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return CALL3(SYS_fcntl64, fd, F_SETLKW64, &all);
#else
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return CALL3(SYS_fcntl, fd, F_SETLKW, &all);
#endif
}

static void take_status(struct file_status *to, const struct statx *s)
{
    to->inode = s->stx_ino;
    to->device = (uint64_t)s->stx_dev_major << 32 | s->stx_dev_minor;
    to->size_bytes = s->stx_size;
    to->mode = s->stx_mode;
    to->owner = s->stx_uid;
    to->group = s->stx_gid;
}

/* Kernels before 4.11, and filters of system calls that never heard of it. */
static bool lacks_statx(long r)
{
    return r == -ENOSYS || r == -EPERM;
}

static long take_stat(struct file_status *to, const struct stat *s, int r)
{
    if (r != 0)
        return -errno;
    *to = (struct file_status){s->st_ino,  s->st_dev, (uint64_t)s->st_size,
                               s->st_mode, s->st_uid, s->st_gid};
    return 0;
}

long sys_status(int fd, struct file_status *to)
{
    struct statx s;
    struct stat old;
    long r = CALL5(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &s);
    if (r == 0)
        take_status(to, &s);
    return lacks_statx(r) ? take_stat(to, &old, fstat(fd, &old)) : r;
}

long sys_status_of(const char *path, struct file_status *to)
{
    struct statx s;
    struct stat old;
    long r = CALL5(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &s);
    if (r == 0)
        take_status(to, &s);
    return lacks_statx(r) ? take_stat(to, &old, lstat(path, &old)) : r;
}

void sys_inherit(int fd, const struct file_status *now, const struct file_status *from)
{
    if (now->owner != from->owner || now->group != from->group)
        CALL3(FCHOWN, fd, from->owner, from->group);
    if ((now->mode & 0777) != (from->mode & 0777))
        CALL2(SYS_fchmod, fd, from->mode & 0777);
}

long sys_rename(const char *from, const char *to)
{
    return CALL5(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

long sys_exchange(const char *a, const char *b)
{
    return CALL5(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

long sys_link(const char *from, const char *to)
{
    return CALL5(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

long sys_unlink(const char *path)
{
    return CALL3(SYS_unlinkat, AT_FDCWD, path, 0);
}

long sys_mkdir(const char *path)
{
    return CALL3(SYS_mkdirat, AT_FDCWD, path, 0777);
}

long sys_readlink(const char *path, char *to, size_t bytes)
{
    return CALL4(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}

int sys_pid(void)
{
    return (int)CALL1(SYS_getpid, 0);
}

_Noreturn void sys_exit(int status)
{
    for (;;)
        CALL1(SYS_exit_group, status);
}

void sys_raise(int signal)
{
    CALL3(SYS_tgkill, sys_pid(), CALL1(SYS_gettid, 0), signal);
}

void *sys_pages(size_t bytes)
{
    int kept = errno;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = kept;
    return at == MAP_FAILED ? NULL : at;
}

void sys_pages_free(void *at, size_t bytes)
{
    if (at)
        CALL2(SYS_munmap, at, bytes);
}

void sys_block(uint64_t *old)
{
    uint64_t all = ~(uint64_t)0;
    CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, KERNEL_SIGSET_BYTES);
}

void sys_unblock(const uint64_t *old)
{
    CALL4(SYS_rt_sigprocmask, SIG_SETMASK, old, 0, KERNEL_SIGSET_BYTES);
}

uint64_t sys_file_limit(void)
{
    uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};
    CALL4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, limit);
    return limit[0];
}

/* 0 free, 1 taken, 2 taken with somebody waiting. */
void mutex_lock(struct mutex *m)
{
    int free = 0;
    if (__atomic_compare_exchange_n(&m->state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&m->state, 2, __ATOMIC_ACQUIRE) != 0)
        CALL4(SYS_futex, &m->state, FUTEX_WAIT_PRIVATE, 2, 0);
}

void mutex_unlock(struct mutex *m)
{
    if (__atomic_exchange_n(&m->state, 0, __ATOMIC_RELEASE) == 2)
        CALL3(SYS_futex, &m->state, FUTEX_WAKE_PRIVATE, 1);
}
