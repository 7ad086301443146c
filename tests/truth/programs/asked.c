/* Time in the kernel on behalf of functions that ask for different things, each in its share. */
#include "truth.h"

#include <sys/stat.h>
#include <sys/syscall.h>

TRUTH_WORK(asks_nothing)

static char page[4096];
static int zero, file;

static APART void in_read(unsigned n)
{
    for (; n; n--)
        if (read(zero, page, sizeof page) <= 0)
            _exit(98);
}

static APART void in_write(unsigned n)
{
    for (; n; n--)
        if (pwrite(file, page, sizeof page, 0) <= 0)
            _exit(98);
}

static APART void in_stat(unsigned n)
{
    struct stat s;
    for (; n; n--)
        if (stat("/usr/include/stdio.h", &s) && stat("/proc/self", &s))
            _exit(98);
}

/* The same call by two functions: what tells them apart is the stack alone. */
static APART void asks_a_fifth(unsigned n)
{
    in_read(n);
    __asm__ volatile("");
}

static APART void asks_half(unsigned n)
{
    in_read(n);
    __asm__ volatile("");
}

static double spend(void (*ask)(unsigned), double seconds)
{
    double start = truth_thread_s(), now;
    do {
        ask(300);
        now = truth_thread_s();
    } while (now - start < seconds);
    return now - start;
}

int main(void)
{
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    file = (int)syscall(SYS_memfd_create, "truth", 1u);
    for (int i = 0; i < 5; i++) {
        truth_say("total", "in_write", spend(in_write, 0.08));
        truth_say("path", "asks_a_fifth;in_read", spend(asks_a_fifth, 0.08));
        truth_self("asks_nothing", asks_nothing, 0.04);
        truth_say("path", "asks_half;in_read", spend(asks_half, 0.2));
        truth_say("total", "in_stat", spend(in_stat, 0.04));
    }
    truth_end();
    return 0;
}
