/* What a thread waits for, and who holds it: from its system call's arguments and the bytes there.
 *
 *     futex(WAIT, address, value)   the lock's words around the address say what it is
 *     futex(LOCK_PI, address)       the owner's number is the word
 *     read, fsync, accept ...       /proc/PID/fd names the descriptor
 *     wait4, waitid                 the child's number is an argument
 *     fcntl(F_SETLKW), flock        /proc/locks names who has the file, or these bytes of it
 *
 * The words of glibc, of 64 and 32 bits alike (nptl: struct_mutex.h, struct_rwlock.h):
 *
 *     mutex    +0 lock (2: there are waiters)   +8 owner   +12 users     waited for at +0
 *     rwlock   +0 readers (bit 1: a writer)     +24 writer               at +8 and +12
 *     thread   its number, which the kernel clears at its end            at +0, not private
 *              from 2.43 on a state, which the kernel clears, in the same structure, not private
 *
 * musl's mutexes, glibc's robust ones, and whatever else follows the kernel's rule for robust
 * futexes, have the owner's number in the word, with bit 31 set. musl's plain ones have EBUSY
 * there, and locks of Rust, Go and C++ a state: they name no holder, and nor do condition
 * variables.
 *
 * Sleeping is waiting for nothing but time, and is a kind of its own so that nothing is left over.
 *
 * An owner counts only if the process has a thread of that number, so that other memory which looks
 * like a lock is none. All is read from outside; nothing is written, stopped or woken. */
#include "record/waits/waits_private.h"

#include "record/proc_threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/futex.h */
enum {
    OP_WAIT = 0,
    OP_LOCK_PI = 6,
    OP_WAIT_BITSET = 9,
    OP_WAIT_REQUEUE_PI = 11,
    OP_LOCK_PI2 = 13,
    OP_PRIVATE = 128,
    OP_REALTIME = 256
};
#define FUTEX_HAS_WAITERS UINT32_C(0x80000000)
#define FUTEX_OWNER       UINT32_C(0x3fffffff)

/* Words before and after the one that is waited at. */
enum { WORDS_BEFORE = 3, WORDS_BEHIND = 5, WORDS = WORDS_BEFORE + WORDS_BEHIND };

/* Calls by what their first argument is. */
enum call_class {
    CALL_OTHER,
    CALL_FUTEX,
    CALL_DESCRIPTOR,
    CALL_POLL,
    CALL_CHILD,
    CALL_LOCK,
    CALL_SLEEP,
    CALL_SELECT
};

/* By name, since numbers differ from machine to machine. */
static enum call_class call_class_of(const char *name)
{
    static const struct {
        const char *name;
        enum call_class class;
    } CALLS[] = {
        {"futex", CALL_FUTEX},        {"futex_time64", CALL_FUTEX},
        {"read", CALL_DESCRIPTOR},    {"write", CALL_DESCRIPTOR},
        {"pread64", CALL_DESCRIPTOR}, {"pwrite64", CALL_DESCRIPTOR},
        {"readv", CALL_DESCRIPTOR},   {"writev", CALL_DESCRIPTOR},
        {"preadv", CALL_DESCRIPTOR},  {"pwritev", CALL_DESCRIPTOR},
        {"preadv2", CALL_DESCRIPTOR}, {"pwritev2", CALL_DESCRIPTOR},
        {"fsync", CALL_DESCRIPTOR},   {"fdatasync", CALL_DESCRIPTOR},
        {"sendto", CALL_DESCRIPTOR},  {"sync_file_range", CALL_DESCRIPTOR},
        {"sendmsg", CALL_DESCRIPTOR}, {"recvfrom", CALL_DESCRIPTOR},
        {"recvmsg", CALL_DESCRIPTOR}, {"sendfile", CALL_DESCRIPTOR},
        {"accept", CALL_DESCRIPTOR},  {"accept4", CALL_DESCRIPTOR},
        {"connect", CALL_DESCRIPTOR}, {"fallocate", CALL_DESCRIPTOR},
        {"splice", CALL_DESCRIPTOR},  {"ftruncate", CALL_DESCRIPTOR},
        {"syncfs", CALL_DESCRIPTOR},  {"copy_file_range", CALL_DESCRIPTOR},
        {"fcntl", CALL_LOCK},         {"getdents64", CALL_DESCRIPTOR},
        {"flock", CALL_LOCK},         {"epoll_wait", CALL_DESCRIPTOR},
        {"poll", CALL_POLL},          {"epoll_pwait", CALL_DESCRIPTOR},
        {"ppoll", CALL_POLL},         {"epoll_pwait2", CALL_DESCRIPTOR},
        {"nanosleep", CALL_SLEEP},    {"clock_nanosleep", CALL_SLEEP},
        {"select", CALL_SELECT},      {"pselect6", CALL_SELECT},
        {"wait4", CALL_CHILD},        {"waitid", CALL_CHILD},
    };
    for (size_t i = 0; name && i < sizeof CALLS / sizeof *CALLS; i++)
        if (!strcmp(name, CALLS[i].name))
            return CALLS[i].class;
    return CALL_OTHER;
}

