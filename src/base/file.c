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

static mode_t default_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool gives_way(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_uid == geteuid() &&
           st->st_mode & S_IWUSR;
}

int file_renew(const char *path)
{
    struct stat st;
    bool is_new = !lstat(path, &st) && gives_way(&st) && !unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (is_new && fd >= 0)
        (void)!fchmod(fd, st.st_mode & 07777);
    return fd;
}

bool file_write(const char *path, struct bytes bytes, struct err *e)
{
    int fd = file_renew(path);
    if (fd < 0)
        return err_errno(e, path, errno);
    bool ok = write_all(fd, bytes) || err_errno(e, path, errno);
    if (close(fd) && ok)
        ok = err_errno(e, path, errno);
    return ok;
}

static bool begin_beside(struct file_replacing *f, const struct stat *old, struct err *e)
{
    /* Through symbolic links: the file they lead to is replaced, not the link. */
    f->target = old ? realpath(f->path, NULL) : NULL;
    const char *target = f->target ? f->target : f->path;
    size_t size = strlen(target) + sizeof ".XXXXXX";
    f->beside = malloc(size);
    if (!f->beside)
        memory_exhausted(size);
    snprintf(f->beside, size, "%s.XXXXXX", target);
    f->mode = old ? old->st_mode & 07777 : default_mode();
    f->fd = mkostemp(f->beside, O_CLOEXEC);
    if (f->fd >= 0)
        return true;
    err_errno(e, f->path, errno);
    free(f->beside);
    free(f->target);
    return false;
}

bool file_replace_begin(struct file_replacing *f, const char *path, struct err *e)
{
    struct stat st;
    bool is_stdout = !strcmp(path, "-");
    bool exists = !is_stdout && !stat(path, &st);
    *f = (struct file_replacing){.path = path};
    if (!is_stdout && !(exists && !S_ISREG(st.st_mode)))
        return begin_beside(f, exists ? &st : NULL, e);
    f->fd = is_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    return f->fd >= 0 || err_errno(e, path, errno);
}

/* The first failure's reason. */
static int finish_beside(const struct file_replacing *f, int error)
{
    if (!error && (fchmod(f->fd, f->mode) || fsync(f->fd)))
        error = errno;
    if (close(f->fd) && !error)
        error = errno;
    if (!error && rename(f->beside, f->target ? f->target : f->path))
        error = errno;
    if (error)
        unlink(f->beside);
    return error;
}

bool file_replace_end(struct file_replacing *f, int error, struct err *e)
{
    bool is_stdout = !strcmp(f->path, "-");
    if (f->beside)
        error = finish_beside(f, error);
    else if (!is_stdout && close(f->fd) && !error)
        error = errno;
    free(f->beside);
    free(f->target);
    return !error || err_errno(e, is_stdout ? "standard output" : f->path, error);
}

bool file_replace(const char *path, struct bytes bytes, struct err *e)
{
    struct file_replacing f;
    if (!file_replace_begin(&f, path, e))
        return false;
    return file_replace_end(&f, write_all(f.fd, bytes) ? 0 : errno, e);
}
