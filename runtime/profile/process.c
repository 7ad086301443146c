/* The recorder's state for this process. See process.h. */
#include "process.h"
#include "ends.h"
#include "monitor.h"
#include "sampling/sample.h"
#include "side.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "thread.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CONTROL_CHUNK ((size_t)64 << 10)

__attribute__((used)) static void (*const links_in_life)(void) = life_begin;

int monarc_recording = 1;
int monarc_sealed;

static struct process *state; /* wipe-on-fork pages */
static int start_lock;        /* pid of the starter: a forked child takes over its parent's lock */
static bool configured;
static uint64_t too_early; /* calls */

static void *wiped_pages(size_t bytes)
{
    void *at = sys_pages(bytes);
    if (at)
        SYS3(SYS_madvise, at, bytes, MADV_WIPEONFORK);
    return at;
}

static void lock_start(uint64_t *mask)
{
    sys_block(mask);
    int me = sys_pid(), none = 0;
    while (!__atomic_compare_exchange_n(&start_lock, &none, me, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        if (none != me) { /* left behind by the fork of a starting parent */
            __atomic_compare_exchange_n(&start_lock, &none, 0, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
        }
        none = 0;
    }
}

static void unlock_start(const uint64_t *mask)
{
    __atomic_store_n(&start_lock, 0, __ATOMIC_RELEASE);
    sys_unblock(mask);
}

static void read_exe(struct process *p)
{
    long n = SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", p->exe, sizeof p->exe - 1);
    if (sys_failed(n) || n == 0) {
        struct text t = text_in(p->exe, sizeof p->exe);
        text_add(&t, "program");
        return;
    }
    p->exe[n] = 0;
}

static void start(bool forked)
{
    struct process *p = state ? state : wiped_pages(sizeof *p);
    if (!p) {
        monarc_recording = 0;
        return;
    }
    state = p;
    p->pid = sys_pid();
    p->next_id = 2; /* 0 is no node, 1 the root */
    p->start_real = sys_clock(CLOCK_REALTIME);
    p->start_mono = sys_clock(CLOCK_MONOTONIC);
    read_exe(p);
    p->forked = forked;
    p->lost[LOST_EARLY] = forked ? 0 : too_early;
    thread_forget();
    if (forked)
        sample_forget();
    if (forked && !config.follow_fork)
        monarc_recording = 0;
    __atomic_store_n(&p->alive, 1, __ATOMIC_RELEASE);
}

struct process *process_if_started(void)
{
    struct process *p = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    return p && __atomic_load_n(&p->alive, __ATOMIC_ACQUIRE) ? p : NULL;
}

struct process *process_get(void)
{
    struct process *p = process_if_started();
    if (p)
        return p;
    if (!environ) { /* code of a .preinit_array: libc is not there yet */
        __atomic_fetch_add(&too_early, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    if (monarc_sealed) { /* a forked child of a sandboxed program: no file could be made for it */
        if (__atomic_exchange_n(&monarc_recording, 0, __ATOMIC_RELAXED))
            monitor_tell(NULL, MONARC_CONTROL_NOT_COUNTED,
                         "a forked child of this process, which had sandboxed itself");
        return NULL;
    }
    uint64_t mask;
    lock_start(&mask);
    if (!process_if_started()) {
        bool forked = configured;
        if (!configured) {
            config_read();
            side_read_command();
        }
        configured = true;
        if (config.off || config.paused)
            monarc_recording = 0;
        if (!config.off)
            start(forked);
        if (config.monitored && config.paused && !forked && process_if_started())
            monitor_tell(state, MONARC_CONTROL_STOPPED, NULL);
    }
    unlock_start(&mask);
    return process_if_started();
}

void process_forget(void)
{
    struct process *p = process_if_started();
    if (p && p->pid != sys_pid())
        bytes_zero(p, sizeof *p);
}

#define NOT_BLOCKED (~(uint64_t)0) /* no mask of the kernel's: two signals cannot be blocked */

/* Sealed, the lock is for dlclose alone, never for what a signal handler may count: it need not
 * keep signals out. */
void process_lock(struct process *p, uint64_t *mask)
{
    __atomic_fetch_add(&p->inside, 1, __ATOMIC_SEQ_CST);
    *mask = NOT_BLOCKED;
    if (!__atomic_load_n(&monarc_sealed, __ATOMIC_SEQ_CST))
        sys_block(mask);
    while (__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE))
        if (*mask != NOT_BLOCKED)
            SYS3(SYS_sched_yield, 0, 0, 0);
}

void process_unlock(struct process *p, const uint64_t *mask)
{
    __atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
    if (*mask != NOT_BLOCKED)
        sys_unblock(mask);
    __atomic_fetch_sub(&p->inside, 1, __ATOMIC_SEQ_CST);
}

void *process_control(struct process *p, size_t bytes)
{
    bytes = (bytes + 63) & ~(size_t)63;
    if (p->control_left < bytes) {
        size_t chunk = bytes > CONTROL_CHUNK ? bytes : CONTROL_CHUNK;
        char *more = wiped_pages(chunk);
        if (!more)
            return NULL;
        p->control_at = more;
        p->control_left = chunk;
    }
    void *at = p->control_at;
    p->control_at += bytes;
    p->control_left -= bytes;
    return at;
}

void lost_add(enum lost_reason reason, uint64_t n)
{
    struct process *p = process_if_started();
    if (!p)
        return;
    __atomic_fetch_add(&p->lost[reason], n, __ATOMIC_RELAXED);
    uint64_t *live = __atomic_load_n(&p->live_lost[reason], __ATOMIC_ACQUIRE);
    if (live)
        __atomic_fetch_add(live, n, __ATOMIC_RELAXED);
}
