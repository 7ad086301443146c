/* A print of the executable mappings. Refuses to understand them: that is the collector's part. */
#include "record/ptrace/ptrace_maps.h"

#include "base/hash.h"
#include "base/intern.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of the time between two readings, one part in so many may be reading. */
enum { SHARE_OF_TIME = 150, MOST_LINE = 4400 };

static uint64_t maps_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* "start-end rwxp ...": whether the x stands there. */
static bool maps_line_executes(const char *line, size_t len)
{
    const char *space = memchr(line, ' ', len);
    return space && (size_t)(line + len - space) > 3 && space[3] == 'x';
}

static uint64_t maps_add_lines(uint64_t print, const char *text, size_t len, size_t *used)
{
    const char *at = text, *end = text + len, *newline;
    for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1)
        if (maps_line_executes(at, (size_t)(newline - at)))
            print =
                print * UINT64_C(0x9e3779b97f4a7c15) + hash_bytes(at, (size_t)(newline - at)) + 1;
    *used = (size_t)(at - text);
    return print;
}

/* 0: nothing could be read. */
static uint64_t maps_print(pid_t pid)
{
    char text[16384];
    size_t len = 0, used;
    uint64_t print = 0;
    snprintf(text, sizeof text, "/proc/%d/maps", (int)pid);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (ssize_t got; (got = read(fd, text + len, sizeof text - len)) > 0;) {
        print = maps_add_lines(print, text, len + (size_t)got, &used);
        len = len + (size_t)got - used;
        if (len > MOST_LINE) /* no such line: paths end before */
            break;
        memmove(text, text + used, len);
    }
    close(fd);
    return print;
}

bool ptrace_maps_changed(struct ptrace_maps *m, pid_t pid, uint64_t now_ns)
{
    if (now_ns < m->next_ns)
        return false;
    uint64_t start = maps_clock(), print = maps_print(pid);
    m->next_ns = now_ns + (maps_clock() - start) * SHARE_OF_TIME;
    if (!print || print == m->print)
        return false;
    m->print = print;
    return true;
}
