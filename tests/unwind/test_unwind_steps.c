/* A child, stopped at every single instruction: its stack is known, because each call and return
 * was seen, and each unwound stack has to be that one. Prologues, epilogues, PLT entries, lazy
 * binding, the C library's assembly, padding that is run, signal handlers and what they return to
 * are all on the way. */
#include "cases.h"
#include "own_modules.h"

#include <alloca.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#if defined __x86_64__ && !IS_SANITIZED

/* START_FRAMES: of the C library, which do not return. */
enum { START_FRAMES = 2, MOST_FRAMES = 128, MOST_STEPS = 150000, STACK_BYTES = 4096 };
enum { VDSO_BYTES = 8192, MOST_IN_VDSO = 500 };

/* --- what is stepped over -------------------------------------------------------------------- */

static volatile int sink;

static int by_value(const void *left, const void *right)
{
    const int *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

static __attribute__((noinline)) int deep(int n, int *values)
{
    int *room = alloca((size_t)n * 8 + 8);
    room[0] = n;
    if (n == 0) {
        qsort(values, 8, sizeof *values, by_value);
        return values[3];
    }
    return deep(n - 1, values) * 3 + room[0];
}

/* With a frame pointer, as far as the compiler can be told. */
#ifdef __clang__
#define FRAMED
#else
#define FRAMED __attribute__((optimize("no-omit-frame-pointer")))
#endif

static FRAMED __attribute__((noinline)) int framed(int n)
{
    int values[8] = {5, 3, 9, 1, n, 2, 8, 4};
    return deep(n % 5, values);
}

/* Its stack is aligned to more than the ABI says: the CFA is computed. */
static __attribute__((noinline)) double realigned(int n)
{
    _Alignas(64) volatile double values[16];
    for (int i = 0; i < 16; i++)
        values[i] = i * n;
    char *room = alloca((size_t)n + 32);
    snprintf(room, 32, "%d %.3f", n, values[3]);
    return strtod(room, NULL);
}

/* Falls through padding, of which no table knows, into the function behind it. */
int falls_into_next(int n);
__asm__(".pushsection .text\n\t.p2align 7\n"
        "falls_into_next:\n\t.cfi_startproc\n\tmov %edi, %eax\n\t.cfi_endproc\n"
        "\t.p2align 6\n\tnop\n\txchg %ax, %ax\n\tnopl (%rax)\n\tnopw 512(%rax)\n"
        "behind_padding:\n\t.cfi_startproc\n\tpush %rbx\n\t.cfi_adjust_cfa_offset 8\n"
        "\tpop %rbx\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t.cfi_endproc\n"
        "\t.popsection");

static __attribute__((noinline)) void handle(int number)
{
    sink += framed(number);
}

static bool is_bound; /* what binds functions lazily cannot be followed without tables */

static __attribute__((noinline)) int stepped(void)
{
    int sum = 0;
    struct timespec now;
    for (int i = 0; i < 4; i++) {
        sum += framed(i) + (int)realigned(i) + falls_into_next(i);
        if (!is_bound) /* the vDSO: again and again, where it is slow */
            clock_gettime(CLOCK_MONOTONIC, &now);
        char *copy = strdup("some text that is long enough for vectors to be used, and more");
        sum += (int)strlen(copy) + memcmp(copy, copy, 20);
        free(copy);
        raise(SIGUSR1);
    }
    return sum;
}

/* --- the parent ------------------------------------------------------------------------------ */

/* What a frame's caller is known by: the look-up address that belongs into the list, and where the
 * stack and the pc are after the return. */
struct expected {
    uint64_t lookup, pc, sp;
};

struct stepper {
    pid_t pid;
    struct own_modules modules;
    struct expected shadow[MOST_FRAMES];
    uint32_t shadow_len;
    uint64_t outer[MOST_FRAMES]; /* behind the shadow: the same at all times */
    uint32_t outer_len;
    struct user_regs_struct now;
    uint8_t stack[STACK_BYTES];
    size_t stack_len;
    bool without_tables; /* frames are found by their code alone */
    struct unwind_tables *no_tables;
    long steps, wrong, cut;
};

static bool peek(void *context, uint64_t address, uint64_t *word)
{
    struct stepper *s = context;
    struct unwind_module module;
    if (s->without_tables && own_module_at(&s->modules, address, &module) &&
        own_module_at(&s->modules, address + sizeof *word - 1, &module)) {
        memcpy(word, (const void *)address, sizeof *word); /* code is ours as well */
        return true;
    }
    struct iovec to = {word, sizeof *word}, from = {(void *)address, sizeof *word};
    return process_vm_readv(s->pid, &to, 1, &from, 1, 0) == sizeof *word;
}

static bool module_at(void *context, uint64_t pc, struct unwind_module *out)
{
    struct stepper *s = context;
    bool is_there = own_module_at(&s->modules, pc, out);
    if (s->without_tables)
        out->tables = s->no_tables;
    return is_there;
}

static void look(struct stepper *s)
{
    ptrace(PTRACE_GETREGS, s->pid, NULL, &s->now);
    struct iovec to = {s->stack, sizeof s->stack}, from = {(void *)s->now.rsp, sizeof s->stack};
    ssize_t n = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
    s->stack_len = n > 0 ? (size_t)n : 0;
}

static uint32_t unwind(struct stepper *s, uint64_t *frames, enum unwind_end *end)
{
    const struct user_regs_struct *u = &s->now;
    struct unwind_registers r = {.pc = u->rip,
                                 .at = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp,
                                        u->rsp, u->r8, u->r9, u->r10, u->r11, u->r12, u->r13,
                                        u->r14, u->r15},
                                 .known = 0xffff};
    struct unwind_stack stack = {.address = u->rsp,
                                 .bytes = {s->stack, s->stack_len},
                                 .module_at = module_at,
                                 .read = peek,
                                 .context = s};
    return unwind_walk(&stack, &arch_x86_64, &r, frames, MOST_FRAMES, end);
}

