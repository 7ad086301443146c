/* include/monarc/runtime.h, and glibc's names for the same: monstartup, moncontrol, _mcleanup. */
#include "api.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "context.h"
#include "dump.h"
#include "folder.h"
#include "live.h"
#include "monitor.h"
#include "sampling/ring.h"
#include "sampling/sample.h"
#include "start.h"

#include <monarc/runtime.h>

int monarc_rt_start(void)
{
    struct process *p = process_get();
    if (!p)
        return -1;
    ring_drain_all(p); /* drops what was sampled meanwhile */
    sample_continue_all(p);
    if (!__atomic_exchange_n(&monarc_recording, 1, __ATOMIC_RELAXED))
        monitor_tell(p, MONARC_CONTROL_RESUMED, NULL);
    return 0;
}

int monarc_rt_stop(void)
{
    struct process *p = process_if_started();
    if (p && monarc_recording)
        ring_drain_all(p);
    if (p)
        sample_pause_all(p);
    if (__atomic_exchange_n(&monarc_recording, 0, __ATOMIC_RELAXED) && p)
        monitor_tell(p, MONARC_CONTROL_STOPPED, NULL);
    return p ? 0 : -1;
}

/* The cells stay as they are, for they are being counted into: each keeps how much of it is not to
 * be reported. */
static void set_aside_all(struct process *p)
{
    for (struct segment *s = p->segments; s; s = s->next)
        for (uint64_t i = 0; i < segment_room(s) && __atomic_load_n(&s->used, __ATOMIC_RELAXED);
             i++)
            cell_set_aside(segment_cells(s) + i);
}

int monarc_rt_reset(void)
{
    struct process *p = process_if_started();
    if (!p)
        return -1;
    ring_drain_all(p);
    monitor_tell(p, MONARC_CONTROL_RESET, NULL);
    uint64_t mask;
    process_lock(p, &mask);
    set_aside_all(p);
    process_unlock(p, &mask);
    return 0;
}

/* The monitor writes what was sampled, this process its calls. Those of the recording itself are in
 * the live file already. */
static bool dump_monitored(struct process *p, const char *folder)
{
    char absolute[MONARC_CONTROL_TEXT_BYTES];
    struct text t = text_in(absolute, sizeof absolute);
    if (monarc_sealed)
        return false;
    if (folder && *folder != '/') {
        if (sys_failed(SYS3(SYS_getcwd, absolute, sizeof absolute, 0)))
            return false;
        t.used = text_length(absolute);
        text_add(&t, "/");
    }
    text_add(&t, folder ? folder : "");
    if (t.cut)
        return false;
    bool has_calls = __atomic_load_n(&p->segments, __ATOMIC_ACQUIRE) != NULL;
    bool ok = !folder || !has_calls || dump(WRITTEN_REQUEST, DUMP_ASYNC, folder);
    return monitor_tell(p, MONARC_CONTROL_DUMP, absolute) && ok;
}

int monarc_rt_dump(const char *folder)
{
    if (config.monitored) {
        struct process *p = process_get();
        return p && dump_monitored(p, folder) ? 0 : -1;
    }
    return dump(WRITTEN_REQUEST, DUMP_ASYNC, folder) ? 0 : -1;
}

int monarc_rt_snapshot(const char *name)
{
    static char path[PATH_MAX];
    static int busy;
    struct process *p = config.monitored ? process_get() : process_if_started();
    if (config.monitored && p && !monarc_sealed)
        live_folder(p);
    if (!p || !p->folder[0] || __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        return -1;
    bool ok = folder_path(p->folder, name, path) && monarc_rt_dump(path) == 0;
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return ok ? 0 : -1;
}

const char *monarc_rt_folder(void)
{
    struct process *p = process_if_started();
    return p && !config.monitored && p->folder[0] ? p->folder : NULL;
}

int monarc_rt_discard(void)
{
    struct process *p = process_if_started();
    if (!p || config.monitored)
        return -1;
    monarc_rt_stop();
    uint64_t mask;
    process_lock(p, &mask);
    live_discard(p);
    process_unlock(p, &mask);
    return 0;
}

static int mark(enum mark_kind kind, const char *name)
{
    struct process *p = process_get();
    if (!p)
        return -1;
    if (kind == MARK_REGION_BEGIN)
        context_region_begin(p, name);
    else if (kind == MARK_REGION_END)
        context_region_end(p, name);
    if (config.monitored)
        return monitor_tell(p, MONARC_CONTROL_PHASE + kind, name) ? 0 : -1;
    side_mark(p, kind, name);
    return 0;
}

int monarc_rt_phase(const char *name)
{
    return mark(MARK_PHASE, name);
}

int monarc_rt_region_begin(const char *name)
{
    return mark(MARK_REGION_BEGIN, name);
}

int monarc_rt_region_end(const char *name)
{
    return mark(MARK_REGION_END, name);
}

int monarc_rt_label(const char *key, const char *value)
{
    struct process *p = process_get();
    return p && context_label(p, key, value) ? 0 : -1;
}

unsigned long long monarc_rt_lost(void)
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
    monarc_rt_start();
}

void moncontrol(int on)
{
    if (on)
        monarc_rt_start();
    else
        monarc_rt_stop();
}

/* gcrt1.o has exit() call this; a program may call it to have its profile before _exit. What is
 * recorded later is added when the process does end. */
void _mcleanup(void)
{
    if (!config.monitored)
        dump(WRITTEN_REQUEST, 0, NULL);
}
