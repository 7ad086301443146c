/* Writes the sidecar. See sidecar.h. */
#include "sidecar.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "live.h"
#include "notes.h"
#include "sampling/ring.h"
#include "sampling/sample.h"
#include "thread.h"

#include <wire/sidecar.h>
#include <time.h>

struct mark_record {
    uint64_t mono_ns, cpu_ns, samples;
    uint32_t kind, tid;
    char name[64];
};

static struct mark_record mark_record(const struct mark *m)
{
    struct mark_record r = {m->mono_ns, m->cpu_ns, m->samples, m->kind, m->tid, {0}};
    bytes_copy(r.name, m->name, sizeof r.name);
    return r;
}

void side_mark(struct process *p, enum mark_kind kind, const char *name)
{
    uint64_t mask;
    ring_drain_all(p);
    process_lock(p, &mask);
    struct mark *m = process_control(p, sizeof *m);
    if (m) {
        m->mono_ns = sys_clock(CLOCK_MONOTONIC);
        m->cpu_ns = sys_clock(CLOCK_PROCESS_CPUTIME_ID) - p->start_cpu;
        m->samples = p->samples;
        m->kind = kind;
        m->tid = (uint32_t)sys_tid();
        struct text t = text_in(m->name, sizeof m->name);
        text_add(&t, name ? name : "");
        m->next = p->marks;
        p->marks = m;
        struct mark_record r = mark_record(m);
        live_note(p, MONARC_SIDE_MARK, &r, sizeof r);
    }
    process_unlock(p, &mask);
}

static void put_record(struct output *out, uint32_t tag, const void *payload, uint64_t bytes)
{
    static const char zeros[8];
    output_u32(out, tag);
    output_u32(out, (uint32_t)bytes);
    output_bytes(out, payload, bytes);
    output_bytes(out, zeros, (8 - bytes % 8) % 8);
}

struct process_record {
    uint32_t pid, parent;
    uint64_t start_real_ns, start_mono_ns, end_mono_ns, cpu_ns;
    uint64_t samples, sampled_ns, measured_millihertz;
    uint32_t rate, event, clock, written;
};

static void put_process(struct process *p, struct output *out, struct sample_totals s,
                        uint32_t written)
{
    struct process_record r = {
        .pid = (uint32_t)p->pid,
        .parent = (uint32_t)SYS3(SYS_getppid, 0, 0, 0),
        .start_real_ns = p->start_real,
        .start_mono_ns = p->start_mono,
        .end_mono_ns = sys_clock(CLOCK_MONOTONIC),
        .cpu_ns = sys_clock(CLOCK_PROCESS_CPUTIME_ID) - p->start_cpu,
        .samples = s.samples,
        .sampled_ns = s.ns,
        .measured_millihertz = s.millihertz,
        .rate = config.rate,
        .event = config.event,
        .clock = s.clock,
        .written = written,
    };
    put_record(out, MONARC_SIDE_PROCESS, &r, sizeof r);
}

/* The event may have become another since the start. */
static void put_event(struct process *p, struct output *out)
{
    const char *const pairs[][2] = {{"event", event_rows[config.event].name},
                                    {"dimension", event_rows[config.event].dimension}};
    for (size_t i = 0; i < 2; i++) {
        size_t k = text_length(pairs[i][0]) + 1, v = text_length(pairs[i][1]) + 1;
        bytes_copy(p->record, pairs[i][0], k);
        bytes_copy(p->record + k, pairs[i][1], v);
        put_record(out, MONARC_SIDE_TEXT, p->record, k + v);
    }
}

static void put_text(struct output *out)
{
    const char *pair;
    for (size_t at = 0, n; (n = notes_command(at, &pair)) > 0; at += n)
        put_record(out, MONARC_SIDE_TEXT, pair, n);
}

static void put_objects(struct process *p, struct output *out)
{
    for (const struct object *o = objects; o; o = o->next)
        if (!o->gone)
            put_record(out, MONARC_SIDE_OBJECT, p->record, notes_object(p, o));
}

/* Calls that no gmon.out can hold: their ends lie in two objects, or in none. */
static bool is_between(const struct cell *c)
{
    const struct object *from = object_at(c->a), *self = object_at(c->b);
    return !from || !self || !object_same(from, self);
}

static void put_arcs(struct output *out, const struct merged *arcs)
{
    uint64_t n = 0;
    for (size_t i = 0; i < arcs->count; i++)
        n += is_between(&arcs->at[i]);
    output_u32(out, MONARC_SIDE_ARCS);
    output_u32(out, (uint32_t)(n * 24));
    for (size_t i = 0; i < arcs->count; i++)
        if (is_between(&arcs->at[i]))
            output_bytes(out, &arcs->at[i], 24);
}

static void put_threads(struct process *p, struct output *out)
{
    for (const struct note_page *page = p->note_pages; page; page = page->next) {
        uint32_t n = 0;
        while (n < page->count && page->notes[n].state)
            n++;
        put_record(out, MONARC_SIDE_THREADS, page->notes, n * sizeof(struct thread_note));
    }
}

/* Each node in the table, with hits or without: a node without is a parent. Nodes that a running
 * thread adds meanwhile wait for the next time; cells are never emptied. */
static void put_stacks(struct process *p, struct output *out)
{
    for (struct segment *s = p->segments; s; s = s->next) {
        if (s->kind != MONARC_EXTENT_STACKS)
            continue;
        uint64_t n = 0;
        for (uint64_t i = 0; i < segment_room(s); i++)
            n += __atomic_load_n(&segment_cells(s)[i].a, __ATOMIC_ACQUIRE) != 0;
        output_u32(out, MONARC_SIDE_STACKS);
        output_u32(out, (uint32_t)(n * 32));
        for (uint64_t i = 0; i < segment_room(s) && n > 0; i++) {
            struct cell *c = &segment_cells(s)[i];
            if (!c->a)
                continue;
            output_u64(out, s->first_id + i);
            output_bytes(out, c, 24);
            n--;
        }
        out->failed |= n != 0; /* cells of a live file that is cut short at this moment */
    }
}

static void put_lost(struct process *p, struct output *out)
{
    for (uint32_t i = 0; i < LOST_REASONS; i++)
        if (p->lost[i] || i == LOST_CALLS) /* always reported, even when there are none */
            put_record(out, MONARC_SIDE_LOST, p->record, notes_lost(p, i));
}

static void put_marks(struct process *p, struct output *out)
{
    for (const struct mark *m = p->marks; m; m = m->next) {
        struct mark_record r = mark_record(m);
        put_record(out, MONARC_SIDE_MARK, &r, sizeof r);
    }
}

static void put_header(struct output *out)
{
    output_u32(out, MONARC_SIDE_MAGIC);
    output_u32(out, MONARC_SIDE_VERSION);
    output_u32(out, MONARC_BYTE_ORDER);
    output_u32(out, sizeof(void *));
}

bool side_write(struct process *p, struct output *out, const char *path, const struct measured *m,
                uint32_t written)
{
    if (!output_open(out, path))
        return false;
    put_header(out);
    put_process(p, out, m->totals, written);
    put_event(p, out);
    put_text(out);
    put_objects(p, out);
    put_arcs(out, &m->arcs);
    put_threads(p, out);
    put_stacks(p, out);
    put_marks(p, out);
    put_lost(p, out);
    uint64_t sum = out->checksum;
    put_record(out, MONARC_SIDE_END, &sum, sizeof sum);
    return output_close(out);
}
