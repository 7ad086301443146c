/* Writes the sidecar. See side.h. */
#include "side.h"
#include "live.h"
#include "sampling/ring.h"
#include "sampling/sample.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "thread.h"

#include <elf.h>
#include <monarc/sidecar.h>
#include <time.h>
#include <unistd.h>

#define COMMAND_BYTES 8192

/* "key NUL value NUL" pairs; survives a fork, as the command line does. */
static char command[COMMAND_BYTES];
static size_t command_used;

/* Variables that say which part of a parallel job this process is. */
static const char *const environment_of_interest[] = {
    "OMPI_COMM_WORLD_RANK", "PMI_RANK",    "PMIX_RANK",       "MPI_LOCALRANKID", "SLURM_PROCID",
    "SLURM_JOB_ID",         "PALS_RANKID", "OMP_NUM_THREADS", "HOSTNAME",        "LD_PRELOAD",
};

static void command_add(const char *key, const char *value)
{
    size_t k = text_length(key) + 1, v = text_length(value) + 1;
    if (command_used + k + v > COMMAND_BYTES)
        return;
    bytes_copy(command + command_used, key, k);
    bytes_copy(command + command_used + k, value, v);
    command_used += k + v;
}

static void add_arguments(void)
{
    static char line[COMMAND_BYTES / 2];
    long fd = sys_open("/proc/self/cmdline", 0, 0);
    if (sys_failed(fd))
        return;
    long n = sys_read((int)fd, line, sizeof line - 1);
    sys_close((int)fd);
    for (long i = 0; i < n; i += (long)text_length(line + i) + 1)
        command_add("argument", line + i);
}

void side_read_command(void)
{
    static char directory[PATH_MAX];
    command_used = 0;
    if (!sys_failed(SYS3(SYS_getcwd, directory, sizeof directory, 0)))
        command_add("directory", directory);
    for (size_t i = 0; i < sizeof environment_of_interest / sizeof *environment_of_interest; i++) {
        const char *value = config_variable(environment_of_interest[i]);
        if (value) {
            command_add("environment", environment_of_interest[i]);
            command_add("value", value);
        }
    }
    add_arguments();
}

/* Walks the pairs; returns the size of the next one, 0 at the end. */
static size_t command_pair(size_t at)
{
    if (at >= command_used)
        return 0;
    size_t k = text_length(command + at) + 1;
    return k + text_length(command + at + k) + 1;
}

/* In p->record; returns its size. */
static uint32_t lost_record(struct process *p, uint32_t reason)
{
    static const char *const texts[] = {
#define LOST_TEXT(name, text) text,
        LOST_ROWS(LOST_TEXT)
#undef LOST_TEXT
    };
    uint32_t head[2] = {reason, 0}, n = (uint32_t)text_length(texts[reason]) + 1;
    bytes_copy(p->record, head, sizeof head);
    bytes_copy(p->record + 8, &p->lost[reason], sizeof p->lost[reason]);
    bytes_copy(p->record + 16, texts[reason], n);
    return 16 + n;
}

/* A row for each reason, counted in place from now on: nothing needs to be written later, which may
 * be the very thing that cannot be done. */
static void note_losses(struct process *p)
{
    for (uint32_t i = 0; i < LOST_REASONS; i++) {
        char *note = live_note(p, MONARC_SIDE_LOST, p->record, lost_record(p, i));
        __atomic_store_n(&p->live_lost[i], note ? (uint64_t *)(void *)(note + 8) : NULL,
                         __ATOMIC_RELEASE);
    }
}

void side_note_all(struct process *p)
{
    note_losses(p);
    for (size_t at = 0, n; (n = command_pair(at)) > 0; at += n)
        live_note(p, MONARC_SIDE_TEXT, command + at, (uint32_t)n);
    for (struct object *o = objects; o; o = o->next)
        side_note_object(p, o);
}

