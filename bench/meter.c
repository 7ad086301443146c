/* A small helper of bench/run.py, which compiles it.
 *
 *     meter run OUTPUT COMMAND...
 *
 * runs COMMAND with its standard output in OUTPUT and prints its wall time in
 * nanoseconds, its peak resident set in KB and its exit status (128 + signal
 * if it was killed).  A small process must do this: a child's peak counts the
 * memory of the process it was forked from, and Python's is above some of the
 * numbers to be measured.
 *
 *     meter floor BYTES FILE[:OFFSET:LENGTH]...
 *
 * does what any program with these inputs and outputs must do at least: reads
 * the given ranges once, touching each word, and writes BYTES bytes, filling
 * its buffer anew each time, to standard output.  */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t buffer[1 << 15];

static void fail(const char *what)
{
    perror(what);
    exit(125);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int run(const char *output, char **command)
{
    int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        fail(output);
    int64_t start = now();
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        dup2(fd, STDOUT_FILENO);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0)
        fail("wait4");
    int64_t wall = now() - start;
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    printf("%lld %ld %d\n", (long long)wall, usage.ru_maxrss, status);
    return 0;
}

static uint64_t read_range(char *range)
{
    long long offset = 0, length = INT64_MAX;
    char *colon = strchr(range, ':');
    if (colon) {
        *colon = 0;
        if (sscanf(colon + 1, "%lld:%lld", &offset, &length) != 2) {
            fprintf(stderr, "meter: want FILE:OFFSET:LENGTH\n");
            exit(125);
        }
    }
    int fd = open(range, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(range);
    uint64_t sum = 0;
    while (length > 0) {
        size_t want = length < (long long)sizeof buffer ? (size_t)length : sizeof buffer;
        ssize_t got = pread(fd, buffer, want, offset);
        if (got < 0)
            fail(range);
        if (got == 0)
            break;
        for (size_t i = 0; i < (size_t)got / sizeof *buffer; i++)
            sum += buffer[i];
        offset += got;
        length -= got;
    }
    close(fd);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "run"))
        return run(argv[2], argv + 3);
    if (argc < 3 || strcmp(argv[1], "floor")) {
        fprintf(stderr, "usage: meter run OUTPUT COMMAND... | "
                        "meter floor BYTES FILE[:OFFSET:LENGTH]...\n");
        return 125;
    }
    uint64_t sum = 0;
    for (int i = 3; i < argc; i++)
        sum += read_range(argv[i]);
    for (long long left = atoll(argv[2]); left > 0;) {
        size_t size = left < (long long)sizeof buffer ? (size_t)left : sizeof buffer;
        memset(buffer, (int)(sum + (uint64_t)left), size);
        ssize_t wrote = write(STDOUT_FILENO, buffer, size);
        if (wrote < 0)
            fail("write");
        left -= wrote;
    }
    return 0;
}
