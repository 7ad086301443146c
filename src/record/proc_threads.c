/* Reading /proc/PID/task/TID. Files that are read at every look stay open if the caller wants it: a
 * read costs a microsecond, opening some ten. Texts are taken apart in place, nothing is allocated.
 * Refuses to guess: what cannot be read is said to be gone. */
#include "record/proc_threads.h"

#include "base/bytes.h"
#include "base/file.h"
#include "profile/model/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 64, STATUS_BYTES = 4096, PAGE_BYTES = 4096, STACK_PARTS = 17 };

void proc_thread_init(struct proc_thread *t)
{
    t->schedstat = t->syscall = -1;
}

static void proc_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void proc_thread_deinit(struct proc_thread *t)
{
    proc_close(&t->schedstat);
    proc_close(&t->syscall);
}

/* One of a thread's files; -1: the thread is gone, or it is not for us. */
static int proc_open(pid_t pid, pid_t tid, const char *file)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The length of what was read, a NUL follows; 0: nothing. */
static size_t proc_read_fd(int fd, char *to, size_t room)
{
    ssize_t got = fd < 0 ? -1 : pread(fd, to, room - 1, 0);
    to[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

/* A file that is read once. */
static size_t proc_read(pid_t pid, pid_t tid, const char *file, char *to, size_t room)
{
    int fd = proc_open(pid, tid, file);
    size_t got = proc_read_fd(fd, to, room);
    proc_close(&fd);
    return got;
}

/* A file that stays open if `keep`: pread() from 0 gives its text anew. */
static size_t proc_read_again(int *fd, pid_t pid, pid_t tid, const char *file, bool keep, char *to,
                              size_t room)
{
    if (*fd < 0)
        *fd = proc_open(pid, tid, file);
    size_t got = proc_read_fd(*fd, to, room);
    if (!keep)
        proc_close(fd);
    return got;
}

/* schedstat: "ON_CPU_NS READY_NS TURNS" */
bool proc_thread_times(struct proc_thread *t, pid_t pid, pid_t tid, bool keep,
                       struct proc_times *out)
{
    char text[96], *end;
    if (!proc_read_again(&t->schedstat, pid, tid, "schedstat", keep, text, sizeof text))
        return false;
    out->cpu_ns = strtoull(text, &end, 10);
    out->ready_ns = strtoull(end, &end, 10);
    out->runs = strtoull(end, NULL, 10);
    return true;
}

/* stat: "PID (NAME) STATE ..."; a name may hold blanks and brackets, so that fields are counted
 * from its last bracket on. */
int proc_thread_place(pid_t pid, pid_t tid)
{
    enum { BEFORE = 36 }; /* fields between the state and the one we want */
    char text[STATUS_BYTES];
    if (!proc_read(pid, tid, "stat", text, sizeof text))
        return -1;
    const char *at = strrchr(text, ')');
    at = at ? strchr(at + 1, ' ') : NULL;
    for (int i = 0; at && i < BEFORE; i++)
        at = strchr(at + 1, ' ');
    return at ? (int)strtol(at, NULL, 10) : -1;
}

/* sched: "se.exec_start    :    12345.678901", of kernels that are built with it */
double proc_thread_last_run(pid_t pid, pid_t tid)
{
    char text[512];
    if (!proc_read(pid, tid, "sched", text, sizeof text))
        return 0;
    const char *key = strstr(text, "se.exec_start");
    const char *colon = key ? strchr(key, ':') : NULL;
    return colon ? strtod(colon + 1, NULL) : 0;
}

bool proc_thread_runs(struct proc_thread *t, pid_t pid, pid_t tid, bool keep)
{
    char text[STATUS_BYTES];
    if (proc_read_again(&t->syscall, pid, tid, "syscall", keep, text, sizeof text))
        return !strncmp(text, "running", 7);
    /* A process that is not dumpable does not show us that. */
    const char *name_end =
        proc_read(pid, tid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    return name_end && !strncmp(name_end, ") R", 3);
}

/* syscall: "NUMBER six arguments SP PC" */
uint64_t proc_thread_call(struct proc_thread *t, pid_t pid, pid_t tid, bool keep)
{
    char text[192];
    size_t len = proc_read_again(&t->syscall, pid, tid, "syscall", keep, text, sizeof text);
    return len && text[0] >= '0' && text[0] <= '9' ? hash_bytes(text, len) | 1 : 0;
}

/* A first thread that has ended stays until the others have, with a number and a name alone. */
static bool proc_has_ended(pid_t pid)
{
    char text[STATUS_BYTES];
    const char *name_end =
        proc_read(pid, pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    return name_end && (!strncmp(name_end, ") Z", 3) || !strncmp(name_end, ") X", 3));
}

bool proc_list_threads(pid_t pid, struct proc_tids *out)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    out->at.len = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    bool has_ended = proc_has_ended(pid);
    for (struct dirent *d; (d = readdir(folder));)
        if (d->d_name[0] != '.' && (strtol(d->d_name, NULL, 10) != pid || !has_ended))
            vec_push(&out->at, (pid_t)strtol(d->d_name, NULL, 10));
    closedir(folder);
    return out->at.len != 0;
}

bool proc_is_listed(const struct proc_tids *tids, pid_t tid)
{
    for (size_t i = 0; i < tids->at.len; i++)
        if (tids->at.at[i] == tid)
            return true;
    return false;
}

struct proc_child {
    pid_t pid, parent;
};

void proc_add_descendants(struct proc_tids *pids)
{
    VEC(struct proc_child) all = {0};
    struct proc_child one;
    DIR *folder = opendir("/proc");
    for (struct dirent *d; folder && (d = readdir(folder));) {
        pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);
        if (pid > 0 && pid != getpid() && proc_of_thread(pid, &one.pid, &one.parent))
            vec_push(&all, one);
    }
    if (folder)
        closedir(folder);
    for (size_t i = 0; i < pids->at.len; i++)
        for (size_t k = 0; k < all.len; k++)
            if (all.at[k].parent == pids->at.at[i] && !proc_is_listed(pids, all.at[k].pid))
                vec_push(&pids->at, all.at[k].pid);
    vec_free(&all);
}

/* Whether there is an address space: the link to the program goes with it. */
static bool proc_has_space(pid_t tid)
{
    char path[PATH_BYTES], target;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)tid);
    return readlink(path, &target, 1) >= 0 || errno != ENOENT;
}

