/* A live file cut short. See sigbus.h. Nothing here may touch the live file but lost_add, after the
 * mending: SA_NODEFER lets it fault again. */
#include "sigbus.h"
#include "../common/sys.h"

#include <wire/sidecar.h>
#include <ucontext.h>
#include <unistd.h>

_Static_assert(LOST_CUT == MONARC_LOST_CUT, "readers know it by number");

struct mapped {
    uintptr_t low, high;
    struct mapped *next;
};

static struct sigaction programs; /* see cut_programs_action */
static bool is_ours;              /* survives a fork, as the handler does */

struct sigaction *cut_programs_action(int signal)
{
    return signal == SIGBUS && __atomic_load_n(&is_ours, __ATOMIC_RELAXED) ? &programs : NULL;
}

/* A page that is gone cannot come back: the file may have grown again, but is empty there. */
static bool mend_page(struct process *p, uintptr_t page)
{
    if (!sys_map_over(page, MONARC_LIVE_PAGE))
        return false;
    p->is_cut = true;
    lost_add(LOST_CUT, 1);
    return true;
}

static bool mend(struct process *p, uintptr_t address)
{
    const struct mapped *m = __atomic_load_n(&p->mapped, __ATOMIC_ACQUIRE);
    while (m && (address < m->low || address >= m->high))
        m = m->next;
    return m && mend_page(p, address & ~(uintptr_t)(MONARC_LIVE_PAGE - 1));
}

/* Where the kernel reads nothing for us, nothing is known to be gone. */
static void mend_all(struct process *p)
{
    const struct mapped *m = __atomic_load_n(&p->mapped, __ATOMIC_ACQUIRE);
    char byte = 0;
    if (!sys_peek((uintptr_t)&m, &byte, 1))
        return;
    for (; m; m = m->next)
        for (uintptr_t page = m->low; page < m->high; page += MONARC_LIVE_PAGE)
            if (!sys_peek(page, &byte, 1))
                mend_page(p, page);
}

/* The program's action comes back for good: a fault happens again, a signal that was sent is sent
 * again. In the middle of our own work that one waits. Pages that are gone are mended first, since
 * the program would take their faults for its own. */
static void leave_to_program(struct process *p, const siginfo_t *info, ucontext_t *u)
{
    if (p && p->pid == sys_pid() && !monarc_sealed)
        mend_all(p);
    __atomic_store_n(&is_ours, false, __ATOMIC_RELAXED);
    sigaction(SIGBUS, &programs, NULL);
    if (info->si_code > 0)
        return;
    if (sigismember(&u->uc_sigmask, SIGTERM) && sigismember(&u->uc_sigmask, SIGUSR2))
        sigaddset(&u->uc_sigmask, SIGBUS);
    SYS3(SYS_tgkill, sys_pid(), sys_tid(), SIGBUS);
}

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
    struct process *p = process_if_started();
    (void)signal;
    if (info->si_code <= 0 || !p || p->pid != sys_pid() || !mend(p, (uintptr_t)info->si_addr))
        leave_to_program(p, info, context);
}

static void install(void)
{
    struct sigaction new = {.sa_sigaction = on_bus_error,
                            .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_NODEFER};
    static bool tried;
    if (tried)
        return;
    tried = true;
    if (sigaction(SIGBUS, &new, &programs) == 0)
        __atomic_store_n(&is_ours, true, __ATOMIC_RELAXED);
}

bool cut_watch(struct process *p, void *at, size_t bytes)
{
    struct mapped *m = process_control(p, sizeof *m);
    if (!m)
        return false;
    *m = (struct mapped){(uintptr_t)at, (uintptr_t)at + bytes, p->mapped};
    __atomic_store_n(&p->mapped, m, __ATOMIC_RELEASE);
    install();
    return true;
}

bool cut_check(struct process *p, int fd)
{
    long end = SYS3(SYS_lseek, fd, 0, SEEK_END);
    if (p->is_cut || end < 0 || (uint64_t)end >= p->live_bytes)
        return p->is_cut;
    p->is_cut = true;
    lost_add(LOST_CUT, 1);
    return true;
}
