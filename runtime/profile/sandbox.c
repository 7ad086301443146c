/* Reserves what counting needs in a sandbox. See sandbox.h. */
#include "sandbox.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "sampling/sample.h"
#include "start.h"
#include "table.h"
#include "thread.h"

#include <wire/sidecar.h>

#define OWN_SLOTS    32768 /* of the thread that sandboxes itself: half of them are used */
#define SHARED_SLOTS 32768 /* for every other thread's new calls, and for what does not fit */
#define MOST_SPINS   10000000

/* Clock sources that vdso(7) reads without a system call. */
static bool is_readable_clock(const char *name)
{
    static const char *const known[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                        "arch_sys_counter", "riscv_clocksource"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_starts(name, known[i]))
            return true;
    return false;
}

static void look_at_clock(void)
{
    char name[64] = {0};
    long fd = sys_open("/sys/devices/system/clocksource/clocksource0/current_clocksource", 0, 0);
    if (!sys_failed(fd)) {
        sys_read((int)fd, name, sizeof name - 1);
        sys_close((int)fd);
    }
    monarc_clock_forbidden = !is_readable_clock(name);
}

static void reserve(struct process *p)
{
    struct thread *t = thread_attach(p);
    bool has_blocks = p->late_blocks.newest || (t && t->blocks.newest);
    table_reserve(p, &p->late, MONARC_EXTENT_ARCS, SHARED_SLOTS);
    if (has_blocks)
        table_reserve(p, &p->late_blocks, MONARC_EXTENT_BLOCKS, SHARED_SLOTS);
    if (t)
        table_reserve(p, &t->arcs, MONARC_EXTENT_ARCS, OWN_SLOTS);
    if (t && has_blocks)
        table_reserve(p, &t->blocks, MONARC_EXTENT_BLOCKS, OWN_SLOTS);
    thread_reserve(p);
}

bool seal_begin(bool is_strict)
{
    struct process *p = process_get();
    if (!p || monarc_sealed)
        return false;
    /* A program without a counted call so far is taken for one that has none to count. */
    if (__atomic_load_n(&p->segments, __ATOMIC_ACQUIRE))
        reserve(p);
    look_at_clock();
    monarc_clock_forbidden |= is_strict; /* prctl(2): PR_TSC_SIGSEGV */
    if (config.rate) {
        lost_add(LOST_SANDBOX, 1);
        if (monarc_slot.thread)
            sample_thread_stop(p, monarc_slot.thread);
    }
    __atomic_store_n(&monarc_sealed, p->pid, __ATOMIC_SEQ_CST);
    /* A filter may be for all threads: none may be between blocking signals and unblocking them. */
    for (int i = 0; i < MOST_SPINS && __atomic_load_n(&p->inside, __ATOMIC_SEQ_CST); i++)
        continue;
    return true;
}

void seal_undo(void)
{
    struct process *p = process_if_started();
    __atomic_store_n(&monarc_sealed, 0, __ATOMIC_SEQ_CST);
    if (p && config.rate && monarc_slot.thread)
        sample_thread_start(p, monarc_slot.thread);
}
