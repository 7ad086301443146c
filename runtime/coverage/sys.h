/* System calls by number, through libc's syscall alone: a covered program may well define or mock
 * open, write and rename, and a thread may be cancelled in libc's. Usable in a signal handler.
 * Every architecture of Linux. They return the kernel's value or -errno and leave errno alone.
 * Specification: syscall(2). */
#ifndef MONARC_COVER_SYS_H
#define MONARC_COVER_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

long sys_call(long number, long a, long b, long c, long d, long e);

/* What identifies a file, and what a successor takes over from it. */
struct file_status {
    uint64_t inode, device, size_bytes;
    uint32_t mode, owner, group;
};

long sys_open(const char *path, int flags, unsigned mode);
long sys_close(int fd);
/* All of it or an error; a file that ends early is -EIO. */
long sys_read_all(int fd, void *to, size_t bytes);
long sys_write_all(int fd, const void *from, size_t bytes);
long sys_truncate(int fd);
/* Writes from the beginning. */
long sys_rewrite(int fd, const void *from, size_t bytes);
/* Waits for the write lock on the whole file. */
long sys_lock(int fd);
long sys_status(int fd, struct file_status *to);
long sys_status_of(const char *path, struct file_status *to);
/* Gives a file that is as `now` the mode of `from`, and the owner where that is allowed. */
void sys_inherit(int fd, const struct file_status *now, const struct file_status *from);
long sys_rename(const char *from, const char *to);
/* Each gets the other's name. */
long sys_exchange(const char *a, const char *b);
long sys_link(const char *from, const char *to);
long sys_unlink(const char *path);
long sys_mkdir(const char *path);
long sys_readlink(const char *path, char *to, size_t bytes);
int sys_pid(void);
/* Ends the process. */
_Noreturn void sys_exit(int status);
/* Sends the signal to this thread. */
void sys_raise(int signal);
/* Zero pages, or NULL. */
void *sys_pages(size_t bytes);
void sys_pages_free(void *at, size_t bytes);
/* Blocks every signal; the old mask goes back with sys_unblock. */
void sys_block(uint64_t *old);
void sys_unblock(const uint64_t *old);
/* Largest file that a write may make, UINT64_MAX if there is no limit. */
uint64_t sys_file_limit(void);

/* A lock between threads that nobody needs to initialise. */
struct mutex {
    int state;
};
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#endif