const char *side_gmon_name(struct process *p, const struct object *o)
{
    struct text t = text_in(p->other, sizeof p->other);
    if (o->is_main) {
        text_add(&t, "gmon.out");
        return p->other;
    }
    for (const struct object *q = objects; q; q = q->next)
        if (!q->gone && object_same(q, o) && q->id < o->id)
            o = q;
    text_add(&t, o->path[0] ? text_base(o->path) : "vdso");
    for (const struct object *q = objects; q; q = q->next)
        if (q->id < o->id && !q->gone && !object_same(q, o) &&
            text_equal(text_base(q->path), text_base(o->path))) {
            text_add(&t, ".");
            text_add_number(&t, o->id);
            break;
        }
    text_add(&t, ".gmon");
    return p->other;
}

struct object_record {
    uint32_t id, flags; /* 1 main, 2 unloaded */
    uint64_t start, end, bias, text_low, text_high;
    uint32_t build_id_size, zero;
    unsigned char build_id[MOST_BUILD_ID];
    /* then the path and the name of its gmon.out, each ended by NUL */
};

/* Builds the record in p->record; returns its size. */
static uint32_t object_record(struct process *p, const struct object *o)
{
    struct object_record r = {
        .id = o->id,
        .flags = (o->is_main ? 1u : 0) | (o->retired ? 2u : 0),
        .start = o->start,
        .end = o->end,
        .bias = o->bias,
        .text_low = o->text_low,
        .text_high = o->text_high,
        .build_id_size = o->build_id_size,
    };
    bytes_copy(r.build_id, o->build_id, sizeof r.build_id);
    bytes_copy(p->record, &r, sizeof r);
    struct text t = text_in(p->record + sizeof r, PATH_MAX);
    text_add(&t, o->path);
    size_t n = sizeof r + t.used + 1;
    t = text_in(p->record + n, sizeof p->record - n);
    text_add(&t, side_gmon_name(p, o));
    return (uint32_t)(n + t.used + 1);
}

/* A reader passes over a tag that it does not know, so that a record which is being rewritten, or
 * stands for nothing just now, is simply not there. */
#define TAG_VOID 0x64696f76u

static uint32_t *note_tag(const struct object *o)
{
    return (uint32_t *)(void *)(o->note - 8);
}

/* Where the record has its place already, in this process's file, it is rewritten there. */
void side_note_object(struct process *p, struct object *o)
{
    if (!config.live || !p->folder[0])
        return;
    bool is_noted = o->note && o->noted_by == p->pid;
    if (is_noted)
        __atomic_store_n(note_tag(o), TAG_VOID, __ATOMIC_RELEASE);
    if (o->gone)
        return;
    uint32_t bytes = object_record(p, o);
    if (is_noted && bytes == o->note_bytes) {
        bytes_copy(o->note, p->record, bytes);
        __atomic_store_n(note_tag(o), MONARC_SIDE_OBJECT, __ATOMIC_RELEASE);
        return;
    }
    o->note = live_note(p, MONARC_SIDE_OBJECT, p->record, bytes);
    o->note_bytes = bytes;
    o->noted_by = p->pid;
}

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
        m->cpu_ns = sys_clock(CLOCK_PROCESS_CPUTIME_ID);
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
        .cpu_ns = sys_clock(CLOCK_PROCESS_CPUTIME_ID),
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
    for (size_t at = 0, n; (n = command_pair(at)) > 0; at += n)
        put_record(out, MONARC_SIDE_TEXT, command + at, n);
}

static void put_objects(struct process *p, struct output *out)
{
    for (const struct object *o = objects; o; o = o->next)
        if (!o->gone)
            put_record(out, MONARC_SIDE_OBJECT, p->record, object_record(p, o));
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

/* Each node in the table, with hits or without: a node without is somebody's parent. Nodes that a
 * running thread adds meanwhile wait for the next time; cells are never emptied. */
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
    }
}

static void put_lost(struct process *p, struct output *out)
{
    for (uint32_t i = 0; i < LOST_REASONS; i++)
        if (p->lost[i] || i == LOST_CALLS) /* always reported, even when there are none */
            put_record(out, MONARC_SIDE_LOST, p->record, lost_record(p, i));
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
