/* Walks frame pointers, which -pg code keeps, and records call stacks. See stack.h.
 *
 * The walk reads only between the interrupted stack pointer and the end of the thread's stack, all
 * of which is mapped; a chain that leaves it, turns back or is misaligned ends. On a stack it does
 * not know (alternate signal stacks, coroutines, threads of static programs) each frame is read
 * through process_vm_readv(2), which is slower and refuses what is not mapped. */
#include "stack.h"
#include "sys.h"

#include <monarc/sidecar.h>
#include <sys/uio.h>

#define STACK_SLOTS 1024
#define FIRST_PAGE  4096

#if defined(__x86_64__)
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
#define FARTHEST ((uintptr_t)64 << 20) /* from an unknown stack pointer to its outermost frame */

/* Reads the frame at `fp` by way of the kernel, which checks the addresses. */
static bool read_checked(uintptr_t fp, uintptr_t frame[2])
{
    struct iovec to = {frame, 2 * sizeof *frame}, from = {(void *)fp, 2 * sizeof *frame};
    return sys6(SYS_process_vm_readv, sys_pid(), (long)&to, 1, (long)&from, 1, 0) ==
           (long)to.iov_len;
}

static bool read_frame(uintptr_t fp, bool trusted, uintptr_t frame[2])
{
    uintptr_t at = fp + FRAME_AT;
    if (!trusted)
        return read_checked(at, frame);
    frame[0] = ((const uintptr_t *)at)[0];
    frame[1] = ((const uintptr_t *)at)[1];
    return true;
}

/* Innermost first; returns how many. */
static int walk(struct thread *t, uint64_t *frames, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    int n = 0;
    frames[n++] = pc;
    bool trusted = sp >= t->stack_low && sp < t->stack_high;
    uintptr_t frame[2], low = sp, high = trusted ? t->stack_high - sizeof frame : sp + FARTHEST;
    if (in_fast_path(pc) && trusted)
        frames[n++] = *(const uintptr_t *)sp;
    while (n < MOST_FRAMES && fp >= low && fp <= high && fp % sizeof *frame == 0) {
        if (!read_frame(fp, trusted, frame) || frame[1] < FIRST_PAGE)
            break;
        frames[n++] = frame[1];
        low = fp + 1;
        fp = frame[0];
    }
    return n;
}

void stack_record(struct process *p, struct thread *t, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    uint64_t one[2], *frames = t->frames ? t->frames : one;
    int n = t->frames && config.stacks ? walk(t, frames, pc, sp, fp) : 1;
    uint64_t parent = MONARC_ROOT_NODE;
    struct cell *c = NULL;
    frames[0] = pc;
    if (n == MOST_FRAMES)
        frames[n - 1] = 0; /* stands for all frames farther out */
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
