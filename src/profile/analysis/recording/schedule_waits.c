/* Which threads may end a wait, by the call that it is in. */
#include "arch/arch.h"
#include "profile/analysis/diagnosis.h"
#include "profile/analysis/recording/schedule_private.h"

#include <string.h>

/* Lists are short, and each node is looked up once a wait: no table is worth it. */
static bool wait_is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

enum wait_kind schedule_spins_for(const struct recording *r, uint32_t node)
{
    /* What spins calls sched_yield() or polls: the library's own frame is a few above that. */
    enum { FRAMES = 12 };
    for (int i = 0; i < FRAMES && node; i++, node = r->nodes.at[node].parent) {
        const struct recording_object *o = &r->objects.at[r->nodes.at[node].object];
        enum library_spins spins =
            o->kind == RECORDING_OBJECT_FILE ? diagnosis_library_spins(o->path) : LIBRARY_WORKS;
        const char *slash = o->kind == RECORDING_OBJECT_FILE ? strrchr(o->path, '/') : NULL;
        if (spins != LIBRARY_WORKS)
            return spins == LIBRARY_SPINS_FOR_THREADS ? WAIT_THREAD : WAIT_PEER;
        if (o->kind == RECORDING_OBJECT_FILE &&
            strncmp(slash ? slash + 1 : o->path, "libc.so", 7) != 0)
            return WAIT_OTHER;
    }
    return WAIT_OTHER;
}

enum wait_kind schedule_wait_kind(const struct recording *r, uint32_t node)
{
    /* Names, not numbers, as numbers differ between machines; some names are of one machine
     * alone (futex_time64 on 32 bits). */
    static const char *const TIMER[] = {"nanosleep", "clock_nanosleep", "clock_nanosleep_time64",
                                        NULL};
    static const char *const CHILD[] = {"wait4", "waitid", "waitpid", "vfork", NULL};
    static const char *const THREAD[] = {"futex", "futex_time64", "futex_wait", "futex_waitv",
                                         NULL};
    static const char *const POLL[] = {
        "poll",       "ppoll",           "ppoll_time64", "select",      "pselect6",
        "_newselect", "pselect6_time64", "epoll_wait",   "epoll_pwait", "epoll_pwait2",
        NULL};
    static const char *const PEER[] = {"read",
                                       "write",
                                       "readv",
                                       "writev",
                                       "recvfrom",
                                       "recvmsg",
                                       "recvmmsg",
                                       "sendto",
                                       "sendmsg",
                                       "sendmmsg",
                                       "accept",
                                       "accept4",
                                       "connect",
                                       "rt_sigsuspend",
                                       "pause",
                                       "sigsuspend",
                                       "rt_sigtimedwait",
                                       "rt_sigtimedwait_time64",
                                       "splice",
                                       "tee",
                                       "sendfile",
                                       "msgrcv",
                                       "msgsnd",
                                       "semop",
                                       "semtimedop",
                                       "semtimedop_time64",
                                       "flock",
                                       "mq_timedsend",
                                       "mq_timedreceive",
                                       "io_uring_enter",
                                       "io_getevents",
                                       "io_pgetevents",
                                       "ioctl",
                                       "fcntl",
                                       NULL};
    /* Files, memory, programs: the kernel and its devices do that, and take as long for it. */
    static const char *const DEVICE[] = {"pread64",    "pwrite64",   "preadv",    "pwritev",
                                         "preadv2",    "pwritev2",   "open",      "openat",
                                         "openat2",    "creat",      "close",     "stat",
                                         "lstat",      "fstat",      "fstatat64", "newfstatat",
                                         "statx",      "access",     "faccessat", "faccessat2",
                                         "readlink",   "readlinkat", "getdents",  "getdents64",
                                         "unlink",     "unlinkat",   "rename",    "renameat",
                                         "renameat2",  "mkdir",      "mkdirat",   "rmdir",
                                         "link",       "linkat",     "symlink",   "symlinkat",
                                         "truncate",   "ftruncate",  "fallocate", "fsync",
                                         "fdatasync",  "sync",       "syncfs",    "sync_file_range",
                                         "msync",      "mmap",       "mmap2",     "munmap",
                                         "mremap",     "madvise",    "mprotect",  "brk",
                                         "mlock",      "execve",     "execveat",  "exit",
                                         "exit_group", "clone",      "clone3",    "fork",
                                         "chmod",      "fchmod",     "fchmodat",  "chown",
                                         "fchownat",   "utimensat",  "getxattr",  "copy_file_range",
                                         "readahead",  "fadvise64",  "mount",     "umount2",
                                         NULL};
    if (node == RECORDING_NONE)
        return WAIT_ANY;
    const struct recording_node *n = &r->nodes.at[node];
    if (r->objects.at[n->object].kind != RECORDING_OBJECT_WAIT)
        return WAIT_ANY;
    if (n->address == RECORDING_WAIT_READY)
        return WAIT_NO_CPU;
    if (n->address == RECORDING_WAIT_UNKNOWN)
        return WAIT_ANY;
    if (n->address == RECORDING_WAIT_FAULT)
        return WAIT_DEVICE;
    const char *name = arch_syscall_name(r->machine, n->address);
    if (!name)
        return WAIT_OTHER;
    if (wait_is_one_of(name, TIMER))
        return WAIT_TIMER;
    if (wait_is_one_of(name, CHILD))
        return WAIT_CHILD;
    if (wait_is_one_of(name, THREAD))
        return WAIT_THREAD;
    if (wait_is_one_of(name, POLL))
        return WAIT_POLL;
    if (wait_is_one_of(name, PEER))
        return WAIT_PEER;
    return wait_is_one_of(name, DEVICE) ? WAIT_DEVICE : WAIT_OTHER;
}
