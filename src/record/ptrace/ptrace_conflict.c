/* Looking into the file of a program for what tracing would break: what it is linked to and the
 * rights it has. Refuses to know programs by their names. */
#include "record/ptrace/ptrace_conflict.h"

#include "objfile/object.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_BYTES = 64, MOST_KNOWN = 10000 };

const char *ptrace_conflict_text(enum ptrace_conflict why)
{
    static const char *const texts[TRACED_KINDS] = {
        [TRACED_TRACER] =
            "a program that another one traces, as debuggers do, or that may trace others "
            "and makes many calls, was left alone with what it starts; perf events "
            "would see it",
        [TRACED_LEAKS] = "a program with a leak checker, which needs ptrace, was left alone; perf "
                         "events would see it",
        [TRACED_RIGHTS] = "a program that has other rights than we (setuid, setgid or file "
                          "capabilities) was left alone; record it as root",
    };
    return texts[why];
}

static bool badly_needs_leak_checker(struct object *o)
{
    const struct object_facts *facts = object_facts(o);
    for (size_t i = 0; i < facts->needed_len; i++)
        if (!strncmp(facts->needed[i], "libasan.", 8) || !strncmp(facts->needed[i], "liblsan.", 8))
            return true;
    return object_mentions(o, "__lsan_do_leak_check") || object_mentions(o, "__lsan_init");
}

static enum ptrace_conflict badly_by_file(const char *path)
{
    enum ptrace_conflict why = TRACED_WELL;
    struct object *o = object_open(path, NULL, NULL, NULL);
    if (!o)
        return why;
    if (badly_needs_leak_checker(o))
        why = TRACED_LEAKS;
    else if (object_mentions(o, "ptrace"))
        why = TRACED_TRACER;
    object_close(o);
    return why;
}

/* The superuser's programs get their rights even while traced. */
static bool badly_has_rights(const char *path, const struct stat *file)
{
    struct statvfs system;
    if (geteuid() == 0 || (!statvfs(path, &system) && system.f_flag & ST_NOSUID))
        return false;
    bool is_set = (file->st_mode & S_ISUID && file->st_uid != geteuid()) ||
                  (file->st_mode & S_ISGID && file->st_mode & S_IXGRP && file->st_gid != getegid());
    return is_set || getxattr(path, "security.capability", NULL, 0) > 0;
}

enum ptrace_conflict ptrace_conflict(struct traced_files *known, pid_t pid)
{
    char path[PATH_BYTES];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (stat(path, &file))
        return TRACED_WELL;
    uint64_t changed = (uint64_t)file.st_ctim.tv_sec * 1000000000 + (uint64_t)file.st_ctim.tv_nsec;
    if (known->by_inode.len > MOST_KNOWN)
        traced_files_deinit(known);
    bool is_new;
    uint32_t *why = map_at(&known->by_inode, (uint64_t)file.st_ino ^ (uint64_t)file.st_dev << 40,
                           changed, TRACED_WELL, &is_new);
    if (is_new)
        *why = badly_has_rights(path, &file) ? TRACED_RIGHTS : badly_by_file(path);
    return *why;
}

void traced_files_deinit(struct traced_files *known)
{
    map_deinit(&known->by_inode);
    *known = (struct traced_files){0};
}
