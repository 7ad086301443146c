/* Whole files in, whole files out.
 *
 * Reading goes into memory, not through a mapping: a mapped file that shrinks would kill us. What
 * never ends is not begun: pipes without a writer, devices. Large files that are mostly passed
 * over may be mapped all the same (file_map()), where SIGBUS is taken care of by whoever starts
 * the process.
 *
 * Replacing: the new file is written beside the old and renamed, so that a full disk, a kill or a
 * failed allocation leaves the old one as it was, and nothing beside it. No file is emptied before
 * all bytes for it are there.
 *
 *   begin    fd ─► a file without a name in the folder (O_TMPFILE), or NAME.XXXXXX
 *   write    the caller
 *   end      mode and owner as the old one's, fsync, a name, rename over the old
 *
 * If the folder may not be written to, or the owner cannot be kept, the new bytes wait in memory
 * and are written over the old file once its room on disk is reserved. Not even that keeps the old
 * bytes from a kill in that moment; it is the one case. */
#include "base/file.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 * 1024, WRITER_MILLISECONDS = 1000 };

/* Doubles, so that reading a pipe copies each byte about once. */
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
    if (n == 0 && poll(&pipe, 1, WRITER_MILLISECONDS) == 0)
        n = read(fd, b->at, FIRST_BYTES); /* EAGAIN: there is a writer, who has not begun */
    if (n == 0 && !pipe.revents) {
        errno = ETIMEDOUT;
        return false;
    }
    b->len = n > 0 ? (size_t)n : 0;
    return (n >= 0 || errno == EAGAIN || errno == EINTR) && !fcntl(fd, F_SETFL, O_RDONLY);
}

/* Up to FIRST_BYTES of them; *is_end: these are all. A regular file of which as many came as it
 * said to have is not asked whether there are more: of small files that would be a fourth call
 * beside opening, reading and closing them. */
