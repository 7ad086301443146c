/* From nothing to a state that records. See start.h.
 *
 * Under a monitor nothing is sampled and no end watched for: the live file is completed from
 * outside. Refuses to run in a set-user-ID program (config.c). */
#include "start.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "exit_hooks.h"
#include "live.h"
#include "loadmap.h"
#include "monitor.h"
#include "notes.h"
#include "sampling/sample.h"
#include "thread.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static int start_lock; /* pid of the starter: a forked child takes over its parent's lock */
static bool configured;
static uint64_t too_early; /* calls */

static void lock_start(uint64_t *mask)
{
    process_block(mask);
    int me = sys_pid(), none = 0;
    while (!__atomic_compare_exchange_n(&start_lock, &none, me, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        if (none != me) { /* left by the fork of a starting parent */
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

/* What each new live file begins with. */
static void begin_file(struct process *p)
{
    notes_put_all(p);
    if (config.monitored)
        monitor_tell(p, MONARC_CONTROL_CALLS, text_base(p->folder));
}

static void configure(void)
{
    config_read();
    monitor_read_config();
    notes_read_command();
    live_on_new_file(begin_file);
}

static void start(bool forked)
{
    struct process *p = process_prepare();
    if (!p) {
        monarc_recording = 0;
        return;
    }
    p->forked = forked;
    p->lost[LOST_EARLY] = forked ? 0 : too_early;
    thread_forget();
    if (forked)
        sample_forget();
    if (forked && !config.follow_fork)
        monarc_recording = 0;
    __atomic_store_n(&p->alive, 1, __ATOMIC_RELEASE);
}

static void start_locked(void)
{
    bool forked = configured;
    if (!configured)
        configure();
    configured = true;
    if (config.off || config.paused)
        monarc_recording = 0;
    if (!config.off)
        start(forked);
    struct process *p = process_if_started();
    if (config.monitored && config.paused && !forked && p)
        monitor_tell(p, MONARC_CONTROL_STOPPED, NULL);
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
    if (!process_if_started())
        start_locked();
    unlock_start(&mask);
    return process_if_started();
}

/* Where the kernel empties the state itself, this only makes sure. */
static void in_child(void)
{
    process_forget();
    thread_forget();
}

/* The kernel lays the environment out above all frames of the first thread. */
static uintptr_t main_stack_low(void)
{
    uint64_t most = (uint64_t)1 << 30, limit = sys_limit(RLIMIT_STACK);
    return (uintptr_t)environ - (uintptr_t)(limit < most ? limit : most);
}

__attribute__((constructor(101))) static void begin(void)
{
    static bool begun;
    struct process *p = process_get();
    if (!p || begun)
        return;
    begun = true;
    thread_key_create();
    pthread_atfork(NULL, NULL, in_child);
    if (config.monitored) {
        objects_refresh(p);
        return;
    }
    thread_attach(p);
    thread_set_stack(main_stack_low(), (uintptr_t)environ);
    objects_refresh(p);
    ends_watch();
    sample_init(p);
}
