/* fault.c: preloaded, makes the library's FAULT_AT-th system call fail with FAULT_ERRNO, or with
 * FAULT_ERRNO=0 kills the process in place of it. With FAULT_SHORT=1 a failing write has written
 * half of its bytes. FAULT_NO names calls that fail always, a letter each: l fcntl's locks, with
 * ENOLCK; s symbolic links, h hard links, e exchanges and renames that replace nothing, with EPERM
 * or EINVAL. The library calls the kernel through syscall() alone. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long calls;

static long number(const char *name)
{
    const char *s = getenv(name);
    return s ? atol(s) : -1;
}

/* Calls about the process, not about files, do not count. */
static int is_counted(long n)
{
    return n != SYS_rt_sigprocmask && n != SYS_getpid && n != SYS_futex && n != SYS_exit_group &&
           n != SYS_madvise && n != SYS_munmap && n != SYS_gettid && n != SYS_prlimit64;
}

/* FAULT_TELL names a file that gets a byte for each call. */
static void tell(void)
{
    const char *path = getenv("FAULT_TELL");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd >= 0 && write(fd, "x", 1) == 1)
        close(fd);
}

/* The error of a call that this file system has not got, or 0. */
static int lacks(long n, long flags)
{
    const char *no = getenv("FAULT_NO");
    if (!no)
        return 0;
    if (n == SYS_fcntl)
        return strchr(no, 'l') ? ENOLCK : 0;
    if (n == SYS_symlinkat)
        return strchr(no, 's') ? EPERM : 0;
    if (n == SYS_linkat)
        return strchr(no, 'h') ? EPERM : 0;
    return n == SYS_renameat2 && flags != 0 && strchr(no, 'e') ? EINVAL : 0;
}

long syscall(long n, ...)
{
    static long (*real)(long, ...);
    va_list list;
    va_start(list, n);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
    long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (is_counted(n))
        tell();
    int missing = lacks(n, e);
    if (missing) {
        errno = missing;
        return -1;
    }
    if (is_counted(n) && ++calls == number("FAULT_AT")) {
        if (n == SYS_write && number("FAULT_SHORT") == 1)
            real(n, a, b, c / 2);
        if (number("FAULT_ERRNO") == 0)
            kill(getpid(), SIGKILL);
        errno = (int)number("FAULT_ERRNO");
        return -1;
    }
    return real(n, a, b, c, d, e, f);
}
