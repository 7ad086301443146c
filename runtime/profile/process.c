/* The recorder's state for this process. See process.h. */
#include "process.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#define CONTROL_CHUNK ((size_t)64 << 10)

int monarc_recording = 1;
int monarc_sealed;
bool monarc_clock_forbidden;

static struct process *state; /* wipe-on-fork pages */
static void *wiped_pages(size_t bytes)
{
    void *at = sys_pages(bytes);
    if (at)
        SYS3(SYS_madvise, at, bytes, MADV_WIPEONFORK);
    return at;
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

struct process *process_prepare(void)
{
    struct process *p = state ? state : wiped_pages(sizeof *p);
    if (!p)
        return NULL;
    state = p;
    p->pid = sys_pid();
    p->next_id = 2; /* 0 is no node, 1 the root */
    p->start_real = sys_clock(CLOCK_REALTIME);
    p->start_mono = sys_clock(CLOCK_MONOTONIC);
    p->start_cpu = sys_clock(CLOCK_PROCESS_CPUTIME_ID);
    p->start_thread_cpu = sys_clock(sys_thread_clock(p->pid));
    read_exe(p);
    return p;
}

struct process *process_if_started(void)
{
    struct process *p = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    return p && __atomic_load_n(&p->alive, __ATOMIC_ACQUIRE) ? p : NULL;
}

void process_forget(void)
{
    struct process *p = process_if_started();
    if (p && p->pid != sys_pid())
        bytes_zero(p, sizeof *p);
}

void process_block(uint64_t *old)
{
    sys_block_but(old, SIGBUS);
}

#define NOT_BLOCKED (~(uint64_t)0) /* no mask of the kernel's: two signals cannot be blocked */

/* Sealed, the lock is for dlclose alone, never for what a signal handler may count: it need not
 * keep signals out. */
void process_lock(struct process *p, uint64_t *mask)
{
    __atomic_fetch_add(&p->inside, 1, __ATOMIC_SEQ_CST);
    *mask = NOT_BLOCKED;
    if (!__atomic_load_n(&monarc_sealed, __ATOMIC_SEQ_CST))
        process_block(mask);
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
    /* What is as large as a chunk gets pages of its own, so that the rest of the chunk is not lost:
     * a thread may need it when there are no pages left. */
    if (bytes >= CONTROL_CHUNK)
        return wiped_pages(bytes);
    if (p->control_left < bytes) {
        char *more = wiped_pages(CONTROL_CHUNK);
        if (!more)
            return NULL;
        p->control_at = more;
        p->control_left = CONTROL_CHUNK;
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
