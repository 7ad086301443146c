/* Ways out of the process that run no destructor, and calls that replace it: the files are written
 * first. Everything here is done without the C library's own version, which in a static program
 * would not be there; a child of vfork, whose counters are its parent's, goes without writing
 * (dump.c). */
#include "dump.h"
#include "export.h"
#include "names.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORT void _exit(int status)
{
    dump(DUMP_LAST);
    sys_exit(status);
}

EXPORT void _Exit(int status)
{
    _exit(status);
}

static int result(long r)
{
    errno = (int)-r;
    return -1;
}

static long run(const char *path, char *const argv[], char *const envp[])
{
    return sys_call(SYS_execve, (long)path, (long)argv, (long)envp, 0, 0);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    dump(DUMP_MORE);
    return result(run(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    dump(DUMP_MORE);
    return result(sys_call(SYS_execveat, fd, (long)"", (long)argv, (long)envp, AT_EMPTY_PATH));
}

/* A file without a known format is a shell script, says POSIX of execvp. */
static long run_script(const char *path, char *const argv[], char *const envp[])
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **words = __builtin_alloca((n + 3) * sizeof *words);
    words[0] = (char *)(uintptr_t) "/bin/sh";
    words[1] = (char *)(uintptr_t)path;
    for (size_t i = 1; i < n; i++)
        words[i + 1] = argv[i];
    words[n > 0 ? n + 1 : 2] = NULL;
    return run("/bin/sh", words, envp);
}

static long run_or_script(const char *path, char *const argv[], char *const envp[])
{
    long r = run(path, argv, envp);
    return r == -ENOEXEC ? run_script(path, argv, envp) : r;
}

/* Tries the folders of PATH; "permission denied" is remembered, "not there" is not. */
static long search(const char *file, char *const argv[], char *const envp[])
{
    char at[PATH_MAX];
    const char *folders = getenv("PATH");
    long r = -ENOENT;
    size_t length = strlen(file);
    if (!folders)
        folders = "/bin:/usr/bin";
    for (;; folders++) {
        size_t n = strcspn(folders, ":");
        if (n + length + 2 <= sizeof at) {
            memcpy(at, folders, n);
            at[n] = '/';
            memcpy(at + n + (n > 0), file, length + 1);
            long tried = run_or_script(at, argv, envp);
            if (tried == -EACCES)
                r = tried;
            else if (tried != -ENOENT && tried != -ENOTDIR && tried != -ESTALE &&
                     tried != -ENODEV && tried != -ETIMEDOUT)
                return tried;
        }
        folders += n;
        if (!*folders)
            return r;
    }
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    dump(DUMP_MORE);
    if (!*file)
        return result(-ENOENT);
    return result(strchr(file, '/') ? run_or_script(file, argv, envp) : search(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

/* Arguments up to and with NULL; the first is not NULL, says its declaration. */
static size_t count_arguments(va_list list)
{
    size_t n = 2;
    while (va_arg(list, char *))
        n++;
    return n;
}

#define COLLECT(argv, first)                          \
    va_list list;                                     \
    va_start(list, first);                            \
    size_t n = count_arguments(list);                 \
    va_end(list);                                     \
    char **argv = __builtin_alloca(n * sizeof *argv); \
    va_start(list, first);                            \
    argv[0] = (char *)(uintptr_t)first;               \
    for (size_t i = 1; i < n; i++)                    \
    argv[i] = va_arg(list, char *)

EXPORT int execl(const char *path, const char *first, ...)
{
    COLLECT(argv, first);
    va_end(list);
    return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    COLLECT(argv, first);
    va_end(list);
    return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    COLLECT(argv, first);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}

/* gcc has covered code call these in place of fork and exec. */
GCOV_API int __gcov_execve(const char *path, char *const argv[], char *const envp[]);
GCOV_API int __gcov_execv(const char *path, char *const argv[]);
GCOV_API int __gcov_execvp(const char *file, char *const argv[]);
GCOV_API int __gcov_execl(const char *path, char *first, ...);
GCOV_API int __gcov_execlp(const char *file, char *first, ...);
GCOV_API int __gcov_execle(const char *path, char *first, ...);
GCOV_API pid_t __gcov_fork(void);

int __gcov_execve(const char *path, char *const argv[], char *const envp[])
{
    return execve(path, argv, envp);
}

int __gcov_execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

int __gcov_execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

int __gcov_execl(const char *path, char *first, ...)
{
    COLLECT(argv, first);
    va_end(list);
    return execve(path, argv, environ);
}

int __gcov_execlp(const char *file, char *first, ...)
{
    COLLECT(argv, first);
    va_end(list);
    return execvpe(file, argv, environ);
}

int __gcov_execle(const char *path, char *first, ...)
{
    COLLECT(argv, first);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}

/* pthread_atfork's handlers do the rest. */
pid_t __gcov_fork(void)
{
    return fork();
}

/* The parent leaves inside the C library's version. */
EXPORT int daemon(int nochdir, int noclose)
{
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0)
        _exit(0);
    if (setsid() < 0)
        return -1;
    if (!nochdir && chdir("/") != 0)
        return -1;
    if (!noclose) {
        int fd = open("/dev/null", O_RDWR);
        if (fd < 0)
            return -1;
        for (int i = 0; i < 3; i++)
            dup2(fd, i);
        if (fd > 2)
            close(fd);
    }
    return 0;
}
