/* Replacing counter files. See store.h. Under the library's lock, which also guards the paths here:
 * they are too large for the stack of a signal handler. */
#include "store.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "file.h"
#include "lock.h"
#include "names.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define ASIDE_MAX 10000
#define LINKS_MAX 16
#define TRIES_MAX 1000000
#define CHANGED   1 /* beside 0 and -errno: begin again, with the file that is there now */

static char real_path[PATH_MAX], part_path[PATH_MAX], aside_path[PATH_MAX];

/* The old file, as far as there is one. */
struct old {
    int fd;        /* -1: none */
    bool is_named; /* its lock is PATH.lock */
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
        long n = file_readlink(real_path, aside_path, sizeof aside_path - 1);
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
        long r = sys_mkdir(path, 0777);
        *s = '/';
        if (r != 0 && r != -EEXIST && r != -EROFS && r != -EACCES && r != -EPERM)
            return r;
    }
    return 0;
}

/* 0 if this file is the one that has this name, 1 if not. */
static long is_renamed(const struct file_status *file, const char *path)
{
    struct file_status there;
    long r = file_status_of(path, &there);
    if (r != 0)
        return r == -ENOENT || r == -ESTALE ? 1 : r;
    return file->inode != there.inode || file->device != there.device;
}

/* The same of a descriptor's file. */
static long is_elsewhere(int fd, const char *path)
{
    struct file_status here;
    long r = file_status(fd, &here);
    return r != 0 ? r : is_renamed(&here, path);
}

/* Once a process: what is true of one file is true of its neighbours. */
static void tell_unlocked(void)
{
    static bool told;
    if (!told)
        report(
            real_path,
            "the file system has neither locks nor symbolic links; processes that write the same "
            "file at the same moment may lose each other's counts",
            NULL);
    told = true;
}

static bool has_no_locks(long r)
{
    return r == -ENOLCK || r == -ENOSYS || r == -EINVAL || r == -EOPNOTSUPP;
}

/* Makes way for PATH.part if a process that was killed left it: it is a plain file of one name, and
 * no process writes it any more. What else has that name stays. */