/* All of it or nothing. */
static bool resource_read(pid_t pid, uint64_t address, void *into, size_t len)
{
    return proc_read_memory(pid, address, into, len) == len;
}

/* --- futexes --------------------------------------------------------------------------------- */

/* Whether a word names a thread that can hold a lock of the process: one of its own, or for a lock
 * between processes of any. */
static bool resource_take_owner(struct waits_resource *out, pid_t pid, uint32_t owner,
                                bool is_private)
{
    pid_t parent;
    if (!owner || owner > FUTEX_OWNER)
        return false;
    if (proc_has_thread(pid, (pid_t)owner)) {
        out->holder_pid = pid;
        out->holder = (pid_t)owner;
        return true;
    }
    if (is_private || !proc_of_thread((pid_t)owner, &out->holder_pid, &parent))
        return false;
    out->holder = (pid_t)owner;
    return true;
}

/* The same of an owner that may be gone: `is_lock` says that the other words fit. */
static bool resource_take_gone(struct waits_resource *out, uint32_t owner, bool is_lock)
{
    if (!is_lock || owner < 2 || owner > FUTEX_OWNER)
        return false;
    out->holder = (pid_t)owner;
    out->is_gone = true;
    return true;
}

/* The thread in whose structure the word at `out->address` is. Before it stand the thread's number,
 * an unused word, and the list of its robust locks: two pointers, and how far a lock's word is from
 * its links, which is the same on all machines of 64 bits. */
static bool resource_take_joined(struct waits_resource *out, pid_t pid)
{
    enum { DISTANCE = 256, TO_LOCK = -32 }; /* the list lies 840 bytes before the state on x86-64 */
    uint64_t words[DISTANCE];
    uint64_t first = (out->address & ~(uint64_t)7) - sizeof words;
    if (!resource_read(pid, first, words, sizeof words))
        return false;
    for (size_t i = DISTANCE - 1; i >= 3; i--)
        if (words[i] == (uint64_t)TO_LOCK &&
            resource_take_owner(out, pid, (uint32_t)words[i - 3], true))
            return true;
    return false;
}

/* `at[0]` is the word that is waited at. */
static void resource_of_words(struct waits_resource *out, pid_t pid, const uint32_t *at,
                              uint32_t op, uint32_t value)
{
    enum { CONTENDED = 2, EBUSY_OF_MUSL = EBUSY, KIND_BITS = 0x1ff, MANY = 1 << 20, STATES = 3 };
    /* `value` is what the word was when the thread fell asleep; the word may have changed since,
     * by whoever took the lock. */
    bool is_private = op & OP_PRIVATE;
    uint32_t command = op & ~(uint32_t)(OP_PRIVATE | OP_REALTIME), word = at[0];
    if (command == OP_LOCK_PI || command == OP_LOCK_PI2) {
        out->kind = RECORDING_RESOURCE_PI;
        if (!resource_take_owner(out, pid, word & FUTEX_OWNER, is_private))
            resource_take_gone(out, word & FUTEX_OWNER, true);
        return;
    }
    if (command == OP_WAIT_BITSET && !is_private && word == value &&
        (resource_take_owner(out, pid, word, true) ||
         (word <= STATES && resource_take_joined(out, pid)))) {
        out->kind = RECORDING_RESOURCE_JOIN;
        return;
    }
    if (value & FUTEX_HAS_WAITERS) {
        uint32_t owner = value & FUTEX_OWNER;
        if (owner != EBUSY_OF_MUSL && resource_take_owner(out, pid, owner, is_private))
            out->kind = RECORDING_RESOURCE_MUTEX;
        return;
    }
    /* glibc's own: readers of the word alone cannot distinguish it from Rust's, so the owner
     * decides. */
    if (value == CONTENDED) {
        bool is_glibc =
            word == CONTENDED && at[3] && at[3] < MANY && !(at[4] & ~(uint32_t)KIND_BITS);
        if (resource_take_owner(out, pid, at[2], is_private) ||
            resource_take_gone(out, at[2], is_glibc)) {
            out->kind = RECORDING_RESOURCE_MUTEX;
            return;
        }
    }
    /* The words of a lock for readers and a writer, if this is the one at +8 or at +12. A reader
     * waits there for the writer, a writer for either. */
    enum { WRITER = 2, READER_SHIFT = 3, TO_WRITER = 6, WORD_PHASE = 2, WORD_WRITERS = 3 };
    for (int before = WORD_PHASE; before <= WORD_WRITERS; before++) {
        const uint32_t *lock = at - before;
        if (value > 3 || !(lock[0] & WRITER))
            continue;
        if (resource_take_owner(out, pid, lock[TO_WRITER], is_private)) {
            out->kind = RECORDING_RESOURCE_RWLOCK;
            out->address -= (uint64_t)before * sizeof *at;
            return;
        }
        if (before == WORD_PHASE && value == WRITER && lock[0] >> READER_SHIFT &&
            lock[0] >> READER_SHIFT < MANY && !lock[TO_WRITER]) {
            out->kind = RECORDING_RESOURCE_RWLOCK; /* waits for readers, of whom there is no list */
            out->address -= (uint64_t)before * sizeof *at;
            return;
        }
    }
}

