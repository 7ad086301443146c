/* Counter files of a process that did not write them itself.
 *
 * Their names stand in its memory, where it may have put any name. So they are opened as the
 * process would have opened them: below its root, from the folder that it is in, with its user,
 * groups, capabilities and umask. Where these are ours, we do it; else a child of ours becomes such
 * a process first, and if it cannot, nothing is written.
 *
 * What is done to a file are the rules of runtime/coverage/store.c, but that it is changed in
 * place: libgcov, which other processes of the run have, waits for the lock of the file that it
 * has opened, and would add to one that has lost its name.
 *
 *     not there                     made, with its folders
 *     no plain file, a link         left alone: an error
 *     begins as no counters do      left alone: an error, as it is not ours
 *     of another build              renamed to PATH.other-N, and begun anew
 *     damaged                       renamed to PATH.damaged-N, and begun anew
 *     locked for ten seconds        left alone: an error. Its owner may be stopped, until we go on
 *
 * A write that fails half way is taken back. */
#include "record/counter_files.h"

#include "coverage/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_ASIDE = 10000,
    LOCK_TRIES = 1000,
    LOCK_FEW = 20,
    LOCK_PAUSE_NS = 10000000,
    MOST_TRIES = 100
};

/* --- the place ------------------------------------------------------------------------------- */

/* Roots and name spaces are known by what the kernel's links lead to. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The numbers after a key of a status file, from the `skip`th on. */
static const char *status_value(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? at + strlen(key) : "";
}

/* Those that are in force, as a set of bits. */
static uint64_t own_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capget, &header, data))
        return 0;
    return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* "Uid:" and "Gid:" have four numbers, of which the last is for files. */
static unsigned long status_last(const char *at)
{
    unsigned long number = 0;
    char *end = NULL;
    for (int i = 0; i < 4; i++, at = end)
        number = strtoul(at, &end, 10);
    return number;
}

/* Whether the process may do what we may, and sees the files that we see. */
static bool place_is_ours(const struct counter_place *p, bool is_same_view)
{
    gid_t groups[256];
    int len = getgroups(256, groups);
    bool is_same = is_same_view && p->uid == geteuid() && p->gid == getegid() && len >= 0 &&
                   (size_t)len == p->groups.len && p->capabilities == own_capabilities();
    for (size_t i = 0; i < p->groups.len && is_same; i++) {
        bool is_found = false;
        for (int k = 0; k < len; k++)
            is_found |= groups[k] == p->groups.at[i];
        is_same = is_found;
    }
    return is_same;
}

void counter_place_take(struct counter_place *into, pid_t tid)
{
    char path[64], other[64], text[8192];
    struct counter_place place = {0}, *p = &place;
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    snprintf(path, sizeof path, "/proc/%d/root", (int)tid);
    p->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(other, sizeof other, "/proc/%d/cwd", (int)tid);
    p->cwd = open(other, O_PATH | O_DIRECTORY | O_CLOEXEC);
    p->is_known = true;
    if (len <= 0 || p->root < 0 || p->cwd < 0) { /* as of a process that is not dumped */
        counter_place_deinit(p);
        return;
    }
    text[len] = '\0';
    bool is_same_view = is_same_file(path, "/");
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)tid);
    is_same_view &= is_same_file(path, "/proc/self/ns/mnt");
    p->uid = (uid_t)status_last(status_value(text, "\nUid:"));
    p->gid = (gid_t)status_last(status_value(text, "\nGid:"));
    p->umask = (mode_t)strtoul(status_value(text, "\nUmask:"), NULL, 8);
    char *end = NULL;
    for (const char *at = status_value(text, "\nGroups:");; at = end) {
        gid_t group = (gid_t)strtoul(at, &end, 10);
        if (end == at || !memchr(at, '\n', strlen(at)) || memchr(at, '\n', (size_t)(end - at)))
            break;
        vec_push(&p->groups, group);
    }
    /* Those of another user namespace are good for its own files only. */
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)tid);
    if (is_same_file(path, "/proc/self/ns/user"))
        p->capabilities = strtoull(status_value(text, "\nCapEff:"), NULL, 16);
    p->is_ours = place_is_ours(p, is_same_view);
    counter_place_deinit(into);
    *into = place;
}

void counter_place_copy(struct counter_place *into, const struct counter_place *from)
{
    counter_place_deinit(into);
    if (!from->is_known)
        return;
    *into = *from;
    memset(&into->groups, 0, sizeof into->groups);
    for (size_t i = 0; i < from->groups.len; i++)
        vec_push(&into->groups, from->groups.at[i]);
    into->root = fcntl(from->root, F_DUPFD_CLOEXEC, 0);
    into->cwd = fcntl(from->cwd, F_DUPFD_CLOEXEC, 0);
}

void counter_place_deinit(struct counter_place *p)
{
    if (p->is_known && p->root >= 0)
        close(p->root);
    if (p->is_known && p->cwd >= 0)
        close(p->cwd);
    vec_free(&p->groups);
    *p = (struct counter_place){0};
}

