/* Functions on the stack, by their entries. See entered.h.
 *
 * With -mfentry the call of the recorder is a function's first instruction: there is no frame yet,
 * and may never be one, but the return address into the caller is on top of the stack. __fentry__
 * notes both addresses with the stack pointer in a ring of each thread, and forgets what has
 * returned when the next function is entered: whatever was noted at this stack pointer or below.
 *
 *     ring   [ none | main | parse | next | ... ]      keys fall from left to right
 *                              newest ^
 *
 * A sample takes from the newest outwards what is at the interrupted stack pointer or above and
 * whose return address still is where it was, so that what has returned since is passed over, also
 * by longjmp, by exceptions and on other stacks. Calls deeper than the ring overwrite the outermost
 * ones. Functions that note nothing (libc's) are seen where they call one that does; the one that
 * called them is put in by its own entry.
 *
 * It costs a call some 15 instructions, and the ring a thread 32 KiB, of which a thread touches
 * what its depth needs. Nothing is noted where no stacks are taken. */
#include "entered.h"
#include "../../common/sys.h"
#include "../objects.h"

#define RING_BYTES 32768 /* as in mcount_x86_64.S */
#define RING_LEN   (RING_BYTES / sizeof(struct entered))
#define NONE       UINTPTR_MAX

#if defined(__x86_64__)
_Static_assert(sizeof(struct entered) == 32, "mcount_x86_64.S steps by that");
_Static_assert(offsetof(struct thread_slot, entered) == 16, "mcount_x86_64.S reads it there");

void entered_start(struct process *p, struct thread *t)
{
    uint64_t mask;
    if (!config.stacks || monarc_slot.entered)
        return;
    process_lock(p, &mask);
    if (!t->entered) {
        char *at = process_control(p, 2 * RING_BYTES);
        if (at)
            t->entered = (struct entered *)(void *)(((uintptr_t)at + RING_BYTES - 1) &
                                                    ~(uintptr_t)(RING_BYTES - 1));
    }
    process_unlock(p, &mask);
    if (!t->entered)
        return;
    t->entered->key = NONE;
    __atomic_store_n(&monarc_slot.entered, t->entered, __ATOMIC_RELEASE);
}
#else
void entered_start(struct process *p, struct thread *t)
{
    (void)p, (void)t;
}
#endif

void entered_stop(void)
{
    monarc_slot.entered = NULL;
}

bool entered_is_used(const struct thread *t)
{
    const struct entered *newest = monarc_slot.entered;
    return newest && (newest != t->entered || newest->key != NONE);
}

/* Whether the frame is there still: other functions' stacks are read. */
__attribute__((no_sanitize_address)) static bool is_there(const struct thread *t,
                                                          const struct entered *e, uintptr_t sp)
{
    uintptr_t at = e->key + sizeof at, there = 0;
    if (at < sp)
        return false;
    if (sp >= t->stack_low && sp < t->stack_high && at < t->stack_high)
        return *(const uintptr_t *)at == e->from;
    return sys_peek(at, &there, sizeof there) && there == e->from;
}

int entered_walk(const struct thread *t, uint64_t *frames, int most, uintptr_t pc, uintptr_t sp)
{
    const struct entered *e = monarc_slot.entered;
    int n = 0;
    uintptr_t at = pc;
    bool has_met = false; /* those that __fentry__ is about to forget are none already */
    frames[n++] = pc;
    for (size_t i = 0; i < RING_LEN && (e->key != NONE || !has_met) && n < most - 1; i++) {
        has_met |= e->key != NONE;
        if (e->key != NONE && is_there(t, e, sp)) {
            /* Code of another object was called by this function without being noted. */
            if (object_at(at) != object_at(e->self))
                frames[n++] = e->self;
            frames[n++] = at = e->from;
        }
        e = e == t->entered ? e + RING_LEN - 1 : e - 1;
    }
    return n;
}