/* Words before and after may not be mapped: then the word alone counts. */
static void resource_of_futex(struct waits_resource *out, pid_t pid, const struct waits_look *look)
{
    uint32_t words[WORDS] = {0};
    out->kind = RECORDING_RESOURCE_FUTEX;
    out->address = out->waited_at = look->arguments[0];
    uint64_t first = out->address - sizeof(uint32_t) * WORDS_BEFORE;
    if (!resource_read(pid, first, words, sizeof words) &&
        !resource_read(pid, out->address, words + WORDS_BEFORE, WORDS_BEHIND * sizeof *words) &&
        !resource_read(pid, out->address, words + WORDS_BEFORE, sizeof *words))
        return;
    out->word = words[WORDS_BEFORE];
    resource_of_words(out, pid, words + WORDS_BEFORE, (uint32_t)look->arguments[1],
                      (uint32_t)look->arguments[2]);
}

/* --- descriptors ----------------------------------------------------------------------------- */

/* The inode of `pipe:[123]` or `socket:[123]`; 0: it is something else. */
static uint64_t resource_inode(const char *name, const char *kind)
{
    size_t len = strlen(kind);
    return strncmp(name, kind, len) ? 0 : strtoull(name + len, NULL, 10);
}

/* The name of a descriptor; false: it may not be seen. */
static bool resource_link(pid_t pid, int fd, char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)proc_living(pid), fd);
    ssize_t len = readlink(path, name, WAITS_NAME_BYTES - 1);
    name[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* Whether a descriptor is open for reading alone (O_RDONLY), writing alone, or both. */
static int resource_mode(pid_t pid, int fd)
{
    char path[64], line[64];
    unsigned flags = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)proc_living(pid), fd);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "flags: %o", &flags) != 1)
        ;
    if (file)
        fclose(file);
    return (int)flags & O_ACCMODE;
}

/* The other end of a pipe: a process that is recorded and has it open the other way. Where one has
 * several threads, which of them will write is not known. */
static void resource_find_peer(const struct waits *w, struct waits_resource *out, pid_t own,
                               int own_mode)
{
    enum { MOST_PROCESSES = 64 };
    pid_t pids[MOST_PROCESSES];
    size_t len = collector_living(w->collector, pids, MOST_PROCESSES);
    for (size_t i = 0; i < len && !out->holder; i++) {
        char path[64], name[WAITS_NAME_BYTES];
        snprintf(path, sizeof path, "/proc/%d/fd", (int)proc_living(pids[i]));
        DIR *folder = pids[i] == own ? NULL : opendir(path);
        for (struct dirent *entry; folder && !out->holder && (entry = readdir(folder));) {
            int fd = atoi(entry->d_name); // NOLINT: 0 for . and .. does no harm
            if (resource_link(pids[i], fd, name) && !strcmp(name, out->name) &&
                resource_mode(pids[i], fd) != own_mode)
                out->holder = out->holder_pid = pids[i];
        }
        if (folder)
            closedir(folder);
    }
}

