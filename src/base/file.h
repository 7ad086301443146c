/* Whole files in, whole files out. */
#ifndef MONARC_BASE_FILE_H
#define MONARC_BASE_FILE_H

#include "base/bytes.h"
#include "base/err.h"

#include <sys/types.h>

struct file_buffer {
    uint8_t *at;
    size_t len, cap;
};

/* Reads all of `path` ("-": standard input) into `b`, which keeps its memory from call to call.
 * Regular files, pipes and devices are read to their end, whatever size they claim; a directory is
 * an error. */
MUST_CHECK bool file_read(const char *path, struct file_buffer *b, struct err *e);
void file_buffer_deinit(struct file_buffer *b);

static inline struct bytes file_bytes(const struct file_buffer *b)
{
    return (struct bytes){b->at, b->len};
}

/* Opens `path` for writing, made or emptied, as open() with O_TRUNC does; -1: see errno. A file
 * that is ours and has no other name gives way to a new one of its permissions: what was emptied
 * and filled again some file systems (ext4's auto_da_alloc) put on disk at once, which takes longer
 * than writing it. */
int file_renew(const char *path);

/* Writes `bytes` to a file opened like that. */
MUST_CHECK bool file_write(const char *path, struct bytes bytes, struct err *e);

/* Replaces `path` by `bytes` wholly or not at all: written beside it, synced, renamed. The old
 * file's permissions are kept. What is not a regular file ("-", a pipe, a device) is written to
 * directly. */
MUST_CHECK bool file_replace(const char *path, struct bytes bytes, struct err *e);

/* The same for what is written bit by bit: begin, write to `fd`, end with 0 or the errno of what
 * failed, which leaves the old file as it was. `path` must live as long. */
struct file_replacing {
    int fd;
    const char *path;
    char *target, *beside; /* beside: NULL if written to directly */
    mode_t mode;
};

MUST_CHECK bool file_replace_begin(struct file_replacing *f, const char *path, struct err *e);
MUST_CHECK bool file_replace_end(struct file_replacing *f, int error, struct err *e);

#endif
