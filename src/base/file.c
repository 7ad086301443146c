/* Reading into memory (not mapping: a mapped file that shrinks would kill us; file_map.h says who
 * maps all the same). What never ends is not begun: pipes without a writer, devices. Writing is
 * file_replace.c. */
#include "base/file.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 * 1024, WRITER_MILLISECONDS = 1000 };

static void buffer_room(struct file_buffer *b, size_t room)
{
    if (b->cap - b->len >= room)
        return;
    size_t cap = b->len + room > 2 * b->cap ? b->len + room : 2 * b->cap;
    b->at = memory_resized(b->at, cap);
    b->cap = cap;
    memory_prefer_large_pages(b->at, cap);
}

/* The last byte of room shows that a file of the size that was expected has ended. */
static bool read_to_end(int fd, struct file_buffer *b)
{
    for (;;) {
        if (b->len == b->cap)
            buffer_room(b, 4096);
        ssize_t n = read(fd, b->at + b->len, b->cap - b->len);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        b->len += n > 0 ? (size_t)n : 0;
    }
}

/* A pipe that has a name: whoever writes may not have opened it yet. Without one there would be no
 * end to the waiting; its end and its absence look alike, so a writer gets a moment. */
static bool await_writer(int fd, struct file_buffer *b)
{
    buffer_room(b, FIRST_BYTES);
    ssize_t n = read(fd, b->at, FIRST_BYTES);
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    if (n == 0 && poll(&pipe, 1, WRITER_MILLISECONDS) == 0) {
        errno = ETIMEDOUT;
        return false;
    }
    b->len = n > 0 ? (size_t)n : 0;
    return (n >= 0 || errno == EAGAIN || errno == EINTR) && !fcntl(fd, F_SETFL, O_RDONLY);
}

/* Up to FIRST_BYTES of them; *is_end: these are all. */
static bool read_first(int fd, struct file_buffer *b, bool *is_end)
{
    *is_end = false;
    buffer_room(b, FIRST_BYTES + 1);
    while (b->len < FIRST_BYTES && !*is_end) {
        ssize_t n = read(fd, b->at + b->len, FIRST_BYTES - b->len);
        if (n < 0 && errno != EINTR)
            return false;
        b->len += n > 0 ? (size_t)n : 0;
        *is_end = n == 0;
    }
    return true;
}

static bool refuse_kind(const char *path, const struct stat *st, bool is_regular_only,
                        struct err *e)
{
    if (S_ISDIR(st->st_mode))
        return err_errno(e, path, EISDIR);
    return !is_regular_only || S_ISREG(st->st_mode) || err_in(e, path, "is not a regular file");
}

static bool read_opened(int fd, const char *path, const struct stat *st, file_may_be *may_be,
                        struct file_buffer *b, struct err *e)
{
    bool is_end;
    if (S_ISFIFO(st->st_mode) && fd != STDIN_FILENO && !await_writer(fd, b))
        return errno == ETIMEDOUT ? err_in(e, path, "is a pipe that nobody writes to")
                                  : err_errno(e, path, errno);
    if (!read_first(fd, b, &is_end))
        return err_errno(e, path, errno);
    if (is_end || (may_be && !may_be(file_bytes(b))))
        return true;
    if (S_ISCHR(st->st_mode) && !isatty(fd))
        return err_in(e, path, "is a device, not a file that ends");
    if (S_ISREG(st->st_mode) && (uint64_t)st->st_size > b->len)
        buffer_room(b, (size_t)st->st_size - b->len + 1);
    return read_to_end(fd, b) || err_errno(e, path, errno);
}

static bool read_checked(const char *path, bool is_regular_only, file_may_be *may_be,
                         struct file_buffer *b, struct err *e)
{
    b->len = 0;
    bool is_stdin = !is_regular_only && !strcmp(path, "-");
    /* O_NONBLOCK: a pipe must not make us wait for its writer. */
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0)
        return err_errno(e, path, errno);
    const char *name = is_stdin ? "(standard input)" : path;
    bool ok = fstat(fd, &st) ? err_errno(e, name, errno)
                             : refuse_kind(name, &st, is_regular_only, e) &&
                                   read_opened(fd, name, &st, may_be, b, e);
    if (!is_stdin)
        close(fd);
    return ok;
}

bool file_read(const char *path, struct file_buffer *b, struct err *e)
{
    return read_checked(path, false, NULL, b, e);
}

bool file_read_if(const char *path, file_may_be *may_be, struct file_buffer *b, struct err *e)
{
    return read_checked(path, false, may_be, b, e);
}

bool file_read_regular(const char *path, struct file_buffer *b, struct err *e)
{
    return read_checked(path, true, NULL, b, e);
}

void file_buffer_deinit(struct file_buffer *b)
{
    memory_free(b->at);
    *b = (struct file_buffer){0};
}

bool file_first_line(const char *path, char *line, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, line, room - 1);
    int error = errno;
    close(fd);
    if (got < 0) {
        errno = error;
        return false;
    }
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return true;
}
