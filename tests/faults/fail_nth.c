/* A preload that fails the N-th allocation of a process.
 *
 * Environment:
 *   FAIL_NTH=N        the allocation to fail, from 1; 0 or unset: none
 *   FAIL_FROM=1       all from the N-th on fail, not it alone
 *   FAIL_COUNT=FILE   how many there were is written there when the process ends: `PID NUMBER`,
 * appended FAIL_PROGRAM=NAME only in processes of this name (/proc/self/comm), for commands that
 * start others
 *
 * Counted are malloc, calloc, realloc (where it may grow), the aligned ones, of all threads and
 * libraries, glibc's own included, from the first constructor on. What the loader asks of the
 * system before is not. A failed one returns NULL with ENOMEM. The constructor tells fail_call
 * (prctl with FAIL_MARK) that the loader is done. System calls are failed by fail_call.c: a preload
 * sees neither those that libc makes by itself nor those of a runtime that asks the kernel
 * directly. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAIL_MARK 0x6d6e7263

/* libc's own, which glibc finds without allocating. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, "__libc_" #name))

static atomic_ulong seen;
static unsigned long nth;
static bool is_counting, all_from;
static const char *count_file;

static bool fails(void)
{
    if (!is_counting)
        return false;
    unsigned long now = 1 + atomic_fetch_add(&seen, 1);
    bool hit = nth && (now == nth || (all_from && now > nth));
    if (hit)
        errno = ENOMEM;
    return hit;
}

static void *counted_malloc(size_t size)
{
    return fails() ? NULL : REAL(malloc)(size);
}

static void *counted_calloc(size_t count, size_t size)
{
    return fails() ? NULL : REAL(calloc)(count, size);
}

static void *counted_realloc(void *at, size_t size)
{
    bool frees = at && !size;
    return !frees && fails() ? NULL : REAL(realloc)(at, size);
}

static void *counted_memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : REAL(memalign)(alignment, size);
}

void *malloc(size_t size)
{
    return counted_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return counted_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    return counted_realloc(at, size);
}

void *reallocarray(void *at, size_t count, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes))
        return counted_realloc(at, bytes);
    errno = ENOMEM;
    return NULL;
}

void *memalign(size_t alignment, size_t size)
{
    return counted_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return counted_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    int error = errno;
    void *at = counted_memalign(alignment, size);
    errno = error;
    if (!at)
        return ENOMEM;
    *out = at;
    return 0;
}

/* A program with a malloc of its own, as monarc, asks libc by these names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *__libc_malloc(size_t size)
{
    return counted_malloc(size);
}

void *__libc_calloc(size_t count, size_t size)
{
    return counted_calloc(count, size);
}

void *__libc_realloc(void *at, size_t size)
{
    return counted_realloc(at, size);
}

void *__libc_memalign(size_t alignment, size_t size)
{
    return counted_memalign(alignment, size);
}

static bool is_meant(void)
{
    const char *name = getenv("FAIL_PROGRAM");
    char comm[17] = "";
    if (!name)
        return true;
    prctl(PR_GET_NAME, comm);
    return !strncmp(comm, name, 15);
}

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAIL_NTH");
    const char *from = getenv("FAIL_FROM");
    prctl(FAIL_MARK, 0, 0, 0, 0);
    if (!is_meant())
        return;
    nth = number ? strtoul(number, NULL, 10) : 0;
    all_from = from && *from == '1';
    count_file = getenv("FAIL_COUNT");
    is_counting = true;
}

static void write_count(void)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%ld %lu\n", (long)getpid(), atomic_load(&seen));
    int fd = open(count_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    (void)!write(fd, line, (size_t)len);
    close(fd);
}

__attribute__((destructor)) static void end(void)
{
    is_counting = false;
    if (count_file)
        write_count();
}
