/* A process that is interrupted at thousands of places and unwinds itself, by us and by glibc from
 * the same registers. Used by the unit test and, on other machines, by tests/cross.
 *
 * The code that is interrupted has no frame pointers, calls deeply, allocates on the stack, is
 * called back by the C library, and is interrupted again in its signal handler. */
#ifndef MONARC_TESTS_UNWIND_LIVE_H
#define MONARC_TESTS_UNWIND_LIVE_H

#include "own_modules.h"

#include <alloca.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_FRAMES = 256 };

static struct own_modules modules;
static volatile sig_atomic_t points, agreed, whole;
static volatile sig_atomic_t as_deep;  /* stacks with as many frames of deep() as there are */
static volatile sig_atomic_t untrue;   /* stacks that claim to be whole and are not */
static volatile sig_atomic_t bare;     /* stacks that end for want of tables */
static volatile sig_atomic_t cut;      /* stacks that glibc cannot follow to their end */
static volatile int result;            /* of the work */
static volatile int depth;             /* of deep() */
static uint64_t deep_return;           /* where it returns to itself */
static uint64_t stack_end, trampoline; /* what a handler returns to */

struct difference {
    void *theirs[MOST_FRAMES];
    uint64_t ours[MOST_FRAMES];
    uint32_t theirs_len, ours_len;
    enum unwind_end end;
};
static struct difference differences[16];
static size_t differences_len;
static struct difference untrue_one; /* the last of those, and how deep it should have been */
static int untrue_depth;

#if defined __x86_64__

#define MACHINE &arch_x86_64
enum { SP = 7, RED_ZONE = 0 };

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

#elif defined __aarch64__

#define MACHINE &arch_aarch64
enum { SP = 31, RED_ZONE = 0 };

static struct unwind_registers registers_of(const ucontext_t *u)
{
    struct unwind_registers r = {.pc = u->uc_mcontext.pc, .known = UINT32_MAX};
    memcpy(r.at, u->uc_mcontext.regs, sizeof u->uc_mcontext.regs);
    r.at[SP] = u->uc_mcontext.sp;
    return r;
}

#elif defined __powerpc64__

#define MACHINE &arch_ppc64le
/* In epilogues registers are below the stack pointer, in 288 bytes that the kernel keeps. */
enum { SP = 1, LR_PLACE = 13, RED_ZONE = 288 };

static struct unwind_registers registers_of(const ucontext_t *u)
{
    const unsigned long *g = u->uc_mcontext.gp_regs;
    struct unwind_registers r = {.pc = g[32], .known = UINT32_MAX};
    memcpy(r.at, g, sizeof r.at);
    r.at[LR_PLACE] = g[36];
    return r;
}

#else

#define MACHINE &arch_riscv64
enum { SP = 2, RED_ZONE = 0 };

static struct unwind_registers registers_of(const ucontext_t *u)
{
    struct unwind_registers r = {.pc = u->uc_mcontext.__gregs[0], .known = UINT32_MAX};
    memcpy(r.at, u->uc_mcontext.__gregs, sizeof r.at);
    return r;
}

#endif

static bool is_near_trampoline(uint64_t pc)
{
    return trampoline && pc - trampoline < 16;
}

/* On some machines handlers return to a page that belongs to no object. */
static bool live_module_at(void *context, uint64_t pc, struct unwind_module *out)
{
    return own_module_at(context, pc, out) || is_near_trampoline(pc);
}

static bool live_read(void *context, uint64_t address, uint64_t *word)
{
    struct unwind_module ignored;
    if (!is_near_trampoline(address) && !own_module_at(context, address, &ignored))
        return false;
    memcpy(word, (const void *)address, sizeof *word);
    return true;
}

/* glibc's backtrace() begins in the handler; what was interrupted comes behind the trampoline, and
 * its addresses are those that calls return to. Exact are those of the frame that was interrupted,
 * and if it is within a handler, of the trampoline and the frame behind it. */
