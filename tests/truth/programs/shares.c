/* Shares of functions, of the kernel and of page faults, one after the other. */
#include "truth.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

TRUTH_WORK(half)
TRUTH_WORK(third)
TRUTH_WORK(sixth)
TRUTH_WORK(in_user)
TRUTH_WORK(undisturbed)
TRUTH_WORK(with_signals_blocked)

static void user(void)
{
    for (int i = 0; i < 4; i++) {
        truth_self("half", half, 0.15);
        truth_self("third", third, 0.10);
        truth_self("sixth", sixth, 0.05);
    }
}

static char buffer[1 << 20];

/* A megabyte a call: what is not in the kernel is some hundred instructions. */
static APART void read_zeros(unsigned n)
{
    int zero = open("/dev/zero", O_RDONLY);
    for (; n; n--)
        if (read(zero, buffer, sizeof buffer) <= 0)
            _exit(98);
    close(zero);
}

static APART double in_kernel(double seconds)
{
    double start = truth_thread_s();
    do
        read_zeros(20);
    while (truth_thread_s() - start < seconds);
    return truth_thread_s() - start;
}

static void kernel(void)
{
    for (int i = 0; i < 4; i++) {
        truth_self("in_user", in_user, 0.06);
        double s = in_kernel(0.18);
        truth_say("kernel", "read", s);
        truth_say("total", "in_kernel", s);
    }
}

/* The same at the end of a stack of 300 kB, of which no sample has a whole copy. */
static APART double below(int depth, double seconds)
{
    volatile char room[250];
    room[0] = room[sizeof room - 1] = (char)depth;
    double s = depth > 1 ? below(depth - 1, seconds) : in_kernel(seconds);
    return s + room[0] - room[sizeof room - 1];
}

static APART double outermost(double seconds)
{
    double s = below(1000, seconds);
    __asm__ volatile("");
    return s;
}

static void deep_kernel(void)
{
    for (int i = 0; i < 4; i++) {
        truth_self("in_user", in_user, 0.06);
        double s = outermost(0.18);
        truth_say("kernel", "read", s);
        truth_say("total", "outermost", s);
    }
}

/* Many short calls: how much of them is the kernel's nobody can say from here. */
static APART void ask_often(unsigned n)
{
    for (; n; n -= 100)
        for (int i = 0; i < 100; i++)
            syscall(SYS_getppid);
}

static void calls(void)
{
    for (int i = 0; i < 4; i++) {
        truth_self("in_user", in_user, 0.06);
        truth_say("total", "ask_often", truth_spend(ask_often, 0.12));
    }
}

/* Each page is touched once: the kernel clears it, on behalf of an instruction, not of a call. */
static APART void touch_pages(void)
{
    enum { PAGES = 4096, PAGE = 4096 };
    volatile char *p = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)p, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        p[i * PAGE] = 1;
    munmap((void *)p, (size_t)PAGES * PAGE);
    __asm__ volatile("");
}

static void faults(void)
{
    for (int i = 0; i < 4; i++) {
        truth_self("in_user", in_user, 0.06);
        double start = truth_thread_s();
        do
            touch_pages();
        while (truth_thread_s() - start < 0.12);
        truth_say("total", "touch_pages", truth_thread_s() - start);
    }
}

static void blocked(void)
{
    sigset_t all, before;
    sigfillset(&all);
    for (int i = 0; i < 4; i++) {
        truth_self("undisturbed", undisturbed, 0.06);
        sigprocmask(SIG_BLOCK, &all, &before);
        truth_self("with_signals_blocked", with_signals_blocked, 0.06);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "user";
    if (!strcmp(how, "user"))
        user();
    else if (!strcmp(how, "kernel"))
        kernel();
    else if (!strcmp(how, "deep-kernel"))
        deep_kernel();
    else if (!strcmp(how, "calls"))
        calls();
    else if (!strcmp(how, "faults"))
        faults();
    else
        blocked();
    truth_end();
    return 0;
}