/* A pipe may have a name in a file system, which says nothing about its kind. */
bool waits_resource_of_descriptor(pid_t pid, int fd, struct waits_resource *out)
{
    char path[64];
    struct stat st;
    if (!resource_link(pid, fd, out->name))
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)proc_living(pid), fd);
    mode_t type = stat(path, &st) ? 0 : st.st_mode & S_IFMT;
    out->is_stored = type == S_IFREG || type == S_IFBLK;
    out->kind = RECORDING_RESOURCE_FILE;
    if ((out->address = resource_inode(out->name, "socket:[")))
        out->kind = RECORDING_RESOURCE_SOCKET;
    else if ((out->address = resource_inode(out->name, "pipe:[")) || type == S_IFIFO)
        out->kind = RECORDING_RESOURCE_PIPE;
    if (type == S_IFIFO)
        out->address = st.st_ino;
    return true;
}

/* Of a socket, the other end is not in /proc. */
static bool resource_of_descriptor(const struct waits *w, struct waits_resource *out, pid_t pid,
                                   int fd)
{
    if (!waits_resource_of_descriptor(pid, fd, out))
        return false;
    if (out->kind == RECORDING_RESOURCE_PIPE)
        resource_find_peer(w, out, pid, resource_mode(pid, fd));
    return true;
}

/* --- locks on files -------------------------------------------------------------------------- */

/* One that a thread holds or waits for: flock() locks a file, fcntl() a range of its bytes, and
 * neither keeps out the other. */
struct file_lock {
    bool is_whole, is_write;
    uint64_t device, inode, first, last;
};

/* What the thread requests; false: it cannot be read. */
static bool file_lock_wanted(struct file_lock *out, pid_t pid, const struct waits_look *look,
                             bool is_flock)
{
    char path[64], line[64];
    struct stat st;
    struct flock asked;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)proc_living(pid), (int)look->arguments[0]);
    if (stat(path, &st))
        return false;
    *out = (struct file_lock){.is_whole = is_flock,
                              .is_write = (look->arguments[1] & LOCK_EX) != 0,
                              .device = st.st_dev,
                              .inode = st.st_ino,
                              .last = UINT64_MAX};
    if (is_flock)
        return true;
    if (!resource_read(pid, look->arguments[2], &asked, sizeof asked))
        return false;
    uint64_t from = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)proc_living(pid),
             (int)look->arguments[0]);
    FILE *file = asked.l_whence == SEEK_CUR ? fopen(path, "re") : NULL;
    while (file && fgets(line, sizeof line, file) && sscanf(line, "pos: %" SCNu64, &from) != 1)
        ;
    if (file)
        fclose(file);
    from = asked.l_whence == SEEK_END ? (uint64_t)st.st_size : from;
    uint64_t start = from + (uint64_t)asked.l_start, length = (uint64_t)asked.l_len;
    out->is_write = asked.l_type == F_WRLCK;
    out->first = asked.l_len < 0 ? start + length : start;
    if (asked.l_len)
        out->last = asked.l_len < 0 ? start - 1 : start + length - 1;
    return true;
}

/* A line of /proc/locks: `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; those that wait have
 * `->` after the number. A lock of an open file instead of a process (OFDLCK) has no owner, -1. */
static bool file_lock_parse(struct file_lock *out, int *owner, const char *line)
{
    char kind[16], access[16], last[24];
    unsigned major, minor;
    if (sscanf(line, "%*d: %15s %*s %15s %d %x:%x:%" SCNu64 " %" SCNu64 " %23s", kind, access,
               owner, &major, &minor, &out->inode, &out->first, last) != 8 ||
        !strcmp(kind, "->"))
        return false;
    out->device = makedev(major, minor);
    out->is_whole = !strcmp(kind, "FLOCK");
    out->is_write = !strcmp(access, "WRITE");
    out->last = strcmp(last, "EOF") != 0 ? strtoull(last, NULL, 10) : UINT64_MAX;
    return out->is_whole || !strcmp(kind, "POSIX");
}

static bool file_lock_keeps_out(const struct file_lock *one, const struct file_lock *other)
{
    return one->device == other->device && one->inode == other->inode &&
           one->is_whole == other->is_whole && (one->is_write || other->is_write) &&
           one->first <= other->last && other->first <= one->last;
}

