/* exec*: the recording is written before the process image goes. */
#include "../dump.h"
#include "real.h"
#include "../sampling/sample.h"
#include "../../common/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* In a vfork child the recording is the parent's, and stays alone. */
static bool leaving(void)
{
    struct process *p = process_if_started();
    if (config.monitored || !p || p->pid != sys_pid())
        return false;
    dump(WRITTEN_EXEC, DUMP_FINAL, NULL);
    sample_suspend();
    return true;
}

static int stayed(bool left, int result)
{
    if (left)
        sample_resume();
    return result;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    bool left = leaving();
    return stayed(left, REAL(execve)(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    bool left = leaving();
    return stayed(left, REAL(execvpe)(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    bool left = leaving();
    long r = SYS5(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
    errno = (int)-r;
    return stayed(left, -1);
}

/* Arguments up to and with NULL. */
static size_t count_arguments(va_list list)
{
    size_t n = 1;
    while (va_arg(list, char *))
        n++;
    return n + 1;
}

static void take_arguments(char **argv, const char *first, size_t n, va_list list)
{
    argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i < n; i++)
        argv[i] = va_arg(list, char *);
}

#define COLLECT(argv, first)                          \
    va_list list, again;                              \
    va_start(list, first);                            \
    va_copy(again, list);                             \
    size_t n = count_arguments(again);                \
    va_end(again);                                    \
    char **argv = __builtin_alloca(n * sizeof *argv); \
    take_arguments(argv, first, n, list)

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