pid_t proc_living(pid_t pid)
{
    struct proc_tids tids = {0};
    pid_t found = pid;
    if (proc_has_space(pid) || !proc_list_threads(pid, &tids))
        return pid;
    for (size_t i = 0; i < tids.at.len && found == pid; i++)
        if (proc_has_space(tids.at.at[i]))
            found = tids.at.at[i];
    vec_free(&tids.at);
    return found;
}

bool proc_transferred(pid_t pid, pid_t tid, struct recording_transferred *out)
{
    char path[PATH_BYTES];
    if (tid)
        snprintf(path, sizeof path, "/proc/%d/task/%d/io", (int)pid, (int)tid);
    else
        snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_read = fd >= 0 && proc_transferred_at(fd, out);
    if (fd >= 0)
        close(fd);
    return is_read;
}

int proc_open_account(pid_t pid)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool proc_transferred_at(int fd, struct recording_transferred *out)
{
    char text[512];
    ssize_t len = pread(fd, text, sizeof text - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    return sscanf(text,
                  "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64
                  " read_bytes: %" SCNu64 " write_bytes: %" SCNu64,
                  &out->read, &out->written, &out->read_calls, &out->write_calls, &out->disk_read,
                  &out->disk_written) == 6;
}

bool proc_has_thread(pid_t pid, pid_t tid)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

/* The text after a key of /proc/PID/status, or NULL. */
static const char *proc_status_value(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    return found ? found + strlen(key) : NULL;
}

uint64_t proc_thread_waits(pid_t pid, pid_t tid)
{
    char text[STATUS_BYTES];
    if (!proc_read(pid, tid, "status", text, sizeof text))
        return 0;
    const char *waits = proc_status_value(text, "\nvoluntary_ctxt_switches:");
    return waits ? strtoull(waits, NULL, 10) + 1 : 0;
}

bool proc_of_thread(pid_t tid, pid_t *pid, pid_t *parent)
{
    char text[STATUS_BYTES];
    if (!proc_read(tid, tid, "status", text, sizeof text))
        return false;
    const char *group = proc_status_value(text, "\nTgid:");
    const char *above = proc_status_value(text, "\nPPid:");
    if (!group || !above)
        return false;
    *pid = (pid_t)strtol(group, NULL, 10);
    *parent = (pid_t)strtol(above, NULL, 10);
    return *pid > 0;
}

bool proc_parse_mapping(char *line, struct proc_mapping *out)
{
    unsigned major, minor;
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &out->start,
               &out->end, out->rights, &out->offset, &major, &minor, &out->inode, &path) < 7)
        return false;
    line[strcspn(line, "\n")] = '\0';
    out->device = makedev(major, minor);
    out->path = line + path;
    return true;
}