/* The process that has the lock which keeps this one out. */
static void resource_of_file_lock(struct waits_resource *out, pid_t pid,
                                  const struct waits_look *look, bool is_flock)
{
    char line[256];
    struct file_lock wanted = {0}, had = {0};
    int owner;
    if (!resource_link(pid, (int)look->arguments[0], out->name))
        return;
    out->kind = RECORDING_RESOURCE_FILE_LOCK;
    FILE *file = file_lock_wanted(&wanted, pid, look, is_flock) ? fopen("/proc/locks", "re") : NULL;
    while (file && !out->holder && fgets(line, sizeof line, file))
        if (file_lock_parse(&had, &owner, line) && owner > 0 && owner != pid &&
            file_lock_keeps_out(&had, &wanted))
            out->holder = out->holder_pid = owner;
    if (file)
        fclose(file);
}

/* A thread that waits for one descriptor waits for that; for none, it sleeps. */
static void resource_of_poll(const struct waits *w, struct waits_resource *out, pid_t pid,
                             const struct waits_look *look)
{
    struct pollfd one;
    out->kind = look->arguments[1] ? RECORDING_RESOURCE_SEVERAL : RECORDING_RESOURCE_SLEEP;
    if (look->arguments[1] == 1 && resource_read(pid, look->arguments[0], &one, sizeof one))
        resource_of_descriptor(w, out, pid, one.fd);
}

/* The child that is waited for: the one that is named, or the only one. */
static bool resource_of_child(struct waits_resource *out, pid_t pid, pid_t tid, const char *call,
                              const struct waits_look *look)
{
    bool is_waitid = !strcmp(call, "waitid");
    pid_t child = is_waitid ? look->arguments[0] == P_PID ? (pid_t)look->arguments[1] : -1
                            : (pid_t)(int32_t)look->arguments[0];
    if (child <= 0) {
        char path[64];
        int first = 0, second = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
        FILE *file = fopen(path, "re");
        if (file && fscanf(file, "%d %d", &first, &second) == 1)
            child = first;
        if (file)
            fclose(file);
    }
    out->kind = RECORDING_RESOURCE_CHILD;
    out->holder = out->holder_pid = child > 0 ? child : 0;
    snprintf(out->name, sizeof out->name, child > 0 ? "process %d" : "any child", (int)child);
    return true;
}

/* --- all of them ----------------------------------------------------------------------------- */

bool waits_resource(const struct waits *w, pid_t pid, pid_t tid, const struct waits_look *look,
                    struct waits_resource *out)
{
    enum { F_SETLKW_NUMBER = 7, F_OFD_SETLKW_NUMBER = 38 };
    const struct arch *a = w->options.arch;
    const char *call = a && look->syscall >= 0 && (uint64_t)look->syscall < a->syscalls_len
                           ? a->syscalls[look->syscall]
                           : NULL;
    /* Calls that are none of these wait for what has no name here. */
    *out = (struct waits_resource){.kind = RECORDING_RESOURCE_KINDS};
    switch (call_class_of(call)) {
    case CALL_FUTEX: resource_of_futex(out, pid, look); break;
    case CALL_DESCRIPTOR: resource_of_descriptor(w, out, pid, (int)look->arguments[0]); break;
    case CALL_POLL: resource_of_poll(w, out, pid, look); break;
    case CALL_CHILD: resource_of_child(out, pid, tid, call, look); break;
    case CALL_LOCK:
        if (!strcmp(call, "flock") || look->arguments[1] == F_SETLKW_NUMBER ||
            look->arguments[1] == F_OFD_SETLKW_NUMBER)
            resource_of_file_lock(out, pid, look, !strcmp(call, "flock"));
        break;
    case CALL_SLEEP: out->kind = RECORDING_RESOURCE_SLEEP; break;
    case CALL_SELECT:
        out->kind = look->arguments[0] ? RECORDING_RESOURCE_SEVERAL : RECORDING_RESOURCE_SLEEP;
        break;
    case CALL_OTHER: break;
    }
    return out->kind != RECORDING_RESOURCE_KINDS;
}

bool waits_resource_is_same(pid_t pid, const struct waits_resource *before)
{
    uint32_t word;
    if (before->kind > RECORDING_RESOURCE_JOIN)
        return true;
    return resource_read(pid, before->waited_at, &word, sizeof word) && word == before->word;
}
