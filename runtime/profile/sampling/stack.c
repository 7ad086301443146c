/* Walks frame pointers, which -pg code keeps, and records call stacks. See stack.h.
 *
 * The walk reads only between the interrupted stack pointer and the end of the thread's stack, all
 * of which is mapped; a chain that leaves it, turns back or is misaligned ends. On a stack it does
 * not know (alternate signal stacks, coroutines, threads of static programs) each frame is read
 * through process_vm_readv(2), which is slower and refuses what is not mapped. */
#include "stack.h"
#include "../../common/sys.h"
#include "../objects.h"
#include "../table.h"
#include "entered.h"

#include <linux/perf_event.h>
#include <wire/sidecar.h>

#define STACK_SLOTS 1024
#define FIRST_PAGE  4096

#if defined(__x86_64__) || defined(__i386__)
extern const char monarc_mcount_start[] HIDDEN, monarc_mcount_end[] HIDDEN;

/* At function entry, inside the recorder, the caller has no frame of its own in the chain yet. */
static bool in_fast_path(uintptr_t pc)
{
    return pc >= (uintptr_t)monarc_mcount_start && pc < (uintptr_t)monarc_mcount_end;
}
#else
static bool in_fast_path(uintptr_t pc)
{
    (void)pc;
    return false;
}
#endif

/* Where the saved frame pointer lies, seen from the frame pointer; the return address follows. */
#if defined(__riscv)
#define FRAME_AT (-2 * sizeof(uintptr_t))
#else
#define FRAME_AT 0
#endif
#define MOST_SCANNED 2048 /* bytes of stack looked through for a caller without a frame */
#define FARTHEST     ((uintptr_t)64 << 20) /* from an unknown stack pointer to its outermost frame */

/* Other functions' frames, which AddressSanitizer keeps from being read. */
#define READS_STACK __attribute__((no_sanitize_address))

READS_STACK static bool read_frame(uintptr_t fp, bool trusted, uintptr_t frame[2])
{
    uintptr_t at = fp + FRAME_AT;
    if (!trusted)
        return sys_peek(at, frame, 2 * sizeof *frame);
    frame[0] = ((const uintptr_t *)at)[0];
    frame[1] = ((const uintptr_t *)at)[1];
    return true;
}

/* True if the instruction before `at` is a call. Read through the kernel: the library that a stale
 * word on the stack points into may be gone. */
static bool follows_call(uintptr_t at)
{
    unsigned char b[8];
    if (!sys_peek(at - sizeof b, b, sizeof b))
        return false;
#if defined(__x86_64__) || defined(__i386__)
    static const unsigned char lengths[] = {2, 3, 4, 6, 7};
    if (b[3] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof lengths; i++) { /* ff /2 and its operand */
        const unsigned char *call = b + sizeof b - lengths[i];
        if (call[0] == 0xff && (call[1] & 0x38) == 0x10)
            return true;
    }
    return false;
#elif defined(__aarch64__)
    uint32_t before =
        (uint32_t)b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 | (uint32_t)b[7] << 24;
    return at % 4 == 0 && ((before & 0xfc000000) == 0x94000000 || /* bl */
                           (before & 0xfffffc1f) == 0xd63f0000);  /* blr */
#else
    return false;
#endif
}

static bool is_profiled(const struct object *o)
{
    return __atomic_load_n(&o->profiled, __ATOMIC_RELAXED);
}

/* Code without frames of its own, a system call in libc say, leaves its caller out of the chain:
 * the frame pointer is the caller's, whose own return address is already the next one out. The
 * return address into the caller lies somewhere below; take the first that looks like one. 0 if
 * there is none, or if the innermost code is profiled and so has a frame. */
READS_STACK static uintptr_t frameless_caller(uintptr_t pc, uintptr_t sp, uintptr_t fp,
                                              const uintptr_t *words, size_t n)
{
    const struct object *o = object_at(pc);
    if ((o && is_profiled(o)) || fp <= sp || fp - sp > MOST_SCANNED || sp % sizeof(uintptr_t))
        return 0;
    n = (fp - sp) / sizeof *words < n ? (fp - sp) / sizeof *words : n;
    for (const uintptr_t *w = words; w < words + n; w++) {
        if (*w < FIRST_PAGE || !(o = object_at(*w)) || !is_profiled(o))
            continue;
        if (*w >= o->text_low + 8 && *w < o->text_high && follows_call(*w))
            return *w;
    }
    return 0;
}

/* Between a function's entry and the making of its frame, and at its return, the frame pointer is
 * the caller's, and the return address into the caller is on top of the stack. 0 elsewhere. */
READS_STACK static uintptr_t caller_at_the_edge(uintptr_t pc, const uintptr_t *words, size_t n)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned char b[4];
    const struct object *o = object_at(pc);
    if (n < 2 || !o || !is_profiled(o) || !sys_peek(pc, b, sizeof b))
        return 0;
    const bool is_64 = sizeof(void *) == 8;
    bool is_ret = b[0] == 0xc3, is_push = b[0] == 0x55; /* ret; push %rbp */
    bool is_endbr = b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == (is_64 ? 0xfa : 0xfb);
    const unsigned char *move = b + is_64; /* mov %rsp,%rbp, or %esp,%ebp */
    bool is_move = (!is_64 || b[0] == 0x48) && move[0] == 0x89 && move[1] == 0xe5;
    uintptr_t caller = is_ret || is_push || is_endbr ? words[0] : is_move ? words[1] : 0;
    return caller && object_at(caller) ? caller : 0;
