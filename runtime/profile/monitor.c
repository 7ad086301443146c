/* Reports to `monarc run` from inside the program. See monitor.h. */
#include "monitor.h"
#include "../common/sys.h"
#include "thread.h"

#include <time.h>

static struct control_ring
    ring; /* ordinary memory and a shared mapping: forked children report too */

/* Under a monitor: nothing is sampled, no handler installed, nothing written at the end. */
void monitor_read_config(void)
{
    const char *path = config_variable("MONARC_CONTROL");
    if (config.off || !path || !*path)
        return;
    if (control_map(&ring, path) == CONTROL_MISSING) {
        config.off = true;
        return;
    }
    config.monitored = true;
    config.live = true;
    config.classic = config.fatal_signals = false;
    config.dump_signal = 0;
    config.rate = 0;
}

/* Without a system call where the kernel's clock source allows it: see vdso(7). */
static uint64_t now(void)
{
    struct timespec t = {0, 0};
    if ((monarc_sealed && monarc_clock_forbidden) || clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Kept in the thread's slot; 0 if it is not there and must not be requested any more. */
static uint32_t thread_id(int pid)
{
    struct thread_slot *slot = &monarc_slot;
    if (slot->tid_pid != pid && !monarc_sealed) {
        slot->tid = sys_tid();
        slot->tid_pid = pid;
    }
    return slot->tid_pid == pid ? (uint32_t)slot->tid : 0;
}

bool monitor_tell(const struct process *p, enum monarc_control_kind kind, const char *text)
{
    int pid = p ? p->pid : monarc_sealed;
    return control_put(&ring, kind, now(), (uint32_t)pid, p ? thread_id(pid) : 0, text ? text : "");
}
