/* include/monarc/runtime.h, and glibc's names for the same: monstartup, moncontrol, _mcleanup. */
#include "api.h"
#include "dump.h"
#include "folder.h"
#include "merge.h"
#include "ring.h"
#include "sys.h"

#include <monarc/runtime.h>
#include <monarc/sidecar.h>

int monarc_start(void)
{
    struct process *p = process_get();
    if (!p)
        return -1;
    ring_drain_all(p); /* drops what was sampled meanwhile */
    __atomic_store_n(&monarc_recording, 1, __ATOMIC_RELAXED);
    return 0;
}

int monarc_stop(void)
{
    struct process *p = process_if_started();
    if (p && monarc_recording)
        ring_drain_all(p);
    __atomic_store_n(&monarc_recording, 0, __ATOMIC_RELAXED);
    return p ? 0 : -1;
}

/* Copies the present sums of one kind into a segment whose counts are taken off from now on. The
 * tables themselves stay as they are, for they are being counted into. */
static bool set_aside(struct process *p, uint32_t kind)
{
    struct merged m;
    bool ok = merge_kind(p, kind, &m);
    uint64_t slots = 2048;
    while (slots < m.count * 4)
        slots *= 2;
    struct table t = {NULL};
    for (size_t i = 0; ok && i < m.count; i++) {
        struct cell *c =
            table_claim(p, &t, kind + KIND_SUBTRACT, slots, m.at[i].a, m.at[i].b, false);
        ok = c != NULL;
        if (ok)
            cell_add(c, m.at[i].count);
    }
    merged_free(&m);
    return ok;
}

int monarc_reset(void)
{
    struct process *p = process_if_started();
    if (!p)
        return -1;
    ring_drain_all(p);
    bool ok = set_aside(p, MONARC_EXTENT_ARCS) && set_aside(p, MONARC_EXTENT_STACKS) &&
              set_aside(p, MONARC_EXTENT_BLOCKS);
    return ok ? 0 : -1;
}

int monarc_dump(const char *folder)
{
    return dump(WRITTEN_REQUEST, DUMP_ASYNC, folder) ? 0 : -1;
}

int monarc_snapshot(const char *name)
{
    static char path[PATH_MAX];
    static int busy;
    struct process *p = process_if_started();
    if (!p || !p->folder[0] || __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        return -1;
    bool ok = folder_path(p->folder, name, path) && dump(WRITTEN_REQUEST, DUMP_ASYNC, path);
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return ok ? 0 : -1;
}

static int mark(enum mark_kind kind, const char *name)
{
    struct process *p = process_if_started();
    if (!p)
        return -1;
    side_mark(p, kind, name);
    return 0;
}

int monarc_phase(const char *name)
{
    return mark(MARK_PHASE, name);
}

int monarc_region_begin(const char *name)
{
    return mark(MARK_REGION_BEGIN, name);
}

int monarc_region_end(const char *name)
{
    return mark(MARK_REGION_END, name);
}

unsigned long long monarc_lost(void)
{
    struct process *p = process_if_started();
    return p ? p->lost[LOST_CALLS] + p->lost[LOST_EARLY] : 0;
}

/* gcrt1.o calls this before main, on some machines even before libc is ready. The range is glibc's
 * concern: all code is recorded here, from the first call on. */
void __monstartup(unsigned long low, unsigned long high)
{
    (void)low;
    (void)high;
}

void monstartup(unsigned long low, unsigned long high)
{
    __monstartup(low, high);
    monarc_start();
}

void moncontrol(int on)
{
    if (on)
        monarc_start();
    else
        monarc_stop();
}

/* gcrt1.o has exit() call this; a program may call it to have its profile before _exit. What is
 * recorded later is added when the process does end. */
void _mcleanup(void)
{
    dump(WRITTEN_REQUEST, 0, NULL);
}
