/* Locks by name. See lock.h. Under the library's lock, which also guards the paths here. */
#include "lock.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define LEVELS          3
#define NAP_MS          2
#define FOREIGN_WAIT_NS ((uint64_t)60 * 1000000000u)
#define OWNER_BYTES     192

static char paths[LEVELS][PATH_MAX];
/* "MACHINE/NAMESPACE PID BEGUN": this process, and one that holds a lock. */
static char own[OWNER_BYTES], other[OWNER_BYTES];

static bool name_paths(const char *path)
{
    bool fits = true;
    for (unsigned i = 0; i < LEVELS; i++) {
        struct text t = text_in(paths[i], sizeof paths[i]);
        text_add(&t, path);
        text_add(&t, ".lock");
        if (i > 0)
            text_add_number(&t, i + 1);
        fits &= !t.cut;
    }
    return fits;
}

/* The beginning of a small file, as a text; empty if it cannot be read. */
static void read_small(const char *path, char *to, size_t size)
{
    long fd = sys_open(path, O_RDONLY, 0), n = 0;
    if (!sys_failed(fd)) {
        n = sys_read((int)fd, to, size - 1);
        sys_close((int)fd);
    }
    to[n > 0 ? n : 0] = 0;
}

/* When a process began, in the kernel's clock ticks since it started: proc(5), stat, field 22.
 * Empty if there is none, or no /proc. */
static void add_begin(struct text *t, const char *pid)
{
    char stat[1024], path[64];
    struct text p = text_in(path, sizeof path);
    text_add(&p, "/proc/");
    text_add(&p, pid);
    text_add(&p, "/stat");
    read_small(path, stat, sizeof stat);
    char *at = strrchr(stat, ')'); /* after the name, which may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return;
    char *end = strchr(at + 1, ' ');
    if (end)
        *end = 0;
    text_add(t, at + 1);
}

/* Two processes see each other's numbers if they share a boot and a namespace of processes. */
static void name_self(void)
{
    char boot[64], space[64], pid[24];
    struct text t = text_in(own, sizeof own), number = text_in(pid, sizeof pid);
    read_small("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = 0;
    long n = file_readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = 0;
    text_add_number(&number, (uint64_t)sys_pid());
    text_add(&t, boot[0] && n > 0 ? boot : "unknown");
    text_add(&t, "/");
    text_add(&t, space);
    text_add(&t, " ");
    text_add(&t, pid);
    text_add(&t, " ");
    add_begin(&t, pid);
}

static long read_owner(const char *path)
{
    long n = file_readlink(path, other, sizeof other - 1);
    other[n > 0 ? n : 0] = 0;
    return n;
}

enum owner { OWNER_ALIVE, OWNER_GONE, OWNER_FOREIGN };

static enum owner judge_owner(void)
{
    char begin[32];
    struct text t = text_in(begin, sizeof begin);
    size_t machine = strcspn(own, " ");
    if (strncmp(own, "unknown/", 8) == 0 || strncmp(own, other, machine + 1) != 0)
        return OWNER_FOREIGN;
    char *pid = other + machine + 1, *begun = strchr(pid, ' ');
    if (!begun)
        return OWNER_FOREIGN;
    *begun++ = 0;
    uint64_t number = text_number(pid, 0);
    if (number == 0 || number > INT_MAX)
        return OWNER_FOREIGN;
    if (SYS3(SYS_kill, number, 0, 0) == -ESRCH)
        return OWNER_GONE;
    add_begin(&t, pid);
    return begin[0] && begun[0] && strcmp(begin, begun) != 0 ? OWNER_GONE : OWNER_ALIVE;
}

/* How long a foreign owner's lock has been the same. */
struct watch {
    char seen[OWNER_BYTES];
    uint64_t since;
};

static bool waited_enough(struct watch *w)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (strcmp(w->seen, other) != 0) {
        memcpy(w->seen, other, sizeof w->seen);
        w->since = now;
    }
    return now - w->since > FOREIGN_WAIT_NS;
}

static void nap(void)
{
#ifdef SYS_poll
    SYS3(SYS_poll, 0, 0, NAP_MS);
#else
    struct timespec t = {0, NAP_MS * 1000000};
    SYS5(SYS_ppoll, 0, 0, &t, 0, 0);
#endif
}

static long take(unsigned level);

/* Removes a dead owner's lock, if it is still that one's when no other process may remove it. */
static long remove_dead(unsigned level)
{
    char dead[OWNER_BYTES];
    memcpy(dead, other, sizeof dead);
    long r = take(level + 1);
    if (r != 0)
        return r;
    if (read_owner(paths[level]) > 0 && strcmp(dead, other) == 0)
        sys_unlink(paths[level]);
    sys_unlink(paths[level + 1]);
    return 0;
}

static long take(unsigned level)
{
    struct watch watch = {.since = 0};
    for (;;) {
        long r = file_symlink(own, paths[level]);
        if (r != -EEXIST)
            return r;
        r = read_owner(paths[level]);
        if (r == -ENOENT)
            continue;
        if (r < 0)
            return r == -EINVAL ? -EEXIST : r;
        bool is_old = waited_enough(&watch); /* before the text is taken apart */
        enum owner owner = judge_owner();
        read_owner(paths[level]);
        if (strcmp(watch.seen, other) != 0)
            continue;
        if (owner == OWNER_ALIVE || (owner == OWNER_FOREIGN && !is_old))
            nap();
        else if (level + 1 == LEVELS)
            return -EEXIST;
        else if ((r = remove_dead(level)) != 0)
            return r;
    }
}

long name_lock(const char *path)
{
    if (!name_paths(path))
        return -ENAMETOOLONG;
    name_self();
    return take(0);
}

bool name_lock_holds(void)
{
    return read_owner(paths[0]) > 0 && strcmp(own, other) == 0;
}

void name_unlock(void)
{
    if (name_lock_holds())
        sys_unlink(paths[0]);
}

bool name_is_locked(const char *path)
{
    return name_paths(path) && read_owner(paths[0]) != -ENOENT;
}