void proc_thread_name(pid_t pid, pid_t tid, char name[PROC_NAME_BYTES])
{
    size_t len = proc_read(pid, tid, "comm", name, PROC_NAME_BYTES);
    if (len && name[len - 1] == '\n')
        name[len - 1] = 0;
}

bool proc_has_signal(pid_t tid)
{
    char text[STATUS_BYTES];
    if (!proc_read(tid, tid, "status", text, sizeof text))
        return false;
    const char *own = proc_status_value(text, "\nSigPnd:");
    const char *shared = proc_status_value(text, "\nShdPnd:");
    const char *blocked = proc_status_value(text, "\nSigBlk:");
    return own && shared && blocked &&
           (strtoull(own, NULL, 16) | strtoull(shared, NULL, 16)) & ~strtoull(blocked, NULL, 16);
}

bool proc_ignores_signal(pid_t tid, int number)
{
    char text[STATUS_BYTES];
    if (number < 1 || number > 64 || !proc_read(tid, tid, "status", text, sizeof text))
        return false;
    const char *ignored = proc_status_value(text, "\nSigIgn:");
    const char *caught = proc_status_value(text, "\nSigCgt:");
    uint64_t bit = UINT64_C(1) << (number - 1);
    if (!ignored || !caught)
        return false;
    bool by_default =
        number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
    return (strtoull(ignored, NULL, 16) & bit) ||
           (by_default && !(strtoull(caught, NULL, 16) & bit));
}

/* 0 is none, 1 strict, 2 a filter. */
bool proc_has_filter(pid_t tid)
{
    char text[STATUS_BYTES];
    if (!proc_read(tid, tid, "status", text, sizeof text))
        return false;
    const char *mode = proc_status_value(text, "\nSeccomp:");
    return mode && strtol(mode, NULL, 10) != 0;
}

long proc_setting(const char *name)
{
    char path[PATH_BYTES], line[32];
    snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
    return file_first_line(path, line, sizeof line) ? strtol(line, NULL, 10) : -1;
}

bool proc_is_foreign(pid_t pid)
{
    char path[PATH_BYTES], target;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return readlink(path, &target, 1) < 0 && (errno == EACCES || errno == EPERM);
}

uint64_t proc_process_cpu(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool proc_process_cpu_split(pid_t pid, uint64_t *user_ns, uint64_t *system_ns)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    proc_read_fd(fd, text, sizeof text);
    proc_close(&fd);
    uint64_t all = proc_process_cpu(pid);
    unsigned long user = 0, system = 0;
    const char *behind = strrchr(text, ')'); /* the name may be anything */
    if (!all || !behind ||
        sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2)
        return false;
    *user_ns =
        user + system ? (uint64_t)((double)all * (double)user / (double)(user + system)) : all;
    *system_ns = all - *user_ns;
    return true;
}

/* One part a page: the kernel copies whole parts or none, and what lies beyond the end of the stack
 * costs only its own part. */
size_t proc_read_stack(pid_t tid, uint64_t sp, uint8_t *to, size_t room)
{
    struct iovec parts[STACK_PARTS], whole = {to, room};
    size_t n = 0;
    for (uint64_t at = sp, left = room; left && n < STACK_PARTS && at >= sp; n++) {
        uint64_t size = PAGE_BYTES - at % PAGE_BYTES;
        size = size < left ? size : left;
        parts[n] = (struct iovec){(void *)(uintptr_t)at, size};
        at += size;
        left -= size;
    }
    ssize_t got = process_vm_readv(tid, &whole, 1, parts, n, 0);
    return got > 0 ? (size_t)got : 0;
}

size_t proc_read_memory(pid_t pid, uint64_t from, void *to, size_t len)
{
    struct iovec ours = {to, len}, theirs = {(void *)(uintptr_t)from, len}; // NOLINT
    ssize_t n = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
    pid_t living = n < 0 && errno == ESRCH ? proc_living(pid) : pid;
    if (living != pid)
        n = process_vm_readv(living, &ours, 1, &theirs, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

/* sched_setattr(2), which the C library has no name for. */
void request_short_slice(void)
{
    enum { RESET_ON_FORK = 1 /* SCHED_FLAG_RESET_ON_FORK of <linux/sched.h> */, TURN_NS = 100000 };
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes, .flags = RESET_ON_FORK, .runtime = TURN_NS};
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    if (sched_getscheduler(0) == SCHED_OTHER)
        syscall(SYS_sched_setattr, 0, &attributes, 0);
}