static bool is_expected(struct stepper *s, const uint64_t *frames, uint32_t len,
                        enum unwind_end end)
{
    if (end != UNWIND_WHOLE || len != 1 + s->shadow_len + s->outer_len || frames[0] != s->now.rip)
        return false;
    for (uint32_t i = 0; i < s->shadow_len; i++)
        if (frames[1 + i] != s->shadow[s->shadow_len - 1 - i].lookup)
            return false;
    return !memcmp(frames + 1 + s->shadow_len, s->outer, s->outer_len * sizeof *frames);
}

/* A stack that ends too early, and says so, has no frame that is not one. */
static bool is_cut_short(const struct stepper *s, const uint64_t *frames, uint32_t len,
                         enum unwind_end end)
{
    if (end == UNWIND_WHOLE || len > 1 + s->shadow_len + s->outer_len || frames[0] != s->now.rip)
        return false;
    for (uint32_t i = 1; i < len; i++)
        if (frames[i] != (i <= s->shadow_len ? s->shadow[s->shadow_len - i].lookup
                                             : s->outer[i - 1 - s->shadow_len]))
            return false;
    return true;
}

/* At the system call of what handlers return to, `mov $15, %rax` before it being done: one
 * instruction, at which only tables say what it is. */
static bool is_in_trampoline(const struct stepper *s)
{
    static const uint8_t move[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0};
    uint64_t before = 0;
    return peek((void *)(uintptr_t)s, s->now.rip - sizeof move, &before) &&
           !memcmp(&before, move, sizeof move);
}

static void check(struct stepper *s)
{
    uint64_t frames[MOST_FRAMES];
    enum unwind_end end;
    uint32_t len = unwind(s, frames, &end);
    if (is_expected(s, frames, len, end) || (s->without_tables && is_in_trampoline(s)))
        return;
    if (s->without_tables && is_cut_short(s, frames, len, end)) {
        s->cut += len < 1 + s->shadow_len + s->outer_len - START_FRAMES;
        return;
    }
    if (s->wrong++ > 20)
        return;
    print_message("# step %ld at %#llx: end %d, %u frames of %u\n", s->steps, s->now.rip, end, len,
                  1 + s->shadow_len + s->outer_len);
    for (uint32_t i = 0; i < 6; i++)
        print_message("#   %#lx %#lx\n", i < len ? frames[i] : 0,
                      i && i <= s->shadow_len ? s->shadow[s->shadow_len - i].lookup : 0);
}

static void push(struct stepper *s, uint64_t lookup, uint64_t pc, uint64_t sp)
{
    assert_true(s->shadow_len < MOST_FRAMES);
    s->shadow[s->shadow_len++] = (struct expected){lookup, pc, sp};
}

