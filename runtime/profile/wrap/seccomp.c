/* prctl and syscall: the ways in which a program sandboxes itself. See sandbox.h. */
#include "../../common/sys.h"
#include "../sandbox.h"
#include "real.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long),
                  c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    bool is_sealed = option == PR_SET_SECCOMP && seal_begin(a == SECCOMP_MODE_STRICT);
    int r = REAL(prctl)(option, a, b, c, d);
    if (is_sealed && r < 0)
        seal_undo();
    return r;
}

static bool is_sandboxing(long number, long first)
{
    return (number == SYS_prctl && first == PR_SET_SECCOMP) ||
           (number == SYS_seccomp &&
            (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER));
}

/* Without a frame of its own in every other case: a call that returns twice finds the caller's. */
EXPORT long wrapped_syscall(long number, long a, long b, long c, long d, long e,
                            long f) __asm__("syscall");

EXPORT long wrapped_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (!is_sandboxing(number, a))
        return REAL(syscall)(number, a, b, c, d, e, f);
    bool is_sealed =
        seal_begin(number == SYS_prctl ? b == SECCOMP_MODE_STRICT : a == SECCOMP_SET_MODE_STRICT);
    long r = REAL(syscall)(number, a, b, c, d, e, f);
    if (is_sealed && r < 0)
        seal_undo();
    return r;
}
