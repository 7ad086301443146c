/* exec*: the files are written before the process image goes. Done without the C library's own
 * version, which in a static program would not be there; a child of vfork, whose counters are its
 * parent's, goes without writing (dump.c). */
#include "../common/exec.h"
#include "../common/sys.h"
#include "dump.h"
#include "export.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool exec_leaving(void)
{
    dump(DUMP_MORE);
    return false;
}

void exec_stayed(void)
{
}

static int result(long r)
{
    errno = (int)-r;
    return -1;
}

static long run(const char *path, char *const argv[], char *const envp[])
{
    return SYS3(SYS_execve, path, argv, envp);
}

int exec_next(const char *path, char *const argv[], char *const envp[])
{
    return result(run(path, argv, envp));
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

int exec_next_search(const char *file, char *const argv[], char *const envp[])
{
    if (!*file)
        return result(-ENOENT);
    return result(strchr(file, '/') ? run_or_script(file, argv, envp) : search(file, argv, envp));
}

/* gcc has covered code call these in place of exec. */
GCOV_API int __gcov_execve(const char *path, char *const argv[], char *const envp[]);
GCOV_API int __gcov_execv(const char *path, char *const argv[]);
GCOV_API int __gcov_execvp(const char *file, char *const argv[]);
GCOV_API int __gcov_execl(const char *path, char *first, ...);
GCOV_API int __gcov_execlp(const char *file, char *first, ...);
GCOV_API int __gcov_execle(const char *path, char *first, ...);

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
    EXEC_ARGUMENTS(argv, first);
    va_end(list);
    return execve(path, argv, environ);
}

int __gcov_execlp(const char *file, char *first, ...)
{
    EXEC_ARGUMENTS(argv, first);
    va_end(list);
    return execvpe(file, argv, environ);
}

int __gcov_execle(const char *path, char *first, ...)
{
    EXEC_ARGUMENTS(argv, first);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}
