/* Writes all files of the recording: a gmon.out an object, and the sidecar last, so that a folder
 * with a sidecar is complete. See dump.h. */
#include "dump.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "folder.h"
#include "live.h"
#include "loadmap.h"
#include "notes.h"
#include "sampling/ring.h"
#include "sampling/sample.h"
#include "thread.h"

#include <wire/sidecar.h>

static bool is_leader(const struct object *o)
{
    for (const struct object *q = objects; q; q = q->next)
        if (!q->gone && q->id < o->id && object_same(q, o))
            return false;
    return true;
}

static bool write_objects(struct process *p, struct output *out, const char *folder,
                          const struct measured *m)
{
    bool ok = true;
    for (struct object *o = objects; o; o = o->next) {
        if (o->gone || !is_leader(o) || (!o->is_main && gmon_is_empty(o, m)))
            continue;
        ok &= folder_path(folder, notes_gmon_name(p, o), p->path) && gmon_write(out, p->path, o, m);
    }
    return ok;
}

static bool write_classic(struct process *p, struct output *out, const struct measured *m)
{
    struct object *o = objects;
    struct text t = text_in(p->path, sizeof p->path);
    while (o && !o->is_main)
        o = o->next;
    text_add(&t, config.prefix[0] ? config.prefix : "gmon.out");
    if (config.prefix[0]) {
        text_add(&t, ".");
        text_add_number(&t, (uint64_t)p->pid);
    }
    return !t.cut && o && gmon_write(out, p->path, o, m);
}

static bool write_all(struct process *p, struct output *out, const char *folder,
                      const struct measured *m, uint32_t written)
{
    if (!folder)
        return write_classic(p, out, m);
    return write_objects(p, out, folder, m) && folder_path(folder, "monarc.side", p->path) &&
           side_write(p, out, p->path, m, written);
}

static bool measure(struct process *p, struct measured *m)
{
    m->totals = sample_totals(p);
    if (!merge_kind(p, MONARC_EXTENT_ARCS, &m->arcs) ||
        !merge_kind(p, MONARC_EXTENT_STACKS, &m->stacks) ||
        !merge_kind(p, MONARC_EXTENT_BLOCKS, &m->blocks))
        return false;
    merged_blocks(&m->blocks);
    return true;
}

static bool dump_locked(struct process *p, uint32_t written, const char *folder)
{
    struct measured m = {0};
    struct output *out = sys_pages(sizeof *out);
    thread_refresh_notes(p);
    live_check(p);
    bool ok = out && measure(p, &m) && write_all(p, out, folder, &m, written);
    merged_free(&m.arcs);
    merged_free(&m.stacks);
    merged_free(&m.blocks);
    sys_pages_free(out, sizeof *out);
    return ok;
}

bool dump(uint32_t written, int flags, const char *folder)
{
    struct process *p = process_if_started();
    if (monarc_sealed || (config.monitored && (flags & DUMP_FINAL)))
        return false; /* what is in the live file is completed from outside */
    if (!p || p->pid != sys_pid())
        return false;
    /* In the forked child of a program with threads the loader's lock may be held for ever. */
    if (!(flags & DUMP_ASYNC) && !(p->forked && thread_were_many()))
        objects_refresh(p);
    if (folder)
        sys_mkdir(folder, FOLDER_MODE);
    else if (!config.classic && !(folder = p->folder)[0])
        return false;
    ring_drain_all(p);
    uint64_t mask;
    process_lock(p, &mask);
    bool has_paused = sample_pause(monarc_slot.thread);
    bool ok = dump_locked(p, written, folder);
    if (!ok)
        lost_add(LOST_WRITE, 1);
    if (ok && (flags & DUMP_FINAL))
        live_remove(p);
    ring_drop(monarc_slot.thread); /* before a signal that waits empties it */
    if (has_paused)
        sample_continue(monarc_slot.thread);
    process_unlock(p, &mask);
    return ok;
}
