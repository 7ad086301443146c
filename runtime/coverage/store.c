/* Replacing counter files. See store.h. Under the library's lock, which also guards the paths here:
 * they are too large for the stack of a signal handler. */
#include "store.h"
#include "../common/text.h"
#include "names.h"
#include "report.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define ASIDE_MAX 10000
#define LINKS_MAX 16
#define TRIES_MAX 1000000

static char real_path[PATH_MAX], part_path[PATH_MAX], aside_path[PATH_MAX];

/* The old file, as far as there is one. */
struct old {
    int fd; /* -1: none */
    struct file_status status;
    void *bytes;
};

/* Pages that are used again and again; a dump of a thousand objects maps memory a few times. */
static struct pages {
    void *at;
    size_t size;
} read_pages, write_pages;

static void *pages_of(struct pages *p, size_t bytes)
{
    if (bytes <= p->size)
        return p->at;
    size_t size = (bytes * 2 + 0xffff) & ~(size_t)0xffff;
    void *at = sys_pages(size);
    if (!at)
        return NULL;
    sys_pages_free(p->at, p->size);
    *p = (struct pages){at, size};
    return at;
}

/* real_path is where `path` leads to, symbolic links followed: a rename would replace the link. */
static long resolve(const char *path)
{
    struct text t = text_in(real_path, sizeof real_path);
    text_add(&t, path);
    for (int i = 0; i < LINKS_MAX && !t.cut; i++) {
        long n = sys_readlink(real_path, aside_path, sizeof aside_path - 1);
        if (n < 0)
            return n == -EINVAL || n == -ENOENT || n == -ENOTDIR ? 0 : n;
        aside_path[n] = 0;
        char *slash = strrchr(real_path, '/');
        if (aside_path[0] == '/' || !slash)
            t.used = 0;
        else
            t.used = (size_t)(slash + 1 - real_path);
        text_add(&t, aside_path);
    }
    return t.cut ? -ENAMETOOLONG : -ELOOP;
}

static long make_folders(char *path)
{
    for (char *s = path + 1; *s; s++) {
        if (*s != '/')
            continue;
        *s = 0;
        long r = sys_mkdir(path);
        *s = '/';
        if (r != 0 && r != -EEXIST && r != -EROFS && r != -EACCES && r != -EPERM)
            return r;
    }
    return 0;
}

/* 0 if the descriptor's file is the one that has this name, 1 if not. */
static long is_elsewhere(int fd, const char *path)
{
    struct file_status here, there;
    long r = sys_status(fd, &here);
    if (r == 0)
        r = sys_status_of(path, &there);
    if (r != 0)
        return r == -ENOENT ? 1 : r;
    return here.inode != there.inode || here.device != there.device;
}

