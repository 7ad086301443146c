/* Preloaded into the recorder: its first event of another process takes 0.3 s to open. OPENED
 * is a file that says when that was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long syscall(long number, ...)
{
    static int calls;
    static long (*next)(long, ...);
    __builtin_va_list list;
    long a[6];
    if (!next)
        next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    __builtin_va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = __builtin_va_arg(list, long);
    __builtin_va_end(list);
    if (number == SYS_perf_event_open && a[1] > 0 && !calls++) {
        struct timespec now;
        FILE *file = fopen(getenv("OPENED"), "w");
        usleep(300000);
        clock_gettime(CLOCK_REALTIME, &now);
        fprintf(file, "%lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
        fclose(file);
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
