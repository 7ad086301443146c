/* What counter files need of the kernel: their identity, locks, names. In terms of common/sys.h:
 * the kernel's value or -errno, errno left alone, usable in a signal handler. */
#ifndef MONARC_COVER_FILE_H
#define MONARC_COVER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What identifies a file, and what a successor takes over from it. */
struct file_status {
    uint64_t inode, device, size_bytes;
    uint32_t mode, owner, group, links;
};

/* Writes from the beginning. */
long file_rewrite(int fd, const void *from, size_t bytes);
/* Waits for the write lock on the whole file. */
long file_lock(int fd);
long file_status(int fd, struct file_status *to);
long file_status_of(const char *path, struct file_status *to);
/* Gives a file that is as `now` the mode of `from`, and the owner where that is allowed. */
void file_inherit(int fd, const struct file_status *now, const struct file_status *from);
/* Each gets the other's name. */
long file_exchange(const char *a, const char *b);
long file_link(const char *from, const char *to);
/* A rename that replaces nothing. */
long file_rename_new(const char *from, const char *to);
long file_symlink(const char *text, const char *path);
long file_readlink(const char *path, char *to, size_t bytes);

#endif
