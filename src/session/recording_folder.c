/* The folder of a recording while it is made, and how it gets its name.
 *
 *     NAME.new-XXXXXX   made here, under a name of its own: runs at the same time do not meet
 *     NAME              the recording, once it is whole
 *     NAME.old          the one before, kept once
 *
 * At the end the three are swapped by renaming, under a lock on the folder that they lie in, so
 * that of several runs that end together each finds a state that the others left whole. What was
 * recorded is never lost: where NAME cannot be had, the recording takes another name (NAME.2, or
 * for prog.monarc prog.2.monarc) and says why. It cannot be had if another run of that name ended
 * in the meantime, whose recording no user has seen yet; if NAME.old holds something of the user's;
 * or if a rename fails.
 *
 * Whoever makes a recording holds a lock on its working folder. One without a lock was left by a
 * run that was killed: the next run of that name removes it if it is empty, and names it otherwise,
 * for 'monarc recover'.
 *
 * Only files that recordings consist of are ever removed, by their names, no deeper than recordings
 * go, and never through a link. */
#include "session/recording_folder.h"

#include "base/path.h"
#include "session/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WORKING ".new-XXXXXX"

/* Processes have folders of their own in a recording, whose names begin with a digit, and so have
 * runs of a series: run-N. */
static bool is_our_folder(const char *name)
{
    const char *number = !strncmp(name, "run-", 4) ? name + 4 : name;
    return *number >= '0' && *number <= '9';
}

/* Removes the files of a recording from a folder, and from folders in it, down to `depth`. Others'
 * files stay, and the folder with them. */
static void remove_files(int fd, int depth)
{
    DIR *folder = fdopendir(fd);
    struct dirent *entry;
    if (!folder) {
        close(fd);
        return;
    }
    while ((entry = readdir(folder))) {
        const char *name = entry->d_name;
        /* Files that recordings consist of. */
        if (!strncmp(name, "monarc.", 7) || !strcmp(name, "gmon.out") ||
            path_has_suffix(name, ".gmon"))
            unlinkat(dirfd(folder), name, 0);
        if (!depth || !is_our_folder(name))
            continue;
        int inner = openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0)
            continue;
        remove_files(inner, depth - 1);
        unlinkat(dirfd(folder), name, AT_REMOVEDIR);
    }
    closedir(folder);
}

bool recording_folder_remove(const char *path)
{
    enum { RECORDING_AND_PROCESS = 2 };
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    remove_files(fd, RECORDING_AND_PROCESS);
    return rmdir(path) == 0;
}

static bool is_recording(const char *path, struct arena *a)
{
    size_t len;
    const char *run = recorded_runs(path, a, &len)[0];
    return access(arena_printf(a, "%s/monarc.side", run), F_OK) == 0 ||
           access(arena_printf(a, "%s/monarc.live", path), F_OK) == 0;
}

/* Nothing there, an empty folder, or a recording. */
static bool may_be_replaced(const char *name, struct arena *a, struct err *e)
{
    struct stat st;
    if (lstat(name, &st))
        return errno == ENOENT || err_errno(e, name, errno);
    if (!S_ISDIR(st.st_mode))
        return err_in(e, name, "exists and is not a folder; choose another name with -o");
    if (is_recording(name, a))
        return true;
    DIR *folder = opendir(name);
    struct dirent *entry;
    bool is_empty = folder != NULL;
    while (is_empty && (entry = readdir(folder)))
        is_empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    if (folder)
        closedir(folder);
    return is_empty ||
           err_in(
               e, name,
               "exists and holds something other than a recording; choose another folder with -o");
}

/* Closing gives a lock of flock() back. Neither lock is inherited by the program that is recorded,
 * so both end with us however we end, or with the launcher, which follows us in a moment. */
static void unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* Locks the folder that `name` lies in: the descriptor, or -1. Without the lock, rename() still
 * decides who is first. Others hold it for a moment; a longer holder is not one of us, but perhaps
 * flock(1) that started us. */
