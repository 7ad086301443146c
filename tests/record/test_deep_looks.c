/* Looks at whole stacks: what they tell of a program that runs, and that nothing stops it. Bytes
 * and registers are of one moment: the program is this one, which counts on its stack. */
#include "cases.h"
#include "record/perf/deep_looks.h"
#include "record/ptrace/ptrace_registers.h"

#include "arch/arch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 1000, ENOUGH = 20, DEPTH = 6, FRAME = 64 << 10, TRIES = 4000, READY = 2 * DEPTH };

static struct {
    pid_t child;
    uint32_t looks, torn;
    uint64_t last_ns;
} seen;

static volatile uint64_t *volatile
    *words; /* on the program's stack: first and last ones of frames */

static void nap(void)
{
    nanosleep(&(struct timespec){0, 2 * 1000 * 1000}, NULL);
}

/* All words that are shared have the same number, but for the moment in which one after the other
 * gets the next. */
static __attribute__((noinline)) bool descend(int depth)
{
    volatile uint64_t frame[FRAME / sizeof(uint64_t)];
    words[depth] = frame;
    words[DEPTH + depth] = &frame[sizeof frame / sizeof *frame - 1];
    if (depth + 1 < DEPTH)
        return descend(depth + 1) && frame[0];
    for (uint64_t n = 1; n; n++) {
        for (int i = 0; i < 2 * DEPTH; i++)
            *words[i] = n;
        words[READY] = words[0];
    }
    return true;
}

static void begin(void)
{
    memset(&seen, 0, sizeof seen);
    words = mmap(NULL, (READY + 1) * sizeof *words, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(words != MAP_FAILED);
    seen.child = fork();
    assert_true(seen.child >= 0);
    if (!seen.child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        descend(0);
    }
}

static void end(void)
{
    int status;
    assert_int_equal(kill(seen.child, SIGKILL), 0);
    assert_int_equal(waitpid(seen.child, &status, 0), seen.child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    munmap((void *)words, (READY + 1) * sizeof *words);
}

/* Two neighbours at most are on a stack that stood still. */
static bool is_of_one_moment(const struct deep_look *look, uint64_t sp)
{
    uint64_t low = UINT64_MAX, high = 0, number;
    for (int i = 0; i < 2 * DEPTH; i++) {
        uint64_t at = (uint64_t)(uintptr_t)words[i] - sp;
        assert_true(at + sizeof number <= look->stack.len);
        memcpy(&number, look->stack.at + at, sizeof number);
        low = number < low ? number : low;
        high = number > high ? number : high;
    }
    return high - low <= 1;
}

static void take(void *context, const struct deep_look *look)
{
    const struct arch *a = arch_own();
    assert_int_equal(look->tid, seen.child);
    assert_int_equal(look->pid, seen.child);
    assert_true(look->at_ns >= seen.last_ns && look->registers.pc && look->registers.at[a->sp]);
    assert_true(look->stack.len > (DEPTH - 1) * FRAME && look->stack.len <= look->room);
    seen.last_ns = look->at_ns;
    seen.torn += !is_of_one_moment(look, look->registers.at[a->sp]);
    seen.looks++;
    deep_looks_give_back(context, look);
}

/* Nothing is looked at until it is wanted; whoever ends is forgotten. */
CASE(whole_stacks_are_read)
{
    struct deep_looks *l = deep_looks_new(RATE);
    if (!l)
        SKIPPED("a machine without unwinding");
    begin();
    for (int i = 0; i < ENOUGH || !words[READY]; i++)
        nap();
    deep_looks_take(l, take, l);
    assert_int_equal(seen.looks, 0);
    bool is_wanted = deep_looks_want(l, seen.child, seen.child, 1 << 20);
    for (int i = 0; i < TRIES && seen.looks < ENOUGH && is_wanted; i++) {
        is_wanted = deep_looks_want(l, seen.child, seen.child, 1 << 20);
        nap();
        deep_looks_take(l, take, l);
    }
    deep_looks_gone(l, seen.child);
    end();
    assert_false(deep_looks_want(l, seen.child, seen.child, 1 << 20));
    deep_looks_end(l);
    deep_looks_take(l, take, l);
    deep_looks_free(l);
    if (!is_wanted)
        SKIPPED("the kernel may not be sampled");
    assert_in_range(seen.looks, ENOUGH, 10 * ENOUGH);
    assert_int_equal(seen.torn, 0);
}

/* Stops the program, lets its stack be read, and lets it go on; returns how much was read. */
static size_t stop_and_read(struct deep_looks *l)
{
    struct ptrace_registers r;
    int status;
    assert_int_equal(ptrace(PTRACE_INTERRUPT, seen.child, 0, 0), 0);
    assert_int_equal(waitpid(seen.child, &status, 0), seen.child);
    assert_true(WIFSTOPPED(status) && ptrace_registers_read(seen.child, &r));
    size_t len = deep_looks_stopped(l, seen.child, &r.user);
    assert_int_equal(ptrace(PTRACE_CONT, seen.child, 0, 0), 0);
    return len;
}

/* By somebody else's stops: what is not wanted is not read, and never more than was asked for. */
CASE(stacks_of_stopped_threads_are_read)
{
    struct deep_looks *l = deep_looks_new_stopping();
    if (!l)
        SKIPPED("a machine without unwinding");
    begin();
    while (!words[READY])
        nap();
    if (ptrace(PTRACE_SEIZE, seen.child, 0, 0)) {
        end();
        deep_looks_free(l);
        SKIPPED("nothing may be traced");
    }
    assert_false(deep_looks_prepare(l));
    assert_int_equal(stop_and_read(l), 0);
    for (int i = 0; i < TRIES && seen.looks < ENOUGH; i++) {
        assert_true(deep_looks_want(l, seen.child, seen.child, 1 << 20));
        if (!deep_looks_prepare(l)) /* a busy machine: it was long ago */
            continue;
        size_t len = stop_and_read(l);
        assert_true(!len || (len > (DEPTH - 1) * FRAME && len <= 1 << 20));
        deep_looks_take(l, take, l);
        nap();
    }
    deep_looks_gone(l, seen.child);
    assert_false(deep_looks_prepare(l));
    end();
    deep_looks_free(l);
    assert_int_equal(seen.looks, ENOUGH);
    assert_int_equal(seen.torn, 0);
}

int main(void)
{
    return run_cases(NULL, NULL);
}
