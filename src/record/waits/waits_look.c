/* Reading /proc and the memory of another process. It refuses to interpret what it reads. */
#include "record/waits/waits_look.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TEXT_BYTES = 512, PAGE_BYTES = 4096, MOST_PAGES = 17 };

/* Takes one number; false: there is none. */
static bool look_number(const char **at, int base, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, base);
    bool is_fine = end != *at && !errno;
    *at = end;
    return is_fine;
}

bool waits_look_read(const char *text, struct waits_look *out)
{
    enum { NUMBERS = 8 }; /* six arguments, sp, pc */
    uint64_t number, values[NUMBERS];
    *out = (struct waits_look){.state = WAITS_RUNNING, .syscall = -1};
    if (!strcmp(text, "running"))
        return true;
    bool is_none = !strncmp(text, "-1 ", 3);
    const char *at = is_none ? text + 2 : text;
    if (!is_none && (!look_number(&at, 10, &number) || number > INT32_MAX || *text == '-'))
        return false;
    int wanted = is_none ? 2 : NUMBERS;
    for (int i = 0; i < wanted; i++)
        if (strncmp(at, " 0x", 3) != 0 || !look_number(&at, 16, &values[i]))
            return false;
    if (*at)
        return false;
    *out = (struct waits_look){.state = WAITS_BLOCKED,
                               .syscall = is_none ? -2 : (int64_t)number,
                               .sp = values[wanted - 2],
                               .pc = values[wanted - 1]};
    return true;
}

/* The line of a thread's file; else false with errno. */
static bool look_file(pid_t pid, pid_t tid, const char *name, char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    return file_first_line(path, text, TEXT_BYTES);
}

/* Stopped threads show the call that the stop interrupted. The state follows the name, which may
 * hold any character: `TID (NAME) STATE ...`. */
static bool look_is_stopped(pid_t pid, pid_t tid)
{
    char text[TEXT_BYTES];
    if (!look_file(pid, tid, "stat", text))
        return false;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

bool waits_look_lives(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return !access(path, F_OK);
}

void waits_look_at(pid_t pid, pid_t tid, struct waits_look *out)
{
    char text[TEXT_BYTES];
    *out = (struct waits_look){.state = WAITS_GONE, .syscall = -1};
    if (!look_file(pid, tid, "syscall", text)) {
        bool is_gone = errno == ENOENT || errno == ESRCH;
        out->state = is_gone ? WAITS_GONE : WAITS_REFUSED;
        return;
    }
    if (!waits_look_read(text, out))
        out->state = WAITS_REFUSED;
    else if (out->state == WAITS_BLOCKED && look_is_stopped(pid, tid))
        out->state = WAITS_STOPPED;
}

/* One piece a page, since the kernel copies whole pieces or none. */
size_t waits_look_stack(pid_t pid, uint64_t sp, uint8_t *into, size_t bytes)
{
    struct iovec theirs[MOST_PAGES], ours = {into, bytes};
    unsigned long pieces = 0;
    uint64_t at = sp;
    for (size_t left = bytes; left && pieces < MOST_PAGES && at >= sp; pieces++) {
        size_t len = PAGE_BYTES - at % PAGE_BYTES;
        len = len < left ? len : left;
        theirs[pieces] = (struct iovec){(void *)(uintptr_t)at, len}; // NOLINT: another's address
        at += len;
        left -= len;
    }
    ssize_t got = process_vm_readv(pid, &ours, 1, theirs, pieces, 0);
    return got > 0 ? (size_t)got : 0;
}
