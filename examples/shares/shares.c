/* A program that knows where its CPU time goes: it measures each of its parts by the kernel's clock
 * of its thread, and prints their shares for a profiler to be compared with. `summed` calls `mixed`
 * for a third of its work, `scattered` for the rest; `filled` lets the kernel fill pages. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 3, ROUNDS = 20 };

static char page[1 << 16];

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) unsigned long mixed(unsigned long steps)
{
    unsigned long x = 1;
    for (unsigned long i = 0; i < steps; i++)
        x = x * 6364136223846793005 + 1442695040888963407;
    return x;
}

__attribute__((noinline)) unsigned long summed(unsigned long steps)
{
    return mixed(steps) + 1;
}

__attribute__((noinline)) unsigned long scattered(unsigned long steps)
{
    return mixed(2 * steps) + 2;
}

__attribute__((noinline)) int filled(int times)
{
    int zero = open("/dev/zero", O_RDONLY), failed = zero < 0;
    for (int i = 0; i < times; i++)
        failed |= read(zero, page, sizeof page) < 0;
    close(zero);
    return failed;
}

int main(int argc, char **argv)
{
    static const char *const names[PARTS] = {"summed", "scattered", "filled"};
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    double spent[PARTS] = {0}, all = 0;
    unsigned long x = 0;
    for (int i = 0; i < rounds; i++) {
        double t0 = cpu_seconds();
        x += summed(6000000);
        double t1 = cpu_seconds();
        x += scattered(6000000);
        double t2 = cpu_seconds();
        x += (unsigned long)filled(4000);
        double t3 = cpu_seconds();
        spent[0] += t1 - t0, spent[1] += t2 - t1, spent[2] += t3 - t2;
        all += t3 - t0;
    }
    for (int i = 0; i < PARTS; i++)
        printf("%-10s %6.2f\n", names[i], 100 * spent[i] / all);
    return x == 0;
}