static long remove_leftover(const struct old *old)
{
    struct file_status there;
    long r = file_status_of(part_path, &there);
    if (r != 0)
        return r == -ENOENT ? 0 : r;
    if (old->fd >= 0 && there.inode == old->status.inode && there.device == old->status.device)
        return sys_unlink(
            part_path); /* it has its name already; to close it would be to unlock it */
    if (!S_ISREG(there.mode) || there.links > 1)
        return -EEXIST;
    long fd = sys_open(part_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    r = file_status((int)fd, &there);
    if (r == 0 && (!S_ISREG(there.mode) || there.links > 1))
        r = -EEXIST;
    if (r == 0)
        r = file_lock((int)fd); /* its writer's, if that lives */
    if (has_no_locks(r) && old->is_named)
        r = 0; /* no other process replaces the old file, and a first one is not named over it */
    if (r == 0)
        r = is_elsewhere((int)fd, part_path);
    if (r == 0)
        r = sys_unlink(part_path);
    sys_close((int)fd);
    return r > 0 ? 0 : r;
}

static void name_part(bool is_plain)
{
    struct text t = text_in(part_path, sizeof part_path);
    text_add(&t, real_path);
    text_add(&t, ".");
    if (!is_plain) {
        text_add_number(&t, sys_random());
        text_add(&t, ".");
    }
    text_add(&t, "part");
    if (t.cut)
        part_path[0] = 0;
}

/* The lock says that the file's writer lives; the lock that counts is the old file's. 1 if another
 * process took the file for a leftover before it was locked. */
static long own_part(int fd)
{
    file_lock(fd);
    return is_elsewhere(fd, part_path);
}

/* A new, empty file of our own: PATH.part, or with a number if that name is taken. */
static long open_part(const struct old *old)
{
    bool made = false;
    name_part(true);
    for (int i = 0; i < TRIES_MAX && part_path[0]; i++) {
        long fd = sys_open(part_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            long r = own_part((int)fd);
            if (r == 0)
                return fd;
            sys_close((int)fd);
            if (r < 0)
                return r;
            continue;
        }
        if (fd == -ENOENT && !made) {
            made = true;
            long r = make_folders(part_path);
            if (r != 0)
                return r;
        } else if (fd != -EEXIST) {
            return fd;
        } else if (remove_leftover(old) != 0) {
            name_part(false);
        }
    }
    return part_path[0] ? -EEXIST : -ENAMETOOLONG;
}

static long check_old(struct old *o)
{
    long r = file_status(o->fd, &o->status);
    return r == 0 && !S_ISREG(o->status.mode) ? -EINVAL : r;
}

/* Only a file: what else has no locks, a FIFO say, is not to get one. */
static long lock_by_name(struct old *o)
{
    long r = check_old(o);
    if (r != 0)
        return r;
    r = name_lock(real_path);
    o->is_named = r == 0;
    if (r == 0 || r == -EEXIST || r == -ENAMETOOLONG)
        return r;
    tell_unlocked();
    return 0;
}

/* Opens the old file and has its lock: fcntl's, for which libgcov waits too, or PATH.lock. CHANGED
 * if another file took its place meanwhile. */
static long lock_old(struct old *o)
{
    o->fd = (int)sys_open(real_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (o->fd < 0)
        return o->fd == -ENOENT ? 0 : o->fd;
    long r = file_lock(o->fd);
    if (has_no_locks(r) || (r == 0 && name_is_locked(real_path)))
        r = lock_by_name(o);
    if (r == 0)
        r = check_old(o);
    if (r == 0)
        r = is_renamed(&o->status, real_path);
    return r > 0 ? CHANGED : r;
}

static long read_old(struct old *o)
{
    if (!(o->bytes = pages_of(&read_pages, (size_t)o->status.size_bytes + 1)))
        return -ENOMEM;
    return sys_read_all(o->fd, o->bytes, (size_t)o->status.size_bytes);
}

static void close_old(struct old *o)
{
    if (o->is_named)
        name_unlock();
    if (o->fd >= 0)
        sys_close(o->fd);
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
        r = file_link(real_path, aside_path);
        if (r == -EEXIST && is_elsewhere(fd, aside_path) == 0)
            r = 0; /* done by a process that got no further */
        if (r == -EPERM || r == -EOPNOTSUPP || r == -ENOSYS || r == -EMLINK)
            r = file_status_of(aside_path, &there) == 0 ? -EEXIST
                                                        : sys_rename(real_path, aside_path);
    }
    if (r == 0)
        report(real_path,
               verdict == VERDICT_DAMAGED ? "damaged, set aside and begun anew:"
                                          : "does not fit this program, set aside and begun anew:",
               why);
    return r;
}

/* An old file at real_path still, and we its only writer. */
static bool is_ours(const struct old *o)
{
    return (!o->is_named || name_lock_holds()) && is_renamed(&o->status, real_path) == 0;
}

static long write_part(int fd, const struct buffer *new, const struct old *old)
{
    struct file_status part;
    long r = file_status(fd, &part);
    if (r == 0 && new->used > sys_limit(RLIMIT_FSIZE))
        r = -EFBIG; /* to write would be to die of SIGXFSZ */
    if (r == 0)
        r = sys_write_all(fd, new->at, new->used);
    if (r == 0 && old->fd >= 0)
        file_inherit(fd, &part, &old->status);
    return r;
}

/* The new file's bytes. An old file that does not fit is set aside; CHANGED if then none is there.
 */
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
    if (!is_ours(old))
        return CHANGED;
    long r = set_aside(old->fd, verdict, why);
    if (r != 0)
        return r;
    if (is_elsewhere(old->fd, real_path) != 0)
        return CHANGED;
    new->used = 0;
    new->is_full = false;
    return c->apply(c, cursor_on(NULL, 0), new, &why) == VERDICT_FINE ? 0 : -ENOMEM;
}

