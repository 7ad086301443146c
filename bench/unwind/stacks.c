/* How fast and how far stacks of real programs are unwound.
 *
 *     stacks [-n STACKS] [-b STACK_BYTES] COMMAND [ARGUMENT...]
 *
 * Runs the command, stops its first thread every millisecond or so, and copies registers and stack.
 * Then unwinds what was copied: once with fresh rules, then again and again with cached ones.
 * Prints nanoseconds a frame and how the stacks end. It refuses to measure the copying, which is
 * the system's work. */
#include "objfile/object.h"
#include "unwind/unwind.h"

#include "base/vec.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 1024, PASSES = 21, PATH_BYTES = 512 };

struct module {
    uint64_t low, high, bias;
    struct unwind_tables *tables;
    bool is_generated;
};

struct sample {
    struct unwind_registers r;
    uint8_t *stack;
    size_t len;
};

struct bench {
    pid_t pid;
    VEC(struct module) modules; /* by address, once all is copied */
    VEC(struct sample) samples;
    struct object *vdso;
    uint64_t stack_high;
    size_t most, stack_bytes;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static size_t copy(pid_t pid, uint64_t from, void *to, size_t len)
{
    struct iovec local = {to, len}, remote = {(void *)from, len};
    ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

static struct unwind_tables *tables_of(struct object *o)
{
    struct unwind_sections s = {.arch = &arch_x86_64};
    s.eh_frame = object_section_bytes(o, ".eh_frame", &s.eh_frame_address);
    s.eh_frame_hdr = object_section_bytes(o, ".eh_frame_hdr", &s.eh_frame_hdr_address);
    s.debug_frame = object_section_bytes(o, ".debug_frame", NULL);
    return unwind_tables_new(&s);
}

static void open_vdso(struct bench *b, struct module *m)
{
    size_t len = m->high - m->low;
    uint8_t *image = malloc(len);
    if (image && copy(b->pid, m->low, image, len) == len)
        b->vdso = object_open_memory((struct bytes){image, len}, "[vdso]", NULL, NULL);
    m->tables = b->vdso ? tables_of(b->vdso) : NULL;
    m->bias = m->low;
}

static void open_file(struct module *m, const char *path, uint64_t offset)
{
    struct object *o = object_open(path, NULL, NULL, NULL); /* for as long as this runs */
    if (!o)
        return;
    const struct object_facts *facts = object_facts(o);
    m->tables = tables_of(o);
    for (size_t i = 0; i < facts->code_len; i++)
        if ((facts->code[i].offset & ~UINT64_C(4095)) == offset)
            m->bias = m->low - offset + facts->code[i].offset - facts->code[i].address;
}

static bool is_seen(const struct bench *b, uint64_t low)
{
    for (size_t i = 0; i < b->modules.len; i++)
        if (b->modules.at[i].low == low)
            return true;
    return false;
}

static void read_maps(struct bench *b)
{
    char name[64], line[PATH_BYTES + 128], path[PATH_BYTES], mode[8];
    snprintf(name, sizeof name, "/proc/%d/maps", b->pid);
    FILE *maps = fopen(name, "r");
    uint64_t low, high, offset;
    while (maps && fgets(line, sizeof line, maps)) {
        path[0] = '\0';
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &low, &high,
                   mode, &offset, path) < 4)
            continue;
        if (!strcmp(path, "[stack]"))
            b->stack_high = high;
        if (mode[2] != 'x' || is_seen(b, low))
            continue;
        struct module m = {.low = low, .high = high, .is_generated = !path[0]};
        if (!strcmp(path, "[vdso]"))
            open_vdso(b, &m);
        else if (path[0] == '/')
            open_file(&m, path, offset);
        vec_push(&b->modules, m);
    }
    if (maps)
        fclose(maps);
}

static void take_sample(struct bench *b)
{
    struct user_regs_struct u;
    if (ptrace(PTRACE_GETREGS, b->pid, NULL, &u))
        return;
    struct sample s = {.r = {.pc = u.rip,
                             .at = {u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8,
                                    u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15},
                             .known = 0xffff}};
    size_t len = b->stack_high > u.rsp ? b->stack_high - u.rsp : 0;
    len = len < b->stack_bytes ? len : b->stack_bytes;
    s.stack = malloc(len + 1);
    s.len = s.stack ? copy(b->pid, u.rsp, s.stack, len) : 0;
    vec_push(&b->samples, s);
}

static uint64_t cpu_ns(pid_t pid)
{
    char name[64];
    uint64_t ns = 0;
    snprintf(name, sizeof name, "/proc/%d/schedstat", pid);
    FILE *in = fopen(name, "r");
    if (!in || fscanf(in, "%" SCNu64, &ns) != 1)
        ns = UINT64_MAX;
    if (in)
        fclose(in);
    return ns;
}

/* Until the program has run for a while, however busy the machine is. */
static void wait_for_progress(const struct bench *b)
{
    uint64_t start = cpu_ns(b->pid);
    for (int i = 0; i < 500 && cpu_ns(b->pid) - start < 500000; i++)
        usleep(1000);
}