/* Becomes a process of that place; for a child of ours, which ends soon. */
static bool place_enter(const struct counter_place *p, struct err *e)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {
        {(uint32_t)p->capabilities, (uint32_t)p->capabilities, 0},
        {(uint32_t)(p->capabilities >> 32), (uint32_t)(p->capabilities >> 32), 0}};
    if (fchdir(p->root) || chroot(".") || fchdir(p->cwd))
        return err_set(e, "the root folder of a process cannot be entered (%s)", strerror(errno));
    bool is_superuser = geteuid() == 0;
    if (is_superuser && setgroups(p->groups.len, p->groups.at))
        return err_errno(e, "setgroups", errno);
    if (setresgid(p->gid, p->gid, p->gid) || setresuid(p->uid, p->uid, p->uid))
        return err_set(e, "the rights of a process cannot be had (%s)", strerror(errno));
    if (p->uid == 0 && syscall(SYS_capset, &header, data))
        return err_errno(e, "capset", errno);
    return true;
}

/* --- one file -------------------------------------------------------------------------------- */

/* Waits for libgcov's lock, but not for ever. */
static bool file_lock(int fd, int tries)
{
    const struct timespec pause = {0, LOCK_PAUSE_NS};
    for (int i = 0; i < tries; i++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (!fcntl(fd, F_SETLK, &lock))
            return true;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return errno == ENOLCK || errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP;
        nanosleep(&pause, NULL);
    }
    errno = EAGAIN;
    return false;
}

/* Those of GCOV_PREFIX, as libgcov makes them; what cannot be made shows when the file is opened.
 */
static void make_folders(const struct counter_place *p, const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdirat(p->cwd, folder, 0777);
        *slash = '/';
    }
}

/* A file that is open and locked. */
struct locked {
    int fd;
    bool is_new;  /* made by us */
    bool is_busy; /* not locked: another process has it */
};

/* Whoever waited for the lock may have a file that has lost its name, and begins again. */
static bool file_open_locked(const struct counter_place *p, const char *path, bool is_patient,
                             struct locked *out, struct err *e)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (int i = 0; i < MOST_TRIES; i++) {
        struct stat here, there;
        *out = (struct locked){openat(p->cwd, path, flags), false, false};
        if (out->fd < 0 && errno == ENOENT) {
            out->fd = openat(p->cwd, path, flags | O_CREAT | O_EXCL, 0666);
            out->is_new = out->fd >= 0;
            if (out->fd < 0 && errno == ENOENT && i < MOST_TRIES / 2) {
                make_folders(p, path);
                i = MOST_TRIES / 2;
                continue;
            }
            if (out->fd < 0 && errno == EEXIST)
                continue;
        }
        if (out->fd < 0 && errno == ELOOP)
            return err_in(e, path, "is a link, through which counters are not written");
        if (out->fd < 0)
            return err_errno(e, path, errno);
        bool is_locked = false;
        if (fstat(out->fd, &here) || !S_ISREG(here.st_mode))
            err_in(e, path, "is not a regular file");
        else if (!(is_locked = file_lock(out->fd, is_patient ? LOCK_TRIES : LOCK_FEW)))
            out->is_busy = err_in(e, path, "is locked by another process") || errno == EAGAIN;
        if (is_locked && !fstatat(p->cwd, path, &there, AT_SYMLINK_NOFOLLOW) &&
            here.st_ino == there.st_ino && here.st_dev == there.st_dev)
            return true;
        close(out->fd);
        if (!is_locked)
            return false;
    }
    return err_in(e, path, "is replaced again and again");
}

/* What was there, to be added to, or put back. */
static bool file_read_all(int fd, struct writer *old)
{
    uint8_t buffer[65536];
    ssize_t len;
    while ((len = pread(fd, buffer, sizeof buffer, (off_t)old->out.len)) > 0)
        writer_bytes(old, buffer, (size_t)len);
    return len == 0;
}

