/* Making, swapping and removing folders of recordings. */
#include "session/run_folder.h"

#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Removes the files of a recording from a folder; processes have folders of their own in it, whose
 * names begin with a digit. Others' files stay, and the folder with them. */
static void remove_files(int fd, bool goes_in)
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
        if (!goes_in || is_dots(name) || name[0] < '0' || name[0] > '9')
            continue;
        int inner = openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0)
            continue;
        remove_files(inner, false);
        unlinkat(dirfd(folder), name, AT_REMOVEDIR);
    }
    closedir(folder);
}

static bool remove_recording(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    remove_files(fd, true);
    return rmdir(path) == 0;
}

static bool is_recording(const char *path, struct arena *a)
{
    return access(arena_printf(a, "%s/monarc.side", path), F_OK) == 0 ||
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

bool run_folder_make(struct run_folder *f, const char *name, struct arena *a, struct err *e)
{
    char real[PATH_MAX];
    size_t len = strlen(name);
    while (len > 1 && name[len - 1] == '/')
        len--;
    *f = (struct run_folder){.name = arena_copy(a, name, len)};
    if (!may_be_replaced(f->name, a, e))
        return false;
    char *working = arena_printf(a, "%s.new-XXXXXX", f->name);
    if (!mkdtemp(working))
        return err_errno(e, f->name, errno);
    mode_t mask = umask(0);
    umask(mask);
    chmod(working, 0777 & ~mask);
    if (!realpath(working, real))
        return err_errno(e, working, errno);
    f->working = arena_copy(a, real, strlen(real));
    return true;
}

bool run_folder_keep(struct run_folder *f, struct arena *a, struct err *e)
{
    const char *old = arena_printf(a, "%s.old", f->name);
    if (is_recording(f->name, a)) {
        if (!remove_recording(old))
            return err_in(e, f->working, "is the new recording, since %s cannot be removed: %s",
                          old, strerror(errno));
        if (rename(f->name, old) && errno != ENOENT)
            return err_in(e, f->working, "is the new recording, since %s cannot be renamed: %s",
                          f->name, strerror(errno));
    }
    if (rename(f->working, f->name))
        return err_in(e, f->working, "is the new recording, since it cannot be named %s: %s",
                      f->name, strerror(errno));
    return true;
}

void run_folder_drop(struct run_folder *f)
{
    if (f->working)
        remove_recording(f->working);
}