static bool same_frames(const struct difference *d, uint64_t pc)
{
    uint32_t skip = 0, exact = 0;
    while (skip < d->theirs_len && (uint64_t)d->theirs[skip] != pc)
        skip++;
    if (skip == d->theirs_len || d->theirs_len - skip != d->ours_len)
        return false;
    for (uint32_t i = 0; i < d->ours_len; i++) {
        uint64_t theirs = (uint64_t)d->theirs[skip + i];
        exact += d->ours[i] == theirs;
        if (d->ours[i] != theirs && d->ours[i] != theirs - 1)
            return false;
    }
    return d->ours[0] == pc && (exact == 1 || exact == 3);
}

/* Entering and leaving takes more than one instruction. */
static bool has_depth(const struct difference *d, int expected)
{
    int found = 0;
    for (uint32_t i = 1; i < d->ours_len; i++)
        found += d->ours[i] == deep_return - 1;
    return found >= expected - 2 && found <= expected;
}

/* Without tables for PLT entries (aarch64) and without knowing the emulator's signal frames
 * (riscv64) glibc stops there, or was led astray. */
static bool ends_early(const struct difference *d, uint64_t pc)
{
    uint32_t len = d->theirs_len;
    return MACHINE != &arch_x86_64 &&
           (len == 0 || (len < 5 && ((uint64_t)d->theirs[len - 1] == pc || len == 1)));
}

static sigjmp_buf astray;

static void leave_backtrace(int number)
{
    siglongjmp(astray, number);
}

/* glibc's frames; none if it went astray: in code without tables it takes whatever stands in a
 * register for a return address, and reads the instruction there. */
static uint32_t their_frames(void **frames)
{
    struct sigaction before, ours = {.sa_handler = leave_backtrace};
    uint32_t len = 0;
    sigaction(SIGSEGV, &ours, &before);
    if (sigsetjmp(astray, 1) == 0)
        len = (uint32_t)backtrace(frames, MOST_FRAMES);
    sigaction(SIGSEGV, &before, NULL);
    return len;
}

static volatile bool is_busy; /* comparing */
static struct difference now; /* what is compared, or was last */

/* It hangs: says where. */
static void give_up(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    struct unwind_registers r = registers_of(context);
    void *frames[MOST_FRAMES];
    printf("# it hangs at %#lx, %s, after %d points\n", r.pc,
           is_busy ? "comparing" : "between signals", (int)points);
    fflush(stdout);
    backtrace_symbols_fd(frames, backtrace(frames, MOST_FRAMES), STDOUT_FILENO);
    printf("# %d deep; interrupted last:", (int)depth);
    for (uint32_t i = 0; i < now.ours_len && i < 12; i++)
        printf(" %#lx", now.ours[i]);
    printf("; give_up() is at %#lx\n", (uint64_t)&give_up);
    fflush(stdout);
    _exit(3);
}

/* SIGALRM after so many seconds ends a run that hangs. */
static inline void live_watch(unsigned seconds)
{
    struct sigaction action = {.sa_sigaction = give_up, .sa_flags = SA_SIGINFO};
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

/* The next interruption. Not by an interval: where a comparison takes longer than that, as in an
 * emulator on a slow machine, the program might be interrupted again before it gets on. */
static void interrupt_later(void)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {0, 500}}, NULL);
}

/* An emulator may not mind the mask. */
static void compare(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (is_busy)
        return;
    is_busy = true;
    struct unwind_registers r = registers_of(context);
    uint64_t copied = r.at[SP] - RED_ZONE, left = stack_end - copied;
    struct unwind_stack s = {.address = copied,
                             .bytes = {(const uint8_t *)copied, left},
                             .module_at = live_module_at,
                             .read = live_read,
                             .context = &modules};
    now.ours_len = unwind_walk(&s, MACHINE, &r, now.ours, MOST_FRAMES, &now.end);
    now.theirs_len = their_frames(now.theirs);
    points++;
    whole += now.end == UNWIND_WHOLE;
    as_deep += has_depth(&now, depth);
    untrue += now.end == UNWIND_WHOLE && !has_depth(&now, depth);
    if (now.end == UNWIND_WHOLE && !has_depth(&now, depth)) {
        untrue_one = now;
        untrue_depth = depth;
    }
    bare += now.end == UNWIND_NO_TABLE;
    bool is_same = same_frames(&now, r.pc), is_cut = !is_same && ends_early(&now, r.pc);
    agreed += is_same;
    cut += is_cut;
    if (differences_len < 16 && (now.end != UNWIND_WHOLE || (!is_same && !is_cut)))
        differences[differences_len++] = now;
    is_busy = false;
    interrupt_later();
}