/* What was mapped before an exec is gone, as are the stacks. */
static void forget(struct bench *b)
{
    b->modules.len = b->samples.len = 0;
}

/* False: the program has ended. */
static bool stop_once(struct bench *b)
{
    int status;
    wait_for_progress(b);
    ptrace(PTRACE_INTERRUPT, b->pid, NULL, NULL);
    if (waitpid(b->pid, &status, 0) != b->pid || !WIFSTOPPED(status))
        return false;
    bool is_ours = status >> 16 == PTRACE_EVENT_STOP;
    if (is_ours) {
        read_maps(b);
        take_sample(b);
    }
    if (status >> 16 == PTRACE_EVENT_EXEC)
        forget(b);
    ptrace(PTRACE_CONT, b->pid, NULL, (void *)(long)(status >> 16 ? 0 : WSTOPSIG(status)));
    return true;
}

static void record(struct bench *b, char **argv)
{
    int ready[2], status;
    if (pipe(ready))
        exit(2);
    b->pid = fork();
    if (!b->pid) {
        char c;
        close(ready[1]);
        if (read(ready[0], &c, 1) == 1)
            execvp(argv[0], argv);
        _exit(127);
    }
    ptrace(PTRACE_SEIZE, b->pid, NULL, (void *)(long)PTRACE_O_TRACEEXEC);
    if (write(ready[1], "", 1) != 1 || waitpid(b->pid, &status, 0) != b->pid)
        exit(2);
    ptrace(PTRACE_CONT, b->pid, NULL, NULL);
    while (b->samples.len < b->most && stop_once(b))
        continue;
    kill(b->pid, SIGKILL);
}

static int by_address(const void *left, const void *right)
{
    const struct module *l = left, *r = right;
    return (l->low > r->low) - (l->low < r->low);
}

static bool module_at(void *context, uint64_t pc, struct unwind_module *out)
{
    const struct bench *b = context;
    size_t low = 0, high = b->modules.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->modules.at[middle].low <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || pc >= b->modules.at[low - 1].high)
        return false;
    const struct module *m = &b->modules.at[low - 1];
    *out = (struct unwind_module){m->tables, m->bias, m->is_generated};
    return true;
}

static uint64_t unwind_all(struct bench *b, uint64_t *ends)
{
    static uint64_t frames[MOST_FRAMES];
    uint64_t sum = 0;
    for (size_t i = 0; i < b->samples.len; i++) {
        const struct sample *s = &b->samples.at[i];
        enum unwind_end end;
        struct unwind_stack stack = {.address = s->r.at[7],
                                     .bytes = {s->stack, s->len},
                                     .module_at = module_at,
                                     .context = b};
        sum += unwind_walk(&stack, &arch_x86_64, &s->r, frames, MOST_FRAMES, &end);
        ends[end]++;
        if (getenv("STACKS_SHOW") && end != UNWIND_WHOLE) {
            uint64_t n = 0;
            unwind_walk(&stack, &arch_x86_64, &s->r, frames, MOST_FRAMES, &end);
            for (n = 0; n < 5; n++) {
                struct unwind_module m = {0};
                module_at(b, frames[n], &m);
                printf(" %#" PRIx64 "(%#" PRIx64 ")", frames[n], frames[n] - m.bias);
            }
            printf(" end %d\n", end);
        }
    }
    return sum;
}

static int by_value(const void *left, const void *right)
{
    const double *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

static void report(struct bench *b)
{
    static const char *const ENDS[] = {"whole", "deep", "no table", "generated", "broken", "many"};
    uint64_t ends[6] = {0}, ignored[6] = {0};
    double times[PASSES], start = now_ns();
    uint64_t frames = unwind_all(b, ends);
    double cold = now_ns() - start;
    for (int i = 0; i < PASSES; i++) {
        start = now_ns();
        unwind_all(b, ignored);
        times[i] = now_ns() - start;
    }
    qsort(times, PASSES, sizeof *times, by_value);
    double n = frames ? (double)frames : 1;
    printf("%zu stacks, %.1f frames each; cold %.0f ns, warm %.1f ns a frame (least %.1f);",
           b->samples.len, n / (double)(b->samples.len + !b->samples.len), cold / n,
           times[PASSES / 2] / n, times[0] / n);
    for (int i = 0; i < 6; i++)
        if (ends[i])
            printf(" %s %.2f %%", ENDS[i], 100.0 * (double)ends[i] / (double)b->samples.len);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct bench b = {.most = 1000, .stack_bytes = 1 << 20};
    int option;
    while ((option = getopt(argc, argv, "+n:b:")) != -1)
        *(option == 'n' ? &b.most : &b.stack_bytes) = strtoul(optarg, NULL, 10);
    if (optind == argc)
        return 2;
    record(&b, argv + optind);
    if (b.modules.len)
        qsort(b.modules.at, b.modules.len, sizeof *b.modules.at, by_address);
    report(&b);
    return 0;
}