/* In place; a limit on the size of files makes it fail, and does not end us (main.c). */
static bool file_put(int fd, struct bytes bytes)
{
    size_t done = 0;
    while (done < bytes.len) {
        ssize_t n = pwrite(fd, bytes.at + done, bytes.len - done, (off_t)done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return !ftruncate(fd, (off_t)bytes.len);
}

/* The new bytes, or the old ones again. */
static bool file_change(int fd, const char *path, struct bytes old, struct bytes new, struct err *e)
{
    if (file_put(fd, new))
        return true;
    int error = errno;
    (void)file_put(fd, old);
    return err_errno(e, path, error);
}

/* Gives a file that does not fit another name. */
static bool file_set_aside(const struct counter_place *p, const char *path, const char *how,
                           struct err *e)
{
    char aside[4096 + 32];
    for (int n = 1; n < MOST_ASIDE; n++) {
        snprintf(aside, sizeof aside, "%s.%s-%d", path, how, n);
        if (!syscall(SYS_renameat2, p->cwd, path, p->cwd, aside, 1 /* RENAME_NOREPLACE */))
            return true;
        if (errno == EINVAL && faccessat(p->cwd, aside, F_OK, AT_SYMLINK_NOFOLLOW) &&
            !renameat(p->cwd, path, p->cwd, aside))
            return true;
        if (errno != EEXIST)
            return err_errno(e, path, errno);
    }
    return err_in(e, path, "does not fit, and there is no name left to set it aside");
}

/* The sum of what is there and ours. *how: it does not fit, and ours are to be alone. */
static bool file_sum(struct bytes old, struct bytes ours, const char *path, uint64_t most,
                     struct writer *sum, const char **how, struct err *e)
{
    struct counters new = {0}, all = {0};
    struct err ignored = {0};
    bool ok = gcda_read(ours, path, &new, e);
    for (size_t i = 0; i < new.summaries.len; i++)
        new.summaries.at[i].sum_max = most;
    *how = NULL;
    if (ok && old.len && !gcda_read(old, path, &all, &ignored))
        *how = "damaged";
    else if (ok && old.len &&
             (all.origin.version != new.origin.version || all.origin.stamp != new.origin.stamp ||
              !counters_merge(&all, &new, &ignored)))
        *how = "other";
    struct counters *result = old.len && !*how ? &all : &new;
    counters_mark_zeros(result);
    ok = ok && gcda_write(sum, result, e);
    counters_deinit(&new);
    counters_deinit(&all);
    return ok;
}

/* Adds to one file. One that was set aside leaves its name to a new one. */
static bool file_add(const struct counter_place *p, const struct counter_file *f, uint64_t most,
                     bool is_patient, struct counter_outcome *out, struct err *e)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        struct writer old = {.word = 8}, sum = {.word = 8};
        struct locked file;
        const char *how = NULL;
        if (!file_open_locked(p, f->path, is_patient, &file, e)) {
            out->is_busy = file.is_busy;
            return false;
        }
        bool is_aside = false;
        bool ok = file_read_all(file.fd, &old) || err_errno(e, f->path, errno);
        struct bytes before = {old.out.at, old.out.len};
        if (ok && before.len && !gcda_probe(before))
            ok = err_in(e, f->path, "is not a counters file, and was left as it is");
        ok = ok && file_sum(before, f->bytes, f->path, most, &sum, &how, e);
        if (ok && how) {
            is_aside = ok = file_set_aside(p, f->path, how, e);
            out->aside += ok;
        }
        if (ok && !is_aside)
            ok = file_change(file.fd, f->path, before, (struct bytes){sum.out.at, sum.out.len}, e);
        if (!ok && file.is_new)
            (void)unlinkat(p->cwd, f->path, 0);
        close(file.fd);
        writer_deinit(&old);
        writer_deinit(&sum);
        if (!is_aside)
            return ok;
    }
    return err_in(e, f->path, "is replaced again and again");
}

/* Goes on at out->done, and stops at a file that is busy. */
static bool files_add(const struct counter_place *p, const struct counter_file *files, size_t len,
                      uint64_t most, bool is_patient, struct counter_outcome *out, struct err *e)
{
    mode_t before = umask(p->umask);
    bool ok = true;
    out->is_busy = false;
    while (out->done < len) {
        struct err one = {0};
        bool is_added = file_add(p, &files[out->done], most, is_patient, out, &one);
        if (out->is_busy && !is_patient)
            break;
        out->done++;
        out->written += is_added;
        if (!is_added && ok)
            *e = one;
        ok &= is_added;
    }
    umask(before);
    return ok;
}

/* --- as another process ---------------------------------------------------------------------- */

/* What the child says in the end. */
struct report {
    bool is_done;
    struct counter_outcome out;
    struct err error;
};

bool counter_files_add(const struct counter_place *p, const struct counter_file *files, size_t len,
                       uint64_t most, bool is_patient, struct counter_outcome *out, struct err *e)
{
    struct report report = {.out = *out};
    int ends[2], status;
    if (out->done >= len)
        return true;
    if (!p->is_known) {
        out->done = len;
        return err_set(e, "counters of a process are lost: where it was, and with which rights, "
                          "could not be read");
    }
    if (p->is_ours)
        return files_add(p, files, len, most, is_patient, out, e);
    if (pipe2(ends, O_CLOEXEC))
        return err_errno(e, "pipe", errno);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        report.is_done = place_enter(p, &report.error) &&
                         files_add(p, files, len, most, is_patient, &report.out, &report.error);
        if (!report.is_done && !report.out.is_busy)
            report.out.done = len;
        _exit(write(ends[1], &report, sizeof report) != sizeof report);
    }
    close(ends[1]);
    report.is_done = false;
    bool is_heard = pid > 0 && read(ends[0], &report, sizeof report) == sizeof report;
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    *out = report.out;
    if (!is_heard) {
        out->done = len;
        return err_set(e, "counters of a process could not be written as that process");
    }
    if (!report.is_done)
        *e = report.error;
    return report.is_done;
}