static void interrupt_again(int number)
{
    (void)number;
    trampoline = (uint64_t)__builtin_return_address(0);
    raise(SIGUSR2);
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
    volatile int kept = n;
    int below;
    depth++;
    if (depth == 2)
        deep_return = (uint64_t)__builtin_return_address(0);
    below = n == 0 ? use_stack(rand()) : deep(n - 1);
    depth--;
    return below * 3 + kept;
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
    if (n % 16 == 0)
        raise(SIGUSR1);
    return deep(n % 60) + sort_some(n + 1) + (int)copy_some((size_t)n * 37);
}

static void find_stack_end(void)
{
    char *line = NULL;
    size_t cap = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    uint64_t low, high, here = (uint64_t)&line;
    while (maps && getline(&line, &cap, maps) > 0)
        if (sscanf(line, "%lx-%lx", &low, &high) == 2 && here >= low && here < high)
            stack_end = high;
    if (maps)
        fclose(maps);
    free(line);
}

/* `without_headers`: only by indexes of .eh_frame. */
static void live_run(int most_points, bool without_headers)
{
    void *first[4];
    backtrace(first, 4); /* loads libgcc_s */
    own_modules_init(&modules, MACHINE, without_headers);
    points = agreed = whole = as_deep = untrue = bare = cut = 0;
    differences_len = 0;
    find_stack_end();
    struct sigaction action = {.sa_sigaction = compare, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGALRM);
    sigaction(SIGPROF, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    signal(SIGUSR1, interrupt_again);
    interrupt_later();
    for (int i = 1; points < most_points && i < 100000000; i++)
        result = result + work(i);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    own_modules_deinit(&modules);
}

static bool live_is_good(void)
{
    /* Most of riscv64's C library has no tables. Two frame pointers in a row count as proof there,
     * and once in 40,000 stacks both are what an earlier call left in a buffer. */
    if (MACHINE == &arch_riscv64)
        return untrue * 1000L <= points && (whole + bare) * 1000L >= points * 990L &&
               whole * 3L >= points;
    long enough = points * 999L;
#ifdef LIVE_WITHOUT_TABLES /* which glibc needs */
    return untrue == 0 && whole * 1000L >= enough && as_deep * 1000L >= enough;
#endif
    /* glibc does not know the emulator's signal frames and leaves out what was interrupted. */
    if (MACHINE == &arch_ppc64le)
        return untrue == 0 && whole * 1000L >= enough && as_deep * 1000L >= enough;
    return (agreed + cut) * 1000L >= enough && whole * 1000L >= enough && as_deep * 1000L >= enough;
}

static void live_report(void)
{
    printf("# %d points, %d whole, %d as deep as they are, %d as glibc's, %d that it cannot "
           "follow; %d untrue, %d without tables\n",
           (int)points, (int)whole, (int)as_deep, (int)agreed, (int)cut, (int)untrue, (int)bare);
    if (untrue)
        printf("# untrue at depth %d, which returns to %#lx, trampoline %#lx:\n", untrue_depth,
               deep_return, trampoline);
    for (uint32_t j = 0; untrue && j < untrue_one.ours_len; j++)
        printf("#   %#lx\n", untrue_one.ours[j]);
    for (size_t i = 0; i < differences_len && !live_is_good(); i++) {
        const struct difference *d = &differences[i];
        printf("# end %d, trampoline %#lx\n", d->end, trampoline);
        for (uint32_t j = 0; j < 16; j++)
            printf("#   %p %#lx\n", j < d->theirs_len ? d->theirs[j] : NULL,
                   j < d->ours_len ? d->ours[j] : 0);
    }
}

#endif
