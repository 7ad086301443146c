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
 * Regular files and pipes are read to their end, whatever size they claim. An error are
 * directories, devices that have more than a few bytes and are no terminal, and a named pipe that
 * no process opens for writing within a second. */
MUST_CHECK bool file_read(const char *path, struct file_buffer *b, struct err *e);

/* The same if `may_be` accepts the first bytes (64 KiB, or all there are). If it denies it, `b`
 * holds these bytes alone, for a reader that refuses them: nothing is read to its end to be called
 * nonsense then. */
typedef bool file_may_be(struct bytes first);
MUST_CHECK bool file_read_if(const char *path, file_may_be *may_be, struct file_buffer *b,
                             struct err *e);

/* For names that come from data, as those of source files do: regular files only, "-" is one. */
MUST_CHECK bool file_read_regular(const char *path, struct file_buffer *b, struct err *e);

void file_buffer_deinit(struct file_buffer *b);

static inline struct bytes file_bytes(const struct file_buffer *b)
{
    return (struct bytes){b->at, b->len};
}

/* Replaces `path` by `bytes` wholly or not at all: written beside it, synced, renamed. The old
 * file's permissions and owner are kept; its other names keep the old bytes. What is not a regular
 * file ("-", a pipe, a device) is written to directly. A file whose folder we may not write to, or
 * whose owner we cannot keep, is written over once all is there and its room on disk is reserved.
 */
MUST_CHECK bool file_replace(const char *path, struct bytes bytes, struct err *e);

/* The same for a file that others have open and add to in place, which would go on with the old
 * one: `fd` is open for writing at its start. It is written over once its room on disk is reserved;
 * if that fails half way, the whole new file takes its name. */
MUST_CHECK bool file_rewrite(const char *path, int fd, struct bytes bytes, struct err *e);

/* The same without the sync, for reports, which can be made again: a machine that loses its power
 * may leave an empty one, a full disk does not. */
MUST_CHECK bool file_write(const char *path, struct bytes bytes, struct err *e);

/* The same for what is written bit by bit: begin, write to `fd`, end with 0 or the errno of what
 * failed, which leaves the old file as it was. `path` must live as long. */
struct file_replacing {
    int fd;
    const char *path;
    char *target,
        *beside; /* beside: where the new file gets its name; NULL if written to directly */
    mode_t mode;
    int over;        /* the file that is written over in the end; -1: none, it is renamed */
    bool is_unnamed; /* `fd` has no name yet, so that nothing stays of it, whatever ends us */
    bool is_report;  /* not synced */
};

MUST_CHECK bool file_replace_begin(struct file_replacing *f, const char *path, struct err *e);
MUST_CHECK bool file_replace_end(struct file_replacing *f, int error, struct err *e);

/* Makes the folders above a file. Those that are there are as good, whoever made them: ranks of a
 * job, and jobs that export into one dataset, do so at the same time. */
MUST_CHECK bool file_make_folders(const char *path, struct err *e);

/* The first line of a small file, as those of /proc and /sys are, without its newline; what does
 * not fit is left out. false with errno: it cannot be read. */
MUST_CHECK bool file_first_line(const char *path, char *line, size_t room);

/* When a file was last written, in seconds since 1970; 0: it is not there. */
int64_t file_changed(const char *path);

/* Large files without a copy of them: for readers that pass over most of what they are given. */

/* Either mapped or read. */
struct file_map {
    struct file_buffer buffer;
    void *mapping; /* NULL: not mapped */
    size_t len;
    uint64_t device, inode; /* of a regular file, by which other names of it are known; else 0 */
};

/* The bytes of `path` ("-": standard input) into a zeroed or closed *m. A regular file of a
 * megabyte or more is mapped; all else is read, with file_read()'s refusals. A mapped file that
 * becomes shorter, or whose disk fails, raises SIGBUS where it is touched: who starts the process
 * says what happens then, and the program's main() ends it with one line. file_map_deinit() after
 * failure, too; file_map_close() keeps the buffer for the next file. */
MUST_CHECK bool file_map(const char *path, struct file_map *m, struct err *e);
void file_map_close(struct file_map *m);
void file_map_deinit(struct file_map *m);

static inline struct bytes file_map_bytes(const struct file_map *m)
{
    return m->mapping ? (struct bytes){m->mapping, m->len} : file_bytes(&m->buffer);
}

#endif
