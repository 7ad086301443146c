/* Walks frame pointers, which -pg code keeps, and records call stacks. See stack.h.
 *
 * The walk reads only between the interrupted stack pointer and the end of the thread's stack, all
 * of which is mapped; a chain that leaves it, turns back or is misaligned ends. On any other stack
 * (alternate signal stacks, coroutines) only the innermost frame is recorded. */
#include "stack.h"

#include <monarc/sidecar.h>

#define STACK_SLOTS 1024
#define FIRST_PAGE  4096

#if defined(__x86_64__)
extern const char monarc_mcount_start[] HIDDEN, monarc_mcount_end[] HIDDEN;

/* At function entry, inside the recorder, the caller has no frame of its own in the chain yet. */
static bool in_fast_path(uintptr_t pc)
{
    return pc >= (uintptr_t)monarc_mcount_start && pc < (uintptr_t)monarc_mcount_end;
}
#define FRAME_NEXT   0
#define FRAME_RETURN 1
#elif defined(__riscv)
static bool in_fast_path(uintptr_t pc)
{
    (void)pc;
    return false;
}
#define FRAME_NEXT   -2
#define FRAME_RETURN -1
#else
static bool in_fast_path(uintptr_t pc)
{
    (void)pc;
    return false;
}
#define FRAME_NEXT   0
#define FRAME_RETURN 1
#endif

/* Innermost first; returns how many. */
static int walk(struct thread *t, uint64_t *frames, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    int n = 0;
    frames[n++] = pc;
    if (!config.stacks || sp < t->stack_low || sp >= t->stack_high)
        return n;
    if (in_fast_path(pc))
        frames[n++] = *(const uintptr_t *)sp;
    uintptr_t low = sp, high = t->stack_high - 2 * sizeof(uintptr_t);
    while (n < MOST_FRAMES && fp >= low && fp <= high && fp % sizeof(uintptr_t) == 0) {
        const uintptr_t *frame = (const uintptr_t *)fp;
        if (frame[FRAME_RETURN] < FIRST_PAGE)
            break;
        frames[n++] = frame[FRAME_RETURN];
        low = fp + 1;
        fp = frame[FRAME_NEXT];
    }
    return n;
}

void stack_record(struct process *p, struct thread *t, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    uint64_t one[2], *frames = t->frames ? t->frames : one;
    int n = t->frames ? walk(t, frames, pc, sp, fp) : 1;
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