#else
    (void)pc;
    (void)words;
    (void)n;
    return 0;
#endif
}

/* The caller that the chain of frames leaves out, or 0. `words`: the stack from `sp` up. */
READS_STACK static uintptr_t missing_caller(uintptr_t pc, uintptr_t sp, uintptr_t fp,
                                            const uintptr_t *words, size_t n)
{
    if (in_fast_path(pc))
        return n > 0 ? words[0] : 0;
    uintptr_t caller = caller_at_the_edge(pc, words, n);
    return caller ? caller : frameless_caller(pc, sp, fp, words, n);
}

/* Innermost first; returns how many. */
static int walk(struct thread *t, uint64_t *frames, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    int n = 0;
    frames[n++] = pc;
    bool trusted = sp >= t->stack_low && sp < t->stack_high;
    uintptr_t frame[2], low = sp, high = trusted ? t->stack_high - sizeof frame : sp + FARTHEST;
    size_t words = trusted && sp % sizeof sp == 0 ? (t->stack_high - sp) / sizeof sp : 0;
    uintptr_t bound = fp < t->stack_high ? fp : 0; /* elsewhere, it is no frame pointer */
    if (words && (frames[n] = missing_caller(pc, sp, bound, (const uintptr_t *)sp, words)))
        n++;
    while (n < MOST_FRAMES && fp >= low && fp <= high && fp % sizeof *frame == 0) {
        if (!read_frame(fp, trusted, frame) || frame[1] < FIRST_PAGE)
            break;
        frames[n++] = frame[1];
        low = fp + 1;
        fp = frame[0];
    }
    return n;
}

/* The same of functions that noted their entries. Within __fentry__ itself, the function that
 * called it may not have been noted yet: its caller is the next word of the stack. */
READS_STACK static int walk_entered(struct thread *t, uint64_t *frames, uintptr_t pc, uintptr_t sp)
{
    const uintptr_t *words = (const uintptr_t *)sp;
    bool is_new = in_fast_path(pc) && sp >= t->stack_low &&
                  sp + 2 * sizeof *words < t->stack_high && monarc_slot.entered->key != sp;
    if (!is_new)
        return entered_walk(t, frames, MOST_FRAMES, pc, sp);
    int n = entered_walk(t, frames + 2, MOST_FRAMES - 2, words[1], sp + 2 * sizeof *words);
    frames[0] = pc;
    frames[1] = words[0];
    return n + 2;
}

/* Enters a sample into the tree of stacks, outermost frame first. */
static void enter(struct process *p, struct thread *t, const uint64_t *frames, int n)
{
    uint64_t parent = t->root;
    struct cell *c = NULL;
    while (n-- > 0) {
        c = table_claim(p, &p->stacks, MONARC_EXTENT_STACKS, STACK_SLOTS, parent, frames[n], true);
        if (!c) {
            lost_add(LOST_SAMPLES, 1);
            return;
        }
        parent = table_cell_id(&p->stacks, c);
    }
    cell_add(c, 1);
    t->samples++;
    __atomic_fetch_add(&p->samples, 1, __ATOMIC_RELAXED);
}

void stack_record(struct process *p, struct thread *t, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    uint64_t one[2], *frames = t->frames ? t->frames : one;
    int n = 1;
    if (t->frames && config.stacks)
        n = entered_is_used(t) ? walk_entered(t, frames, pc, sp) : walk(t, frames, pc, sp, fp);
    frames[0] = pc;
    if (n == MOST_FRAMES)
        frames[n - 1] = 0; /* stands for all frames farther out */
    enter(p, t, frames, n);
}

/* Whether the interrupted frame pointer is one: the kernel follows whatever is in the register. */
static bool is_frame(const struct thread *t, const struct chain *c)
{
    bool trusted = c->sp >= t->stack_low && c->sp < t->stack_high;
    uint64_t high = trusted ? t->stack_high - 2 * sizeof(uintptr_t) : c->sp + FARTHEST;
    return c->fp >= c->sp && c->fp <= high && c->fp % sizeof(uintptr_t) == 0;
}

void stack_record_chain(struct process *p, struct thread *t, const struct chain *c)
{
    uint64_t one[2], *frames = t->frames ? t->frames : one;
    int n = 0;
    frames[n++] = c->at[0];
    if (!t->frames || !config.stacks) {
        enter(p, t, frames, n);
        return;
    }
    if ((frames[n] =
             missing_caller(c->at[0], c->sp, c->fp, (const uintptr_t *)c->stack, c->stack_len)))
        n++;
    bool is_whole = is_frame(t, c);
    for (size_t i = 1; is_whole && i < c->len && n < MOST_FRAMES - 1; i++) {
        if (c->at[i] < FIRST_PAGE || c->at[i] >= PERF_CONTEXT_MAX)
            break;
        frames[n++] = c->at[i];
    }
    if (is_whole && c->is_cut)
        frames[n++] = 0;
    enter(p, t, frames, n);
}
