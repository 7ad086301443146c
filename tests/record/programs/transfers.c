/* Reads and writes known numbers of bytes, and prints how many of each file by its own count:
 * `transfers MODE FOLDER`, lines READ_OR_WRITTEN NAME BYTES.
 *
 *     two       reads two files by calls of the same size, one three times as much as the other
 *     threads   two threads, one writes a file, the other one reads one
 *     children  a child process reads a file, and ends at once; its parent reads nothing
 *     short     many children, one after the other, read a file for some milliseconds each
 *     pipe      a child writes into a pipe, the parent waits for each piece
 *     mixed     the same, and the parent reads a file each time
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 256 << 10, FILE_BYTES = 16 << 20 };
static char a_path[4096], b_path[4096], c_path[4096];
static uint64_t read_a, read_b, written_c, read_pipe;

/* Until the thread has spent so much CPU time in it. */
static int goes_on(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds;
}

static int make(const char *path)
{
    char *bytes = calloc(1, PIECE);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; fd >= 0 && i < FILE_BYTES / PIECE; i++)
        if (write(fd, bytes, PIECE) != PIECE)
            exit(3);
    free(bytes);
    return fd;
}

__attribute__((noinline)) uint64_t read_piece_of_a(int fd, void *buffer)
{
    ssize_t got = pread(fd, buffer, PIECE, 0);
    __asm__ volatile("");
    return got > 0 ? (uint64_t)got : 0;
}

__attribute__((noinline)) uint64_t read_piece_of_b(int fd, void *buffer)
{
    ssize_t got = pread(fd, buffer, PIECE, PIECE);
    __asm__ volatile("");
    return got > 0 ? (uint64_t)got : 0;
}

__attribute__((noinline)) uint64_t write_piece_of_c(int fd, const void *buffer)
{
    ssize_t put = pwrite(fd, buffer, PIECE, 0);
    __asm__ volatile("");
    return put > 0 ? (uint64_t)put : 0;
}

static void *reader(void *seconds)
{
    char *buffer = malloc(PIECE);
    int a = open(a_path, O_RDONLY);
    while (goes_on(*(double *)seconds))
        read_a += read_piece_of_a(a, buffer);
    free(buffer);
    return NULL;
}

static void *writer(void *seconds)
{
    char *buffer = calloc(1, PIECE);
    int c = open(c_path, O_RDWR | O_CREAT, 0600);
    while (goes_on(*(double *)seconds))
        written_c += write_piece_of_c(c, buffer);
    free(buffer);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    static char buffer[PIECE];
    double seconds = 0.4;
    snprintf(a_path, sizeof a_path, "%s/a", argc > 2 ? argv[2] : ".");
    snprintf(b_path, sizeof b_path, "%s/b", argc > 2 ? argv[2] : ".");
    snprintf(c_path, sizeof c_path, "%s/c", argc > 2 ? argv[2] : ".");
    int a = make(a_path), b = make(b_path);
    if (!strcmp(mode, "two")) {
        while (goes_on(0.6)) {
            for (int i = 0; i < 3; i++)
                read_a += read_piece_of_a(a, buffer);
            read_b += read_piece_of_b(b, buffer);
        }
    } else if (!strcmp(mode, "threads")) {
        pthread_t one, other;
        pthread_create(&one, NULL, reader, &seconds);
        pthread_create(&other, NULL, writer, &seconds);
        pthread_join(one, NULL);
        pthread_join(other, NULL);
    } else if (!strcmp(mode, "children")) {
        int ends[2];
        if (pipe(ends))
            return 3;
        if (!fork()) {
            reader(&seconds);
            _exit(write(ends[1], &read_a, sizeof read_a) != sizeof read_a);
        }
        read_pipe += (uint64_t)read(ends[0], &read_a, sizeof read_a);
        while (wait(NULL) > 0)
            ;
    } else if (!strcmp(mode, "short")) {
        int ends[2];
        uint64_t one, all = 0;
        seconds = 0.005;
        if (pipe(ends))
            return 3;
        for (int i = 0; i < 80; i++) {
            if (!fork()) {
                reader(&seconds);
                _exit(write(ends[1], &read_a, sizeof read_a) != sizeof read_a);
            }
            while (wait(NULL) > 0)
                ;
            if (read(ends[0], &one, sizeof one) == sizeof one)
                all += one;
        }
        read_a = all;
    } else if (!strcmp(mode, "pipe") || !strcmp(mode, "mixed")) {
        int ends[2];
        if (pipe(ends))
            return 3;
        if (!fork()) {
            close(ends[0]);
            for (int i = 0; i < 40; i++) {
                nanosleep(&(struct timespec){.tv_nsec = 15000000}, NULL);
                if (write(ends[1], buffer, 1000) != 1000)
                    _exit(3);
            }
            _exit(0);
        }
        close(ends[1]);
        for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
            read_pipe += (uint64_t)got;
            for (int i = 0; i < 32 && !strcmp(mode, "mixed"); i++)
                read_a += read_piece_of_a(a, buffer);
        }
        while (wait(NULL) > 0)
            ;
    }
    printf("read a %ju\nread b %ju\nwritten c %ju\nread pipe %ju\n", (uintmax_t)read_a,
           (uintmax_t)read_b, (uintmax_t)written_c, (uintmax_t)read_pipe);
    return 0;
}
