/* Reading into memory (not mapping: a mapped file that shrinks would kill us) and atomic writing.
 */
#include "base/file.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *shown(const char *path)
{
    return strcmp(path, "-") ? path : "(standard input)";
}

static void buffer_room(struct file_buffer *b, size_t room)
{
    if (b->cap - b->len >= room)
        return;
    size_t cap = b->len + room > 2 * b->cap ? b->len + room : 2 * b->cap;
    uint8_t *grown = realloc(b->at, cap);
    if (!grown)
        memory_exhausted(cap);
    b->at = grown;
    b->cap = cap;
    memory_prefer_large_pages(grown, cap);
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

bool file_read(const char *path, struct file_buffer *b, struct err *e)
{
    b->len = 0;
    bool is_stdin = !strcmp(path, "-");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        err_errno(e, shown(path), errno);
        if (fd > 0)
            close(fd);
        return false;
    }
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        buffer_room(b, (size_t)st.st_size + 1);
    bool ok = read_to_end(fd, b) || err_errno(e, shown(path), errno);
    if (!is_stdin)
        close(fd);
    return ok;
}

void file_buffer_deinit(struct file_buffer *b)
{
    free(b->at);
    *b = (struct file_buffer){0};
}

static bool write_all(int fd, struct bytes bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            bytes.at += n;
            bytes.len -= (size_t)n;
        }
    }
    return true;
}

static bool write_directly(const char *path, struct bytes bytes, struct err *e)
{
    bool is_stdout = !strcmp(path, "-");
    int fd = is_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, path, errno);
    bool ok = write_all(fd, bytes);
    int why = errno;
    if (!is_stdout && close(fd) && ok) {
        ok = false;
        why = errno;
    }
    return ok || err_errno(e, is_stdout ? "standard output" : path, why);
}

static mode_t default_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Closes `fd`; on failure removes `beside` and leaves the reason in errno. */
static bool fill_and_rename(int fd, mode_t mode, struct bytes bytes, const char *beside,
                            const char *target)
{
    bool ok = !fchmod(fd, mode) && write_all(fd, bytes) && !fsync(fd);
    int why = errno;
    if (close(fd) && ok) {
        ok = false;
        why = errno;
    }
    if (ok && !rename(beside, target))
        return true;
    why = ok ? errno : why;
    unlink(beside);
    errno = why;
    return false;
}

bool file_replace(const char *path, struct bytes bytes, struct err *e)
{
    struct stat st;
    bool exists = strcmp(path, "-") && !stat(path, &st);
    if (!strcmp(path, "-") || (exists && !S_ISREG(st.st_mode)))
        return write_directly(path, bytes, e);

    /* Through symbolic links: the file they lead to is replaced, not the link. */
    char *real = exists ? realpath(path, NULL) : NULL;
    const char *target = real ? real : path;
    struct arena scratch = {0};
    char *beside = arena_printf(&scratch, "%s.XXXXXX", target);
    int fd = mkostemp(beside, O_CLOEXEC);
    mode_t mode = exists ? st.st_mode & 07777 : default_mode();
    bool ok =
        (fd >= 0 && fill_and_rename(fd, mode, bytes, beside, target)) || err_errno(e, path, errno);
    free(real);
    arena_deinit(&scratch);
    return ok;
}