static bool read_first(int fd, const struct stat *st, struct file_buffer *b, bool *is_end)
{
    *is_end = false;
    buffer_room(b, FIRST_BYTES + 1);
    while (b->len < FIRST_BYTES && !*is_end) {
        ssize_t n = read(fd, b->at + b->len, FIRST_BYTES - b->len);
        if (n < 0 && errno != EINTR)
            return false;
        b->len += n > 0 ? (size_t)n : 0;
        *is_end = n == 0 || (n > 0 && S_ISREG(st->st_mode) && (uint64_t)st->st_size == b->len);
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

/* The size that a file claims is only a hint for the buffer: files of /proc claim 0, growing ones
 * too little. */
static bool read_opened(int fd, const char *path, const struct stat *st, file_may_be *may_be,
                        struct file_buffer *b, struct err *e)
{
    bool is_end;
    if (S_ISFIFO(st->st_mode) && fd != STDIN_FILENO && !await_writer(fd, b))
        return errno == ETIMEDOUT ? err_in(e, path, "is a pipe without a writer")
                                  : err_errno(e, path, errno);
    if (!read_first(fd, st, b, &is_end))
        return err_errno(e, path, errno);
    if (is_end || (may_be && !may_be(file_bytes(b))))
        return true;
    if (S_ISCHR(st->st_mode) && !isatty(fd))
        return err_in(e, path, "is a device, not a file that ends");
    if (S_ISREG(st->st_mode) && (uint64_t)st->st_size > b->len)
        buffer_room(b, (size_t)st->st_size - b->len + 1);
    return read_to_end(fd, b) || err_errno(e, path, errno);
}

static bool map_opened(int fd, const struct stat *st, struct file_map *m);

/* `map`: where the file is mapped instead if it is large; or NULL. */
static bool read_checked(const char *path, bool is_regular_only, file_may_be *may_be,
                         struct file_buffer *b, struct file_map *map, struct err *e)
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
                             : (map && !is_stdin && map_opened(fd, &st, map)) ||
                                   (refuse_kind(name, &st, is_regular_only, e) &&
                                    read_opened(fd, name, &st, may_be, b, e));
    if (map) {
        map->device = ok && S_ISREG(st.st_mode) ? st.st_dev : 0;
        map->inode = ok && S_ISREG(st.st_mode) ? st.st_ino : 0;
    }
    if (!is_stdin)
        close(fd);
    return ok;
}

bool file_read(const char *path, struct file_buffer *b, struct err *e)
{
    return read_checked(path, false, NULL, b, NULL, e);
}

bool file_read_if(const char *path, file_may_be *may_be, struct file_buffer *b, struct err *e)
{
    return read_checked(path, false, may_be, b, NULL, e);
}

bool file_read_regular(const char *path, struct file_buffer *b, struct err *e)
{
    return read_checked(path, true, NULL, b, NULL, e);
}

void file_buffer_deinit(struct file_buffer *b)
{
    memory_free(b->at);
    *b = (struct file_buffer){0};
}

int64_t file_changed(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : st.st_mtime;
}

bool file_make_folders(const char *path, struct err *e)
{
    struct arena scratch = {0};
    char *folder = arena_copy(&scratch, path, strlen(path));
    bool ok = true;
    for (char *slash = strchr(folder + 1, '/'); slash && ok; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ok = !mkdir(folder, 0777) || errno == EEXIST || err_errno(e, folder, errno);
        *slash = '/';
    }
    arena_deinit(&scratch);
    return ok;
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

/* Replacing files: the new one is written beside the old and renamed, so that a full disk, a kill
 * or a failed allocation leaves the old one as it was, and nothing beside it. It never empties a
 * file that it has not the new bytes for. */

/* --- replacing ------------------------------------------------------------------------------- */

static bool replace_write_all(int fd, struct bytes bytes)
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

/* umask() would set it, for all threads. */
static mode_t replace_default_mode(void)
{
    static const char FIELD[] = "\nUmask:";
    char text[512];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *field = strstr(text, FIELD);
    mode_t mask = field ? (mode_t)strtoul(field + sizeof FIELD - 1, NULL, 8) : 022;
    return 0666 & ~mask;
}

/* A file without a name in the folder of `path`, where the file system has such and they can get a
 * name later; else -1. */
static int replace_open_unnamed(char *path)
{
    char *slash = strrchr(path, '/');
    char kept = slash ? slash[1] : 0;
    if (access("/proc/self/fd", X_OK))
        return -1;
    if (slash)
        slash[1] = '\0';
    int fd = open(slash ? path : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (slash)
        slash[1] = kept;
    return fd;
}

/* Only root can give files away; for others this fails unless the owner is right already. */
static bool replace_keep_owner(int fd, const struct stat *old)
{
    struct stat st;
    return !old || (!fstat(fd, &st) && st.st_uid == old->st_uid && st.st_gid == old->st_gid) ||
           !fchown(fd, old->st_uid, old->st_gid);
}

/* Whether there is a file to write to that can take the old one's place. */
static bool replace_open_beside(struct file_replacing *f, const struct stat *old)
{
    f->fd = replace_open_unnamed(f->beside);
    f->is_unnamed = f->fd >= 0;
    if (!f->is_unnamed)
        f->fd = mkostemp(f->beside, O_CLOEXEC);
    if (f->fd < 0 || replace_keep_owner(f->fd, old))
        return f->fd >= 0;
    close(f->fd);
    if (!f->is_unnamed)
        unlink(f->beside);
    errno = EPERM;
    return false;
}

/* What is written goes to memory, and over the file in the end. */
static bool replace_open_over(struct file_replacing *f, const char *target)
{
    int error = errno;
    bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;
    f->over = is_forbidden ? open(target, O_RDWR | O_CLOEXEC) : -1;
    f->fd = f->over < 0 ? -1 : memfd_create("monarc", MFD_CLOEXEC);
    if (f->fd >= 0)
        return true;
    if (f->over >= 0)
        close(f->over);
    else
        errno = error;
    return false;
}

/* What is opened here is closed by file_replace_end(), which must follow. */
static bool replace_begin_beside(struct file_replacing *f, const struct stat *old, struct err *e)
{
    /* Through symbolic links: the file they lead to is replaced, not the link. */
    f->target = old ? realpath(f->path, NULL) : NULL;
    if (old && !f->target)
        return err_errno(e, f->path, errno);
    const char *target = f->target ? f->target : f->path;
    if (old && access(target, W_OK)) { /* what may not be written is not replaced either */
        err_errno(e, f->path, errno);
        free(f->target);
        return false;
    }
    size_t size = strlen(target) + sizeof ".XXXXXX";
    f->beside = malloc(size); /* libc's, as realpath()'s is: not within a library's call */
    if (!f->beside) {
        err_errno(e, f->path, ENOMEM);
        free(f->target);
        return false;
    }
    snprintf(f->beside, size, "%s.XXXXXX", target);
    f->mode = old ? old->st_mode & 07777 : replace_default_mode();
    if (replace_open_beside(f, old) || (old && replace_open_over(f, target)))
        return true;
    err_errno(e, f->path, errno);
    free(f->beside);
    free(f->target);
    return false;
}

/* What is not a regular file is written to directly: there is nothing to replace. */
bool file_replace_begin(struct file_replacing *f, const char *path, struct err *e)
{
    struct stat st;
    bool is_stdout = !strcmp(path, "-");
    bool exists = !is_stdout && !stat(path, &st);
    *f = (struct file_replacing){.path = path, .over = -1};
    if (!is_stdout && !(exists && !S_ISREG(st.st_mode)))
        return replace_begin_beside(f, exists ? &st : NULL, e);
    f->fd = is_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    return f->fd >= 0 || err_errno(e, path, errno);
}

/* Gives the nameless file the name that mkstemp would have chosen. */
static bool replace_give_name(const struct file_replacing *f)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    enum { TRIES = 100, DRAWN = 6 };
    char proc[32];
    uint8_t drawn[DRAWN];
    char *end = f->beside + strlen(f->beside) - DRAWN;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", f->fd);
    for (int i = 0; i < TRIES; i++) {
        if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
            return false;
        for (int k = 0; k < DRAWN; k++)
            end[k] = LETTERS[drawn[k] % (sizeof LETTERS - 1)];
        if (!linkat(AT_FDCWD, proc, AT_FDCWD, f->beside, AT_SYMLINK_FOLLOW))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* The first failure's reason. */
static int replace_finish_beside(const struct file_replacing *f, int error)
{
    if (!error && (fchmod(f->fd, f->mode) || (!f->is_report && fsync(f->fd))))
        error = errno;
    bool has_name = !f->is_unnamed;
    if (!error && f->is_unnamed) {
        has_name = replace_give_name(f);
        error = has_name ? 0 : errno;
    }
    if (close(f->fd) && !error)
        error = errno;
    if (!error && rename(f->beside, f->target ? f->target : f->path))
        error = errno;
    if (error && has_name)
        unlink(f->beside);
    return error;
}

/* Once there is room for all of them, the new bytes can replace the old ones. */
static bool replace_copy_over(const struct file_replacing *f)
{
    struct stat st;
    if (fstat(f->fd, &st))
        return false;
    size_t len = (size_t)st.st_size;
    if (len && posix_fallocate(f->over, 0, st.st_size) == ENOSPC) {
        errno = ENOSPC;
        return false;
    }
    void *bytes = len ? mmap(NULL, len, PROT_READ, MAP_SHARED, f->fd, 0) : NULL;
    bool ok = bytes != MAP_FAILED && replace_write_all(f->over, (struct bytes){bytes, len}) &&
              !ftruncate(f->over, st.st_size) && (f->is_report || !fsync(f->over));
    int error = errno;
    if (len && bytes != MAP_FAILED)
        munmap(bytes, len);
    errno = error;
    return ok;
}

bool file_replace_end(struct file_replacing *f, int error, struct err *e)
{
    bool is_stdout = !strcmp(f->path, "-");
    if (f->over >= 0) {
        if (!error && !replace_copy_over(f))
            error = errno;
        close(f->fd);
        if (close(f->over) && !error)
            error = errno;
    } else if (f->beside)
        error = replace_finish_beside(f, error);
    else if (!is_stdout && close(f->fd) && !error)
        error = errno;
    free(f->beside);
    free(f->target);
    return !error || err_errno(e, is_stdout ? "standard output" : f->path, error);
}

static bool replace(const char *path, struct bytes bytes, bool is_report, struct err *e)
{
    struct file_replacing f;
    if (!file_replace_begin(&f, path, e))
        return false;
    f.is_report = is_report;
    return file_replace_end(&f, replace_write_all(f.fd, bytes) ? 0 : errno, e);
}

bool file_replace(const char *path, struct bytes bytes, struct err *e)
{
    return replace(path, bytes, false, e);
}

bool file_rewrite(const char *path, int fd, struct bytes bytes, struct err *e)
{
    struct stat old;
    if (fstat(fd, &old))
        return err_errno(e, path, errno);
    if (bytes.len && posix_fallocate(fd, 0, (off_t)bytes.len) == ENOSPC)
        return (void)!ftruncate(fd, old.st_size), err_errno(e, path, ENOSPC);
    return (replace_write_all(fd, bytes) && !ftruncate(fd, (off_t)bytes.len) && !fsync(fd)) ||
           file_replace(path, bytes, e);
}

bool file_write(const char *path, struct bytes bytes, struct err *e)
{
    return replace(path, bytes, true, e);
}

/* Mapping files. What cannot be mapped is read. */

enum { LEAST_BYTES = 1 << 20 }; /* copying less is cheaper than the faults of a mapping */

/* --- mapping --------------------------------------------------------------------------------- */

static bool map_opened(int fd, const struct stat *st, struct file_map *m)
{
    if (!S_ISREG(st->st_mode) || st->st_size < LEAST_BYTES)
        return false;
    void *at = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return false;
    m->mapping = at;
    m->len = (size_t)st->st_size;
    return true;
}

bool file_map(const char *path, struct file_map *m, struct err *e)
{
    return read_checked(path, false, NULL, &m->buffer, m, e);
}

void file_map_close(struct file_map *m)
{
    if (m->mapping)
        munmap(m->mapping, m->len);
    m->mapping = NULL;
    m->len = m->buffer.len = 0;
}

void file_map_deinit(struct file_map *m)
{
    file_map_close(m);
    file_buffer_deinit(&m->buffer);
}
