/* Which rank of a parallel job a process is that runs here: its environment, from /proc.
 *
 * What the variables mean is profile/model/launchers.c's business. An environment is read to its
 * end, or as far as one may reasonably go. */
#include "record/ranks.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MOST_ENVIRONMENT = 1 << 21 };

/* Reads to the end, or as far as an environment may reasonably go. */
static bool rank_of_file(const char *path, struct rank_told *out, bool *is_read)
{
    enum { STEP = 1 << 16 };
    char *text = NULL;
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_gone = fd < 0 && errno == ENOENT;
    for (ssize_t got = fd; got >= 0 && len < MOST_ENVIRONMENT; len += (size_t)got) {
        char *more = realloc(text, len + STEP);
        if (!more)
            break;
        text = more;
        if ((got = read(fd, text + len, STEP)) <= 0)
            break;
    }
    if (fd >= 0)
        close(fd);
    *is_read = is_gone || len > 0;
    bool found = rank_of_environment((struct bytes){(const uint8_t *)text, len}, out);
    free(text);
    return found;
}

bool rank_of_own(struct rank_told *out)
{
    bool is_read;
    return rank_of_file("/proc/self/environ", out, &is_read);
}

bool rank_of_process(pid_t pid, struct rank_told *out, bool *is_read)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)proc_living(pid));
    return rank_of_file(path, out, is_read);
}

const char *rank_host(struct arena *a)
{
    struct utsname name = {.nodename = ""};
    uname(&name);
    return arena_copy(a, name.nodename, strlen(name.nodename));
}