static int lock_parent(const char *name, struct arena *a)
{
    enum { TRIES = 100, WAIT_NS = 10000000 };
    size_t len = path_folder_length(name);
    const char *parent = len ? arena_copy(a, name, len) : name[0] == '/' ? "/" : ".";
    int lock = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; lock >= 0 && flock(lock, LOCK_EX | LOCK_NB); i++) {
        if (errno != EWOULDBLOCK || i == TRIES) {
            close(lock);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    return lock;
}

/* Opens a working folder and takes its lock: -1 if it is not to be had, because a run holds it or
 * because the file system has no locks. */
static int lock_working(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The length of NAME in NAME.new-XXXXXX, or 0. */
static size_t working_stem(const char *path)
{
    size_t len = strlen(path), suffix = strlen(WORKING);
    return len > suffix && !strncmp(path + len - suffix, WORKING, suffix - strlen("XXXXXX")) &&
                   !strchr(path + len - suffix, '/')
               ? len - suffix
               : 0;
}

/* Looks through the working folders of that name that no run holds: removes the empty ones, and
 * remembers the first of the others and their number. Only under the lock on the folder around
 * them, as a folder has no lock yet between its making and its locking. */
static void find_left(struct recording_folder *f, int parent, struct arena *a)
{
    const char *base = path_base_name(f->name);
    size_t len = strlen(base);
    int copy = parent < 0 ? -1 : openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (strncmp(entry->d_name, base, len) || working_stem(entry->d_name) != len)
            continue;
        int fd = lock_working(parent, entry->d_name);
        if (fd < 0)
            continue;
        close(fd);
        if (unlinkat(parent, entry->d_name, AT_REMOVEDIR) && !f->left_len++)
            f->left =
                arena_printf(a, "%.*s%s", (int)(strlen(f->name) - len), f->name, entry->d_name);
    }
    if (folder)
        closedir(folder);
}

bool recording_folder_make(struct recording_folder *f, const char *name, struct arena *a,
                           struct err *e)
{
    char real[PATH_MAX];
    size_t len = strlen(name);
    while (len > 1 && name[len - 1] == '/')
        len--;
    struct stat st;
    *f = (struct recording_folder){.name = arena_copy(a, name, len), .lock = -1};
    if (!may_be_replaced(f->name, a, e))
        return false;
    f->seen = lstat(f->name, &st) ? 0 : st.st_ino;
    char *working = arena_printf(a, "%s%s", f->name, WORKING);
    int parent = lock_parent(f->name, a);
    find_left(f, parent, a);
    const char *made = mkdtemp(working);
    int why = errno;
    if (made)
        f->lock = lock_working(AT_FDCWD, working);
    unlock(parent);
    errno = why;
    if (!made) {
        /* With the option that would do, if any is to be had. */
        const char *place = getenv("TMPDIR");
        place = place && *place == '/' ? place : "/tmp";
        if ((errno != EACCES && errno != EROFS && errno != EPERM) || access(place, W_OK | X_OK))
            return err_set(
                e, "%s: the recording cannot be written here: %s; choose another folder with -o",
                f->name, strerror(errno));
        return err_set(e, "%s: the recording cannot be written here: %s; try -o %s", f->name,
                       strerror(errno), arena_printf(a, "%s/%s", place, path_base_name(f->name)));
    }
    if (!realpath(working, real))
        return err_errno(e, working, errno);
    f->working = arena_copy(a, real, strlen(real));
    return true;
}

/* A name that is free: NAME.2 and so on, or where NAME ends in .monarc, before that. */
static const char *another_name(const char *name, struct arena *a)
{
    static const char SUFFIX[] = ".monarc";
    enum { MOST = 100000 };
    bool has_suffix = path_has_suffix(name, SUFFIX);
    int stem = (int)(strlen(name) - (has_suffix ? sizeof SUFFIX - 1 : 0));
    for (int i = 2; i < MOST; i++) {
        struct stat st;
        const char *next = arena_printf(a, "%.*s.%d%s", stem, name, i, has_suffix ? SUFFIX : "");
        if (lstat(next, &st) && errno == ENOENT)
            return next;
    }
    return NULL;
}

/* Moves the recording that has the name out of the way. Returns why it cannot, or NULL. */
static const char *make_way(const struct recording_folder *f, struct arena *a)
{
    const char *old = arena_printf(a, "%s.old", f->name);
    struct stat st;
    if (lstat(f->name, &st))
        return errno == ENOENT ? NULL : strerror(errno);
    if (st.st_ino != f->seen)
        return "another run of that name has ended in the meantime";
    if (!is_recording(f->name, a))
        return NULL; /* an empty folder: rename() takes its place, and fails if it is not empty */
    struct err why = {0};
    if (!may_be_replaced(old, a, &why) || !recording_folder_remove(old))
        return arena_printf(a, "%s holds something other than a recording", old);
    if (rename(f->name, old) && errno != ENOENT)
        return arena_printf(a, "%s cannot be renamed: %s", f->name, strerror(errno));
    return NULL;
}

/* Gives a folder the name f->name, or, with a reason `why` or where that fails, another one. The
 * reason ends up in f->elsewhere, the name in f->name. If no name at all is to be had, the folder
 * stays where it is: nothing is removed here. */
static bool give_name(struct recording_folder *f, const char *folder, const char *why,
                      struct arena *a, struct err *e)
{
    if (!why && rename(folder, f->name))
        why = strerror(errno);
    if (why) {
        const char *other = another_name(f->name, a);
        f->elsewhere = why;
        f->name = other && !rename(folder, other) ? other : folder;
    }
    return f->name != folder ||
           err_in(e, folder, "is the new recording, which cannot be renamed: %s", why);
}

bool recording_folder_keep(struct recording_folder *f, struct arena *a, struct err *e)
{
    int parent = lock_parent(f->name, a);
    bool ok = give_name(f, f->working, make_way(f, a), a, e);
    unlock(parent);
    unlock(f->lock);
    f->lock = -1;
    return ok;
}

void recording_folder_drop(struct recording_folder *f)
{
    if (!f->working)
        return;
    recording_folder_remove(f->working);
    unlock(f->lock);
    f->lock = -1;
}

bool recording_folder_adopt(struct recording_folder *f, const char *path, struct arena *a,
                            struct err *e)
{
    char *working = arena_copy(a, path, strlen(path));
    size_t len = strlen(working);
    while (len > 1 && working[len - 1] == '/')
        working[--len] = '\0';
    *f = (struct recording_folder){.name = working, .working = working, .lock = -1};
    size_t stem = working_stem(working);
    if (!stem || !path_is_folder(working))
        return true;
    int parent = lock_parent(working, a);
    f->lock = lock_working(AT_FDCWD, working);
    bool is_free = f->lock >= 0;
    if (is_free && is_recording(working, a)) {
        struct stat st;
        f->name = arena_copy(a, working, stem);
        bool is_taken = !lstat(f->name, &st);
        is_free = give_name(f, working, is_taken ? "another recording has that name" : NULL, a, e);
    } else if (!is_free) {
        err_in(e, working, "is in use: the program that is recorded there still runs");
    }
    unlock(f->lock);
    unlock(parent);
    f->lock = -1;
    return is_free;
}
