/* Counter files. See file.h. */
#include "file.h"
#include "../common/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#ifndef RENAME_EXCHANGE
#include <linux/fs.h>
#endif
#ifndef STATX_BASIC_STATS /* musl before 1.2.4 leaves it to the kernel */
#include <linux/stat.h>
#endif

#ifdef SYS_fchown32
#define FCHOWN SYS_fchown32
#else
#define FCHOWN SYS_fchown
#endif

long file_rewrite(int fd, const void *from, size_t bytes)
{
#ifdef SYS__llseek
    uint64_t at;
    SYS5(SYS__llseek, fd, 0, 0, &at, SEEK_SET);
#else
    SYS3(SYS_lseek, fd, 0, SEEK_SET);
#endif
    return sys_write_all(fd, from, bytes);
}

long file_lock(int fd)
{
#ifdef SYS_fcntl64
    struct flock64 all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return SYS3(SYS_fcntl64, fd, F_SETLKW64, &all);
#else
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return SYS3(SYS_fcntl, fd, F_SETLKW, &all);
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
    to->links = s->stx_nlink;
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
    *to = (struct file_status){s->st_ino, s->st_dev, (uint64_t)s->st_size, s->st_mode,
                               s->st_uid, s->st_gid, (uint32_t)s->st_nlink};
    return 0;
}

long file_status(int fd, struct file_status *to)
{
    struct statx s;
    struct stat old;
    long r = SYS5(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &s);
    if (r == 0)
        take_status(to, &s);
    return lacks_statx(r) ? take_stat(to, &old, fstat(fd, &old)) : r;
}

long file_status_of(const char *path, struct file_status *to)
{
    struct statx s;
    struct stat old;
    /* Whatever a client of a network file system remembers of it. */
    long r = SYS5(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC,
                  STATX_BASIC_STATS, &s);
    if (r == 0)
        take_status(to, &s);
    return lacks_statx(r) ? take_stat(to, &old, lstat(path, &old)) : r;
}

void file_inherit(int fd, const struct file_status *now, const struct file_status *from)
{
    if (now->owner != from->owner || now->group != from->group)
        SYS3(FCHOWN, fd, from->owner, from->group);
    if ((now->mode & 0777) != (from->mode & 0777))
        SYS3(SYS_fchmod, fd, from->mode & 0777, 0);
}

long file_exchange(const char *a, const char *b)
{
    return SYS5(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

long file_link(const char *from, const char *to)
{
    return SYS5(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

long file_rename_new(const char *from, const char *to)
{
    return SYS5(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

long file_symlink(const char *text, const char *path)
{
    return SYS3(SYS_symlinkat, text, AT_FDCWD, path);
}

long file_readlink(const char *path, char *to, size_t bytes)
{
    return SYS4(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}
