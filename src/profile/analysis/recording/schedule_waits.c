/* Which threads may end a wait, by the call that it is in, or by the loop. */
#include "arch/arch.h"
#include "objfile/object.h"
#include "profile/analysis/diagnosis.h"
#include "profile/analysis/functions.h"
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

static bool is_pause(const struct instruction *i)
{
    static const char *const PAUSES[] = {"pause", "tpause", "umwait", "yield", "wfe", "isb"};
    size_t len = strcspn(i->text, " ");
    for (size_t k = 0; k < sizeof PAUSES / sizeof *PAUSES; k++)
        if (len == strlen(PAUSES[k]) && !memcmp(i->text, PAUSES[k], len))
            return true;
    return false;
}

/* Whether the innermost loop around an address, which ends with the first branch that goes back to
 * it or further, has a pause. */
static bool code_spins(struct disassembler *d, uint64_t address)
{
    enum { MOST = 128 }; /* bytes of a loop */
    struct instruction i = {0};
    uint64_t at = address, start = 0;
    for (; !start && at < address + MOST; at += i.bytes) {
        if (!disassemble(d, at, at + 16, &i) || !i.bytes || !strncmp(i.text, "ret", 3))
            return false;
        bool is_call = !strncmp(i.text, "call", 4) || !strncmp(i.text, "bl ", 3);
        if (i.has_target && !is_call && i.target <= address && address - i.target < MOST)
            start = i.target;
    }
    for (uint64_t end = at, in = start; start && in < end; in += i.bytes)
        if (!disassemble(d, in, end, &i) || !i.bytes)
            return false;
        else if (is_pause(&i))
            return true;
    return false;
}

static bool is_yield_name(const char *name)
{
    return !strcmp(name + strspn(name, "_"), "sched_yield");
}

const bool *schedule_find_spins(const struct recording *r, struct object *const *files,
                                const struct functions *functions, const uint32_t *function,
                                struct arena *a)
{
    enum { NOT_YET, SPINS, WORKS };
    bool *spins = ARENA_NEW(a, bool, r->nodes.len + 1);
    struct arena scratch = {0};
    uint8_t *known = ARENA_NEW(&scratch, uint8_t, r->nodes.len + 1);
    struct disassembler *d = NULL;
    uint32_t opened = RECORDING_NONE;
    /* A thread alone waits for none, and no file is opened for it. */
    for (size_t i = 0; i < r->samples.len && r->threads.len > 1; i++) {
        /* The innermost frame outside of the kernel, and whether the kernel interrupted it. */
        uint32_t node = r->samples.at[i].node, inside = node;
        bool is_there = true;
        for (; inside; inside = r->nodes.at[inside].parent) {
            const struct recording_node *n = &r->nodes.at[inside];
            if (r->objects.at[n->object].kind != RECORDING_OBJECT_KERNEL)
                break;
            is_there &= n->address == RECORDING_KERNEL_FAULT;
        }
        uint32_t object = r->nodes.at[inside].object;
        if (!inside || r->objects.at[object].kind != RECORDING_OBJECT_FILE)
            continue;
        if (!known[inside]) {
            bool is_yield = function[inside] != NO_FUNCTION &&
                            is_yield_name(functions->at[function[inside]].name);
            if (is_there && object != opened) {
                const char *why;
                struct object *file = files[object];
                disassembler_close(d);
                d = file && object_has_code(file) ? disassembler_open(file, false, &why) : NULL;
                opened = object;
            }
            bool is_loop = is_there && d && code_spins(d, r->nodes.at[inside].address);
            known[inside] = is_yield || is_loop ? SPINS : is_there ? WORKS : NOT_YET;
        }
        spins[node] = known[inside] == SPINS;
    }
    disassembler_close(d);
    arena_deinit(&scratch);
    return spins;
}

enum wait_kind schedule_spins_for(const struct schedule *s, uint32_t node)
{
    const struct recording *r = s->recording;
    if (s->spins && s->spins[node])
        return WAIT_THREAD;
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
    static const char *const POLL[] = {"poll",
                                       "ppoll",
                                       "ppoll_time64",
                                       "select",
                                       "pselect6",
                                       "_newselect",
                                       "pselect6_time64",
                                       "epoll_wait",
                                       "epoll_pwait",
                                       "epoll_pwait2",
                                       "rt_sigtimedwait",
                                       "rt_sigtimedwait_time64",
                                       "semtimedop",
                                       "semtimedop_time64",
                                       "mq_timedsend",
                                       "mq_timedreceive",
                                       "io_getevents",
                                       "io_pgetevents",
                                       NULL};
    static const char *const PEER[] = {
        "read",   "write",      "readv",          "writev", "recvfrom", "recvmsg", "recvmmsg",
        "sendto", "sendmsg",    "sendmmsg",       "accept", "accept4",  "connect", "rt_sigsuspend",
        "pause",  "sigsuspend", "splice",         "tee",    "sendfile", "msgrcv",  "msgsnd",
        "semop",  "flock",      "io_uring_enter", "ioctl",  "fcntl",    NULL};
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

bool wait_has_others(const struct making *m, const struct made_wait *w)
{
    uint32_t pid = lane_process(m, w->lane)->pid;
    size_t at = PARTITION_POINT(m->lanes.len, k,
                                lane_process(m, m->by_process[k])->pid < pid ||
                                    (lane_process(m, m->by_process[k])->pid == pid &&
                                     m->lanes.at[m->by_process[k]].end_ns <= w->from_ns));
    for (; at < m->lanes.len && lane_process(m, m->by_process[at])->pid == pid; at++)
        if (m->by_process[at] != w->lane && m->lanes.at[m->by_process[at]].start_ns < w->to_ns)
            return true;
    return false;
}