/* Opens and locks PATH.part; returns its descriptor. */
static long open_part(void)
{
    bool made = false;
    for (int i = 0; i < TRIES_MAX; i++) {
        long fd = sys_open(part_path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
        if (fd == -ENOENT && !made) {
            made = true;
            long r = make_folders(part_path);
            if (r != 0)
                return r;
            continue;
        }
        if (fd < 0)
            return fd;
        long r = sys_lock((int)fd);
        if (r == -ENOLCK || r == -ENOSYS || r == -EINVAL || r == -EOPNOTSUPP)
            r = 0; /* a file system without locks: renaming still keeps files whole */
        if (r == 0)
            r = is_elsewhere((int)fd, part_path);
        if (r == 0)
            return fd;
        sys_close((int)fd);
        if (r < 0)
            return r;
    }
    return -EBUSY;
}

/* Reads the old file under its own lock too: libgcov in another program writes it in place. */
static long open_old(struct old *o)
{
    long fd = sys_open(real_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    o->fd = (int)fd;
    o->status = (struct file_status){0};
    if (fd == -ENOENT) {
        o->fd = -1;
        return 0;
    }
    if (fd < 0)
        return fd;
    sys_lock(o->fd);
    long r = sys_status(o->fd, &o->status);
    if (r == 0 && !S_ISREG(o->status.mode))
        r = -EINVAL;
    if (r == 0 && !(o->bytes = pages_of(&read_pages, (size_t)o->status.size_bytes + 1)))
        r = -ENOMEM;
    if (r == 0)
        r = sys_read_all(o->fd, o->bytes, (size_t)o->status.size_bytes);
    if (r != 0)
        sys_close(o->fd);
    return r;
}

/* Gives the old file a second name, PATH.damaged-N; the rename that follows takes the first away.
 */
static long set_aside(int fd, enum verdict verdict, const char *why)
{
    long r = -EEXIST;
    for (unsigned n = 1; n < ASIDE_MAX && r == -EEXIST; n++) {
        struct text t = text_in(aside_path, sizeof aside_path);
        text_add(&t, real_path);
        text_add(&t, verdict == VERDICT_DAMAGED ? ".damaged-" : ".other-");
        text_add_number(&t, n);
        if (t.cut)
            return -ENAMETOOLONG;
        struct file_status there;
        r = sys_link(real_path, aside_path);
        if (r == -EEXIST && is_elsewhere(fd, aside_path) == 0)
            r = 0; /* done by a process that got no further */
        if (r == -EPERM || r == -EOPNOTSUPP || r == -ENOSYS || r == -EMLINK)
            r = sys_status_of(aside_path, &there) == 0 ? -EEXIST
                                                       : sys_rename(real_path, aside_path);
    }
    if (r == 0)
        report(real_path,
               verdict == VERDICT_DAMAGED ? "damaged, set aside and begun anew:"
                                          : "does not fit this program, set aside and begun anew:",
               why);
    return r;
}

static long write_part(int fd, const struct buffer *new, const struct old *old)
{
    struct file_status part;
    long r = sys_status(fd, &part);
    if (r != 0)
        return r;
    if (part.size_bytes > 0)
        r = sys_truncate(fd); /* left by a process that was killed */
    if (r == 0 && new->used > sys_file_limit())
        r = -EFBIG; /* to write would be to die of SIGXFSZ */
    if (r == 0)
        r = sys_write_all(fd, new->at, new->used);
    if (r == 0 && old->fd >= 0)
        sys_inherit(fd, &part, &old->status);
    return r;
}

/* The new file's bytes. An old file that does not fit is set aside. */
static long make_new(const struct change *c, const struct old *old, struct buffer *new)
{
    const char *why = NULL;
    struct cursor bytes = cursor_on(old->bytes, (size_t)old->status.size_bytes);
    *new = (struct buffer){.size = c->new_bound + bytes.size};
    if (!(new->at = pages_of(&write_pages, new->size)))
        return -ENOMEM;
    enum verdict verdict = c->apply(c, bytes, new, &why);
    if (verdict == VERDICT_FINE || verdict == VERDICT_NO_ROOM)
        return verdict == VERDICT_FINE ? 0 : -ENOMEM;
    long r = set_aside(old->fd, verdict, why);
    if (r != 0)
        return r;
    new->used = 0;
    new->is_full = false;
    return c->apply(c, cursor_on(NULL, 0), new, &why) == VERDICT_FINE ? 0 : -ENOMEM;
}

/* The new file takes the old one's name. ext4 and others write a file that is renamed over another
 * to the disk at once, which takes longer than all the rest; two that change places are left alone.
 * The old one is locked until it is gone, so that nobody takes it for a PATH.part in the meantime.
 */
static long take_place(const struct old *old)
{
    if (old->fd < 0 || sys_exchange(part_path, real_path) != 0)
        return sys_rename(part_path, real_path);
    sys_unlink(part_path);
    return 0;
}

/* Under the lock on part_fd. Returns with the old file closed. */
static long replace(int part_fd, const struct change *c)
{
    struct old old = {.fd = -1};
    struct buffer new;
    long r = open_old(&old);
    if (r != 0)
        return r;
    r = make_new(c, &old, &new);
    if (r == 0)
        r = write_part(part_fd, &new, &old);
    if (r == 0)
        r = take_place(&old);
    if (old.fd >= 0)
        sys_close(old.fd);
    return r;
}

/* As libgcov does it, only if the file does not grow, so that a full disk cannot spoil it: where
 * the folder allows no new file, and where the user wants it (MONARC_COVER_IN_PLACE). `error` if it
 * cannot be. */
static long in_place(const struct change *c, long error)
{
    struct old old = {.fd = -1};
    struct buffer new = {.size = 0};
    const char *why = NULL;
    if (open_old(&old) != 0 || old.fd < 0)
        return error;
    size_t size = (size_t)old.status.size_bytes;
    new.size = c->new_bound + size;
    new.at = pages_of(&write_pages, new.size);
    long r = error;
    if (new.at && is_elsewhere(old.fd, real_path) == 0 &&
        c->apply(c, cursor_on(old.bytes, size), &new, &why) == VERDICT_FINE &&
        (new.used <= size || size == 0) && new.used <= sys_file_limit())
        r = sys_rewrite(old.fd, new.at, new.used);
    sys_close(old.fd);
    return r;
}

static long update(const char *path, const struct change *c)
{
    long r = resolve(path);
    struct text t = text_in(part_path, sizeof part_path);
    text_add(&t, real_path);
    text_add(&t, ".part");
    if (r != 0 || t.cut)
        return r ? r : -ENAMETOOLONG;
    const char *wish = names_variable("MONARC_COVER_IN_PLACE");
    if (text_number(wish, 0) != 0 && in_place(c, -EAGAIN) == 0)
        return 0;
    long fd = open_part();
    if (fd == -EACCES || fd == -EPERM)
        return in_place(c, fd);
    if (fd < 0)
        return fd;
    r = replace((int)fd, c);
    if (r != 0)
        sys_unlink(part_path);
    sys_close((int)fd);
    return r;
}

bool store_update(const char *path, const struct change *c)
{
    long r = update(path, c);
    if (r != 0)
        report_lost(path, r);
    return r == 0;
}
