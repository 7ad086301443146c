/* The exec family. See exec.h, exec(3). Every function ends in one of three calls: execve, execvpe,
 * fexecve. */
#include "exec.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int stayed(bool must_tell, int result)
{
    if (must_tell)
        exec_stayed();
    return result;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    bool must_tell = exec_leaving();
    return stayed(must_tell, exec_next(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    bool must_tell = exec_leaving();
    return stayed(must_tell, exec_next_search(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    bool must_tell = exec_leaving();
    long r = SYS5(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
    errno = (int)-r;
    return stayed(must_tell, -1);
}

EXPORT int execl(const char *path, const char *first, ...)
{
    EXEC_ARGUMENTS(argv, first);
    va_end(list);
    return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    EXEC_ARGUMENTS(argv, first);
    va_end(list);
    return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    EXEC_ARGUMENTS(argv, first);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}
