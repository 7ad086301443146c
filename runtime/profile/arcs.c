/* Counting calls and blocks: everything the fast path does not do itself, which is new keys, new
 * threads, full tables, forked children, and being switched off. Never blocks for long, allocates
 * from the kernel only, calls nothing of libc but pthread_setspecific, uses general registers only.
 */
#include "arcs.h"
#include "../common/sys.h"
#include "loadmap.h"
#include "monitor.h"
#include "sampling/sample.h"
#include "start.h"
#include "table.h"
#include "thread.h"

#include <wire/sidecar.h>

#define ARC_SLOTS  512
#define LATE_SLOTS 1024

/* Used when the kernel gives no memory. Emptied by hand in a forked child. */
static struct {
    struct segment header;
    struct cell cells[LATE_SLOTS + PROBE_PAD];
    int pid;
} reserve;

static struct cell *reserve_claim(struct process *p, uint32_t kind, uint64_t a, uint64_t b)
{
    uint64_t mask;
    struct segment *s = &reserve.header;
    process_lock(p, &mask);
    if (reserve.pid != p->pid) {
        reserve.pid = p->pid;
        for (int i = 0; i < LATE_SLOTS + PROBE_PAD; i++)
            reserve.cells[i] = (struct cell){0};
        s->slots = LATE_SLOTS;
        s->used = 0;
        s->mask = (LATE_SLOTS - 1) * sizeof(struct cell);
        s->offset = (char *)reserve.cells - (char *)s;
        s->kind = MONARC_EXTENT_ARCS;
        s->first_id = p->next_id;
        p->next_id += segment_room(s);
        s->next = p->segments;
        p->segments = s;
        if (config.live)
            lost_add(LOST_LIVE, 1);
    }
    process_unlock(p, &mask);
    return kind == MONARC_EXTENT_ARCS ? segment_claim(s, a, b) : NULL;
}

/* Once a new key. */
static void mark_profiled(struct process *p, uint64_t self)
{
    struct object *o = object_at(self);
    if (!o)
        o = object_discover(p, self);
    if (o && !__atomic_load_n(&o->profiled, __ATOMIC_RELAXED))
        __atomic_store_n(&o->profiled, true, __ATOMIC_RELAXED);
}

/* In a sandbox, where tables do not grow. */
static struct cell *sealed_claim(struct process *p, uint32_t kind, uint64_t a, uint64_t b)
{
    bool is_arc = kind == MONARC_EXTENT_ARCS;
    struct cell *c =
        table_claim(p, is_arc ? &p->late : &p->late_blocks, kind, LATE_SLOTS, a, b, false);
    if (!c && !p->segments && !__atomic_exchange_n(&p->told_uncounted, 1, __ATOMIC_RELAXED))
        monitor_tell(p, MONARC_CONTROL_NOT_COUNTED,
                     "the program had sandboxed itself before its first call");
    return c;
}

static void count(struct process *p, struct table *t, uint32_t kind, uint64_t slots, uint64_t a,
                  uint64_t b)
{
    struct cell *c = table_claim(p, t, kind, slots, a, b, false);
    if (!c)
        c = monarc_sealed ? sealed_claim(p, kind, a, b) : reserve_claim(p, kind, a, b);
    if (c)
        cell_add(c, 1);
    else
        lost_add(LOST_CALLS, 1);
}

void monarc_arc_slow(uint64_t from, uint64_t self)
{
    if (!monarc_recording)
        return;
    struct process *p = process_get();
    if (!p || !monarc_recording)
        return;
    from += from == 0; /* a zero key is an empty cell */
    mark_profiled(p, self);
    struct thread *t = thread_attach(p);
    count(p, t ? &t->arcs : &p->late, MONARC_EXTENT_ARCS, t ? ARC_SLOTS : LATE_SLOTS, from, self);
    if (t) {
        monarc_slot.arcs = t->arcs.newest;
        sample_entered(p, t);
    }
}

void monarc_block_slow(uint64_t at)
{
    if (!monarc_recording)
        return;
    struct process *p = process_get();
    if (!p || !monarc_recording)
        return;
    struct thread *t = thread_attach(p);
    count(p, t ? &t->blocks : &p->late_blocks, MONARC_EXTENT_BLOCKS, LATE_SLOTS, BLOCK_RAN, at);
    if (t)
        monarc_slot.blocks = t->blocks.newest;
}

void block_list(struct process *p, uint64_t start)
{
    table_claim(p, &p->late_blocks, MONARC_EXTENT_BLOCKS, LATE_SLOTS, BLOCK_START, start, true);
}
