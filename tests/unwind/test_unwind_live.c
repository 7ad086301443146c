/* This process, interrupted at thousands of places, unwound by us and by glibc from the same
 * registers: each frame has to agree, and each stack has to reach its end.
 *
 * The code that is interrupted has no frame pointers, calls deeply, allocates on the stack, and is
 * called back by the C library. */
#include "own_modules.h"

#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <alloca.h>
#include <cmocka.h>

#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__

enum { MOST_FRAMES = 256, STACK_BYTES = 1 << 16, POINTS = 3000 };

static struct own_modules modules;
static volatile sig_atomic_t points, agreed, whole;
static uint64_t stack_end;

struct difference {
    void *theirs[MOST_FRAMES];
    uint64_t ours[MOST_FRAMES];
    uint32_t theirs_len, ours_len;
    enum unwind_end end;
};
static struct difference differences[16];
static size_t differences_len;

static struct unwind_registers registers_of(const ucontext_t *u)
{
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
    struct unwind_registers r = {.pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP], .known = 0xffff};
    for (int i = 0; i < 16; i++)
        r.at[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
    return r;
}

/* glibc's backtrace() begins in the handler; what was interrupted comes behind the trampoline, and
 * its addresses are those that calls return to. */
static bool same_frames(const struct difference *d, uint64_t pc)
{
    uint32_t skip = 0;
    while (skip < d->theirs_len && (uint64_t)d->theirs[skip] != pc)
        skip++;
    if (skip == d->theirs_len || d->theirs_len - skip != d->ours_len)
        return false;
    for (uint32_t i = 0; i < d->ours_len; i++)
        if ((uint64_t)d->theirs[skip + i] - (i > 0) != d->ours[i])
            return false;
    return true;
}

static void compare(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    static struct difference d;
    struct unwind_registers r = registers_of(context);
    uint64_t left = stack_end - r.at[7];
    struct unwind_stack s = {.address = r.at[7],
                             .bytes = {(const uint8_t *)r.at[7], left},
                             .module_at = own_module_at,
                             .context = &modules};
    d.ours_len = unwind_walk(&s, UNWIND_X86_64, &r, d.ours, MOST_FRAMES, &d.end);
    d.theirs_len = (uint32_t)backtrace(d.theirs, MOST_FRAMES);
    points++;
    whole += d.end == UNWIND_WHOLE;
    if (same_frames(&d, r.pc))
        agreed++;
    else if (differences_len < 16)
        differences[differences_len++] = d;
}

static int by_value(const void *left, const void *right)
{
    const int *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

static __attribute__((noinline)) int use_stack(int n)
{
    char *room = alloca((size_t)n % 300 + 16), text[64];
    memset(room, n, (size_t)n % 300 + 16);
    snprintf(text, sizeof text, "%d %g %s", n, n / 3.0, "text");
    return room[n % 16] + text[0];
}

static __attribute__((noinline)) int deep(int n)
{
    if (n == 0)
        return use_stack(rand());
    return deep(n - 1) * 3 + n;
}

static __attribute__((noinline)) int sort_some(int n)
{
    int values[64];
    for (int i = 0; i < 64; i++)
        values[i] = rand() % n;
    qsort(values, 64, sizeof *values, by_value);
    return values[0];
}

static __attribute__((noinline)) double copy_some(size_t n)
{
    static char from[4096], to[4096];
    memcpy(to, from, n % sizeof to);
    memmove(to + 1, to, n % 4000);
    char *text = malloc(n % 1000 + 1);
    free(text);
    return strtod("3.14159e10", NULL) + (double)strlen(to);
}

static __attribute__((noinline)) int work(int n)
{
    return deep(n % 60) + sort_some(n + 1) + (int)copy_some((size_t)n * 37);
}

static void test_as_glibc(void **state)
{
    (void)state;
    void *first[4];
    backtrace(first, 4); /* loads libgcc_s */
    own_modules_init(&modules, UNWIND_X86_64);
    char *line = NULL;
    size_t cap = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (getline(&line, &cap, maps) > 0)
        if (strstr(line, "[stack]"))
            stack_end = strtoull(strchr(line, '-') + 1, NULL, 16);
    fclose(maps);
    free(line);
    struct sigaction action = {.sa_sigaction = compare, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval often = {{0, 500}, {0, 500}};
    setitimer(ITIMER_PROF, &often, NULL);
    volatile int sum = 0;
    for (int i = 0; points < POINTS && i < 100000000; i++)
        sum += work(i);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    print_message("# %d points, %d agree, %d whole\n", (int)points, (int)agreed, (int)whole);
    for (size_t i = 0; i < differences_len; i++) {
        struct difference *d = &differences[i];
        print_message("# end %d\n", d->end);
        for (uint32_t j = 0; j < 12; j++)
            print_message("#   %p %#lx\n", j < d->theirs_len ? d->theirs[j] : NULL,
                          j < d->ours_len ? d->ours[j] : 0);
    }
    own_modules_deinit(&modules);
    assert_true(points >= POINTS);
    assert_true(agreed * 1000L >= points * 999L && whole * 1000L >= points * 999L);
}

#else

static void test_as_glibc(void **state)
{
    (void)state;
    print_message("# skipped: x86-64 without sanitizers alone\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_glibc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