/* Calls and returns are known by what they do to the stack. */
static void follow(struct stepper *s, const struct user_regs_struct *was)
{
    uint64_t top = 0;
    const struct expected *caller = s->shadow_len ? &s->shadow[s->shadow_len - 1] : NULL;
    memcpy(&top, s->stack, sizeof top);
    bool is_call =
        s->now.rsp == was->rsp - 8 && top > was->rip && top <= was->rip + 15 && s->now.rip != top;
    if (is_call)
        push(s, top - 1, top, s->now.rsp + 8);
    else if (caller && s->now.rip == caller->pc && s->now.rsp == caller->sp)
        s->shadow_len--;
}

/* The handler returns to code of the C library, and that to where the signal came. */
static void enter_handler(struct stepper *s, const struct user_regs_struct *was)
{
    uint64_t top;
    memcpy(&top, s->stack, sizeof top);
    push(s, was->rip, was->rip, was->rsp);
    push(s, top, top, s->now.rsp + 8);
}

static bool step_on(struct stepper *s, int signal_number)
{
    int status;
    struct user_regs_struct was = s->now;
    if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, (void *)(long)signal_number) ||
        waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
        return false;
    if (WSTOPSIG(status) == SIGUSR1)
        return step_on(s, SIGUSR1); /* once: the next stop is the handler's first instruction */
    look(s);
    if (signal_number)
        enter_handler(s, &was);
    else
        follow(s, &was);
    return WSTOPSIG(status) == SIGTRAP;
}

/* Functions that do not return cannot be followed, either. */
static __attribute__((noinline)) void be_stepped(bool without_tables)
{
    signal(SIGUSR1, handle);
    is_bound = without_tables;
    if (is_bound)
        sink = stepped();
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    sink = stepped();
}

/* Steps until stepped() is entered: what lies behind is the same from there on. */
static bool begin(struct stepper *s)
{
    enum unwind_end end;
    int status;
    if (waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
        return false;
    look(s);
    for (int i = 0; s->now.rip != (uint64_t)stepped; i++)
        if (i == 10000 || !step_on(s, 0))
            return false;
    s->shadow_len = 0;
    uint64_t frames[MOST_FRAMES];
    uint32_t len = unwind(s, frames, &end);
    if (end != UNWIND_WHOLE || len < 4)
        return false;
    s->outer_len = len - 1;
    memcpy(s->outer, frames + 1, s->outer_len * sizeof *frames);
    return true;
}

static void step_through(bool without_tables, struct stepper *out)
{
    static struct stepper s;
    memset(&s, 0, sizeof s); /* not as a literal, which would lie in the stack that is copied */
    s.pid = fork();
    if (!s.pid) {
        be_stepped(without_tables);
        _exit(0);
    }
    own_modules_init(&s.modules, &arch_x86_64, false);
    bool is_ready = begin(&s);
    int in_vdso = 0;
    uint64_t end_sp = s.now.rsp + 8;
    s.without_tables = without_tables;
    s.no_tables = unwind_tables_new(&(struct unwind_sections){.arch = &arch_x86_64});
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    while (is_ready && s.steps < MOST_STEPS && s.now.rsp != end_sp) {
        /* Its functions begin again when the kernel's clock has ticked meanwhile: who is too slow
         * would not leave them. */
        in_vdso = s.now.rip - vdso < VDSO_BYTES ? in_vdso + 1 : 0;
        if (in_vdso < MOST_IN_VDSO)
            check(&s);
        s.steps++;
        if (!step_on(&s, 0))
            break;
    }
    kill(s.pid, SIGKILL);
    waitpid(s.pid, NULL, 0);
    own_modules_deinit(&s.modules);
    unwind_tables_free(s.no_tables);
    print_message("# %ld instructions, %ld stacks wrong, %ld cut, %u frames behind\n", s.steps,
                  s.wrong, s.cut, s.outer_len);
    assert_true(is_ready && s.steps > 5000 && s.steps < MOST_STEPS);
    *out = s;
}

static void test_every_instruction(void **state)
{
    (void)state;
    static struct stepper s;
    step_through(false, &s);
    assert_int_equal(s.wrong, 0);
}

/* The same code without its tables, as musl has it: no caller is invented. */
static void test_every_instruction_without_tables(void **state)
{
    (void)state;
    static struct stepper s;
    step_through(true, &s);
    assert_int_equal(s.wrong, 0);
    assert_true(s.cut < s.steps / 50);
}

#else

static void test_every_instruction(void **state)
{
    (void)state;
    SKIPPED("x86-64 without sanitizers alone");
}

static void test_every_instruction_without_tables(void **state)
{
    (void)state;
    SKIPPED("x86-64 without sanitizers alone");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_instruction),
        cmocka_unit_test(test_every_instruction_without_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
