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
 * in the meantime, whose recording nobody has seen yet; if NAME.old holds something of the user's;
 * or if a rename fails.
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
#include <unistd.h>

/* Files that recordings consist of. */
static bool is_ours(const char *name)
{
    return !strncmp(name, "monarc.", 7) || !strcmp(name, "gmon.out") ||
           path_has_suffix(name, ".gmon");
}

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Processes have folders of their own in a recording, whose names begin with a digit, and so have
 * runs of a series: run-N. */
static bool is_our_folder(const char *name)
{
    const char *number = !strncmp(name, "run-", 4) ? name + 4 : name;
    return *number >= '0' && *number <= '9';
}

/* Removes the files of a recording from a folder, and from folders in it, as deep as told. Others'
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
        if (is_ours(name))
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
        return err_in(e, name, "is there and no folder; name another one with -o");
    if (is_recording(name, a))
        return true;
    DIR *folder = opendir(name);
    struct dirent *entry;
    bool is_empty = folder != NULL;
    while (is_empty && (entry = readdir(folder)))
        is_empty = is_dots(entry->d_name);
    if (folder)
        closedir(folder);
    return is_empty ||
           err_in(e, name,
                  "is there and holds other things than a recording; name another folder "
                  "with -o");
}

/* With the option that would do, if any is to be had. */
static bool cannot_be_made(const struct recording_folder *f, int why, struct arena *a,
                           struct err *e)
{
    const char *place = getenv("TMPDIR");
    place = place && *place == '/' ? place : "/tmp";
    if ((why != EACCES && why != EROFS && why != EPERM) || access(place, W_OK | X_OK))
        return err_set(e,
                       "%s: the recording cannot be written here: %s; name another place with -o",
                       f->name, strerror(why));
    return err_set(e, "%s: the recording cannot be written here: %s; -o %s would do", f->name,
                   strerror(why), arena_printf(a, "%s/%s", place, path_base_name(f->name)));
}

bool recording_folder_make(struct recording_folder *f, const char *name, struct arena *a,
                           struct err *e)
{
    char real[PATH_MAX];
    size_t len = strlen(name);
    while (len > 1 && name[len - 1] == '/')
        len--;
    struct stat st;
    *f = (struct recording_folder){.name = arena_copy(a, name, len)};
    if (!may_be_replaced(f->name, a, e))
        return false;
    f->seen = lstat(f->name, &st) ? 0 : st.st_ino;
    char *working = arena_printf(a, "%s.new-XXXXXX", f->name);
    if (!mkdtemp(working))
        return cannot_be_made(f, errno, a, e);
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
        return arena_printf(a, "%s holds other things than a recording", old);
    if (rename(f->name, old) && errno != ENOENT)
        return arena_printf(a, "%s cannot be renamed: %s", f->name, strerror(errno));
    return NULL;
}

bool recording_folder_keep(struct recording_folder *f, struct arena *a, struct err *e)
{
    size_t len = path_folder_length(f->name);
    const char *parent = len ? arena_copy(a, f->name, len) : f->name[0] == '/' ? "/" : ".";
    int lock = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0)
        (void)!flock(lock, LOCK_EX); /* without it, rename() still decides who is first */
    const char *why = make_way(f, a);
    if (!why && rename(f->working, f->name))
        why = strerror(errno);
    if (why) {
        const char *other = another_name(f->name, a);
        f->elsewhere = why;
        f->name = other && !rename(f->working, other) ? other : f->working;
    }
    if (lock >= 0)
        close(lock);
    return f->name != f->working ||
           err_in(e, f->working, "is the new recording, which cannot be named: %s", why);
}

void recording_folder_drop(struct recording_folder *f)
{
    if (f->working)
        recording_folder_remove(f->working);
}
