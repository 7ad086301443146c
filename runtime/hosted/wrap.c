/* Library calls that the preloaded recorder stands in front of, each for one reason:
 *   _exit, _Exit, daemon, exec*: the recording is written before the process image goes;
 *   dlclose: the addresses of an unloaded library are set aside before they are used again;
 *   pthread_create: threads are sampled from their first instruction, with known stack bounds;
 *   clone: a task that shares its creator's TLS must count with locked operations.
 * The real functions are looked up once, before main, because most of these may be called in
 * signal handlers. Not part of the static library. */
#include "dump.h"
#include "sample.h"
#include "sys.h"
#include "thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static int (*real_fexecve)(int, char *const[], char *const[]);
static int (*real_daemon)(int, int);
static int (*real_dlclose)(void *);
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_clone)(int (*)(void *), void *, int, void *, ...);

/* RTLD_NEXT is libc, or another preloaded library. Run before main, or before the constructor of
 * another library that is faster than ours. */
__attribute__((constructor(101))) static void look_up(void)
{
    if (real_clone)
        return;
    *(void **)&real_execve = dlsym(RTLD_NEXT, "execve");
    *(void **)&real_execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&real_fexecve = dlsym(RTLD_NEXT, "fexecve");
    *(void **)&real_daemon = dlsym(RTLD_NEXT, "daemon");
    *(void **)&real_dlclose = dlsym(RTLD_NEXT, "dlclose");
    *(void **)&real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
    *(void **)&real_clone = dlsym(RTLD_NEXT, "clone");
}

static void dump_before(enum written why)
{
    dump(why, DUMP_FINAL, NULL);
}

EXPORT void _exit(int status)
{
    dump_before(WRITTEN_EXIT);
    for (;;)
        SYS3(SYS_exit_group, status, 0, 0);
}

EXPORT void _Exit(int status)
{
    _exit(status);
}

EXPORT int daemon(int nochdir, int noclose)
{
    dump_before(WRITTEN_EXIT); /* the parent leaves inside */
    look_up();
    return real_daemon(nochdir, noclose);
}

/* In a vfork child the recording is the parent's, and stays alone. */
static bool leaving(void)
{
    look_up();
    struct process *p = process_if_started();
    if (!p || p->pid != sys_pid())
        return false;
    dump_before(WRITTEN_EXEC);
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
    return stayed(left, real_execve(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    bool left = leaving();
    return stayed(left, real_execvpe(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    bool left = leaving();
    return stayed(left, real_fexecve(fd, argv, envp));
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

EXPORT int dlclose(void *handle)
{
    look_up();
    struct process *p = process_if_started();
    if (p)
        objects_refresh(p); /* a library that nobody has looked at yet must be known to be missed */
    int r = real_dlclose(handle);
    if (p)
        objects_refresh(p);
    return r;
}

struct beginning {
    void *(*function)(void *);
    void *argument;
    size_t stack_bytes;
};

static void *begin_thread(void *argument)
{
    struct beginning b = *(struct beginning *)argument;
    free(argument);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct process *p = process_get();
    if (p && monarc_recording && thread_attach(p))
        thread_set_stack(here - b.stack_bytes, here);
    return b.function(b.argument);
}

static size_t stack_bytes(const pthread_attr_t *attributes)
{
    size_t bytes = 0;
    if (attributes && pthread_attr_getstacksize(attributes, &bytes) == 0 && bytes)
        return bytes;
    uint64_t limit = sys_limit(RLIMIT_STACK), most = (uint64_t)1 << 30;
    return (size_t)(limit < most ? limit : (uint64_t)8 << 20);
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    look_up();
    struct beginning *b = process_if_started() ? malloc(sizeof *b) : NULL;
    if (!b)
        return real_pthread_create(id, attributes, function, argument);
    *b = (struct beginning){function, argument, stack_bytes(attributes)};
    int r = real_pthread_create(id, attributes, begin_thread, b);
    if (r != 0)
        free(b);
    return r;
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    look_up();
    va_list list;
    va_start(list, argument);
    void *parent_tid = va_arg(list, void *), *tls = va_arg(list, void *),
         *child_tid = va_arg(list, void *);
    va_end(list);
    if ((flags & CLONE_VM) && !(flags & (CLONE_SETTLS | CLONE_VFORK)))
        thread_share();
    return real_clone(function, stack, flags, argument, parent_tid, tls, child_tid);
}