/* The new file takes the old one's name. ext4 and others write a file that is renamed over another
 * to the disk at once, which takes longer than all the rest; two that change places are left alone.
 */
static long take_place(const struct old *old)
{
    if (!is_ours(old))
        return CHANGED;
    if (file_exchange(part_path, real_path) != 0)
        return sys_rename(part_path, real_path);
    sys_unlink(part_path);
    return 0;
}

/* The new file gets its name, unless another process made one meanwhile. Without a rename that
 * replaces nothing, and without hard links, an empty file is made, which then is the old one. */
static long take_name(void)
{
    long r = file_rename_new(part_path, real_path);
    if (r == -EINVAL || r == -ENOSYS) {
        r = file_link(part_path, real_path);
        sys_unlink(part_path);
    }
    if (r == -EEXIST || r == -ENOENT)
        return CHANGED;
    if (r != -EPERM && r != -EOPNOTSUPP && r != -ENOSYS)
        return r;
    long fd = sys_open(real_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0)
        return fd == -EEXIST ? CHANGED : fd;
    sys_close((int)fd);
    return CHANGED;
}

/* As libgcov does it, only if the file does not grow, so that a full disk cannot spoil it: where
 * the folder allows no new file, and where the user wants it (MONARC_COVER_IN_PLACE). `error` if it
 * cannot be. */
static long in_place(const struct change *c, const struct old *old, long error)
{
    const char *why = NULL;
    size_t size = (size_t)old->status.size_bytes;
    struct buffer new = {.size = c->new_bound + size};
    new.at = pages_of(&write_pages, new.size);
    if (!new.at || !is_ours(old) ||
        c->apply(c, cursor_on(old->bytes, size), &new, &why) != VERDICT_FINE ||
        (new.used > size &&size > 0) || new.used > sys_limit(RLIMIT_FSIZE))
        return error;
    long r = file_rewrite(old->fd, new.at, new.used);
    if (r != 0 && file_rewrite(old->fd, old->bytes, size) != 0)
        report(real_path, "could only be rewritten in part, and is damaged", NULL);
    return r;
}

static long write_new(const struct change *c, const struct old *old)
{
    struct buffer new;
    long r = make_new(c, old, &new);
    if (r != 0)
        return r;
    long fd = open_part(old);
    if ((fd == -EACCES || fd == -EPERM) && old->fd >= 0)
        return in_place(c, old, fd);
    if (fd < 0)
        return fd;
    r = write_part((int)fd, &new, old);
    if (r == 0)
        r = old->fd >= 0 ? take_place(old) : take_name();
    if (r != 0 && is_elsewhere((int)fd, part_path) == 0)
        sys_unlink(part_path);
    sys_close((int)fd);
    return r;
}

static long try_update(const struct change *c)
{
    struct old old = {.fd = -1};
    bool wants_in_place = text_number(names_variable("MONARC_COVER_IN_PLACE"), 0) != 0;
    long r = lock_old(&old);
    if (r == 0 && old.fd >= 0)
        r = read_old(&old);
    if (r == 0 && !(wants_in_place && old.fd >= 0 && in_place(c, &old, -EAGAIN) == 0))
        r = write_new(c, &old);
    close_old(&old);
    return r;
}

static long update(const char *path, const struct change *c)
{
    long r = resolve(path);
    if (r == 0)
        r = CHANGED;
    for (int i = 0; i < TRIES_MAX && r == CHANGED; i++)
        r = try_update(c);
    return r == CHANGED ? -EBUSY : r;
}

bool store_update(const char *path, const struct change *c)
{
    long r = update(path, c);
    if (r != 0)
        report_lost(path, r);
    return r == 0;
}
