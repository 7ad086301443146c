/* What `monarc run` is told from inside the program. See monitor.h. */
#include "monitor.h"
#include "seal.h"
#include "../common/sys.h"
#include "thread.h"

#include <time.h>

static struct control_ring
    ring; /* ordinary memory and a shared mapping: forked children tell too */

bool monitor_join(const char *path)
{
    return control_map(&ring, path) != CONTROL_MISSING;
}

/* Without a system call where the kernel's clock source allows it: see vdso(7). */
static uint64_t now(void)
{
    struct timespec t = {0, 0};
    if (seal_forbids_clock() || clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Kept in the thread's slot; 0 if it is not there and must not be asked for any more. */
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
