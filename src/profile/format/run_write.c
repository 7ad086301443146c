/* Writing the file of a run.
 *
 * Numbers are LEB128, in the order of the run's lists; what repeats or grows slowly is written as a
 * difference. A list may take any number of bytes: lengths of records have 64 bits. */
#include "profile/format/run_file.h"

#include "base/intern.h"
#include "monarc/sidecar.h"

struct run_writer {
    struct writer *w;
    const struct run *run;
    struct intern strings;
};

static void write_put(struct run_writer *to, uint64_t value)
{
    uint8_t bytes[10];
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[len++] = (uint8_t)(value | 0x80);
    bytes[len++] = (uint8_t)value;
    writer_bytes(to->w, bytes, len);
}

/* 0, -1, 1, -2 become 0, 1, 2, 3: small differences stay short. */
static uint64_t write_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void write_put_difference(struct run_writer *to, uint64_t value, uint64_t before)
{
    write_put(to, write_zigzag((int64_t)(value - before)));
}

static void write_put_text(struct run_writer *to, const char *text)
{
    write_put(to, text ? intern(&to->strings, text, strlen(text)) + UINT64_C(1) : 0);
}

/* An index or RUN_NONE. */
static void write_put_index(struct run_writer *to, uint32_t index)
{
    write_put(to, index == RUN_NONE ? 0 : index + UINT64_C(1));
}

/* Starts a record; write_end_record() fills in its length. */
static size_t write_begin_record(struct run_writer *to, uint32_t tag)
{
    writer_u32(to->w, tag);
    writer_u64(to->w, 0);
    return to->w->out.len;
}

static void write_end_record(struct run_writer *to, size_t start)
{
    uint64_t n = to->w->out.len - start;
    memcpy(to->w->out.at + start - sizeof n, &n, sizeof n);
}

static void write_facts(struct run_writer *to)
{
    const struct run *r = to->run;
    size_t start = write_begin_record(to, RUN_TAG_RUN);
    const uint64_t facts[] = {r->machine,       r->method,    r->rate,       r->cpus,
                              r->start_real_ns, r->length_ns, r->slice_ns,   r->user_ns,
                              r->system_ns,     r->cpu_ns,    r->monitor_ns, r->cost_ns,
                              r->stacks,        r->whole};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        write_put(to, facts[i]);
    write_end_record(to, start);
}

static void write_text(struct run_writer *to, size_t i)
{
    write_put_text(to, to->run->texts.at[i].key);
    write_put_text(to, to->run->texts.at[i].value);
}

static void write_object(struct run_writer *to, size_t i)
{
    const struct run_object *o = &to->run->objects.at[i];
    write_put(to, o->kind);
    write_put(to, (o->is_deleted ? RUN_OBJECT_DELETED : 0) |
                      (o->has_unwind ? RUN_OBJECT_HAS_UNWIND : 0) |
                      (o->is_listed ? RUN_OBJECT_LISTED : 0) | (o->is_read ? RUN_OBJECT_READ : 0));
    write_put_text(to, o->path);
    write_put_index(to, o->process);
    write_put(to, o->low);
    write_put(to, o->high - o->low);
    write_put(to, o->build_id_bytes);
    writer_bytes(to->w, o->build_id, o->build_id_bytes);
}

/* Starts go by differences within an object. */
static void write_symbol(struct run_writer *to, size_t i)
{
    const struct run_symbol *s = &to->run->symbols.at[i];
    static const struct run_symbol none;
    const struct run_symbol *before = i ? s - 1 : &none;
    write_put(to, s->object - before->object);
    write_put(to, s->object == before->object ? s->start - before->start : s->start);
    write_put(to, s->size);
    write_put_text(to, s->name);
}

static void write_excerpt(struct run_writer *to, size_t i)
{
    const struct run_excerpt *x = &to->run->excerpts.at[i];
    write_put(to, x->object);
    write_put(to, x->bytes.len);
    writer_bytes(to->w, x->bytes.at, x->bytes.len);
}

static void write_process(struct run_writer *to, size_t i)
{
    const struct run_process *p = &to->run->processes.at[i];
    write_put(to, p->pid);
    write_put(to, p->parent_pid);
    write_put_index(to, p->program);
    write_put(to, p->start_ns);
    write_put(to, p->end_ns);
    write_put(to, p->user_ns);
    write_put(to, p->system_ns);
    write_put(to,
              (p->has_cpu ? RUN_PROCESS_HAS_CPU : 0) | (p->has_ended ? RUN_PROCESS_HAS_ENDED : 0));
    write_put(to, write_zigzag(p->status));
    write_put_text(to, p->name);
    write_put_text(to, p->why_unseen);
}

static void write_thread(struct run_writer *to, size_t i)
{
    const struct run_thread *t = &to->run->threads.at[i];
    write_put(to, t->process);
    write_put(to, t->tid);
    write_put(to, t->start_ns);
    write_put(to, t->end_ns);
    write_put(to, t->has_cpu);
    write_put(to, t->cpu_ns);
    write_put_text(to, t->name);
}

static void write_event(struct run_writer *to, size_t i)
{
    const struct run_event *event = &to->run->events.at[i];
    write_put_text(to, event->name);
    write_put(to, event->unit);
    write_put(to, event->period);
    write_put(to, event->user_only);
}

static void write_mark(struct run_writer *to, size_t i)
{
    const struct run_mark *m = &to->run->marks.at[i];
    write_put(to, m->at_ns);
    write_put(to, m->kind);
    write_put_index(to, m->process);
    write_put(to, m->tid);
    write_put_text(to, m->name);
}

static void write_loss(struct run_writer *to, size_t i)
{
    const struct run_loss *l = &to->run->losses.at[i];
    write_put(to, l->kind);
    write_put(to, l->count);
    write_put(to, l->ns);
    write_put_text(to, l->text);
}

static void write_part(struct run_writer *to, size_t i)
{
    const struct run_part *part = &to->run->parts.at[i];
    write_put(to, part->process);
    write_put(to, part->number);
    write_put(to, write_zigzag(part->status));
    write_put(to, part->padding);
    write_put(to, part->seed);
    write_put(to, part->elapsed_ns);
    write_put(to, part->cpu_ns);
}

/* Arcs and blocks mostly come in the order of addresses. */
static void write_arc(struct run_writer *to, size_t i)
{
    const struct run_arc *arc = &to->run->arcs.at[i];
    static const struct run_arc none;
    const struct run_arc *before = i ? arc - 1 : &none;
    write_put_index(to, arc->from_object);
    write_put_difference(to, arc->from, before->from);
    write_put_index(to, arc->self_object);
    write_put_difference(to, arc->self, before->self);
    write_put(to, arc->count);
}

static void write_block(struct run_writer *to, size_t i)
{
    const struct run_block *block = &to->run->blocks.at[i];
    write_put(to, block->object);
    write_put_difference(to, block->address, i ? block[-1].address : 0);
    write_put(to, block->count);
}

static void write_list(struct run_writer *to, uint32_t tag, size_t len,
                       void (*write)(struct run_writer *, size_t))
{
    size_t start = write_begin_record(to, tag);
    write_put(to, len);
    for (size_t i = 0; i < len; i++)
        write(to, i);
    write_end_record(to, start);
}

/* The processes whose peak is known: those that monarc itself waited for. */
static void write_peaks(struct run_writer *to)
{
    const struct run *r = to->run;
    size_t known = 0;
    for (size_t i = 0; i < r->processes.len; i++)
        known += r->processes.at[i].peak_bytes > 0;
    if (!known)
        return;
    size_t start = write_begin_record(to, RUN_TAG_PEAKS);
    write_put(to, known);
    for (size_t i = 0; i < r->processes.len; i++)
        if (r->processes.at[i].peak_bytes) {
            write_put(to, i);
            write_put(to, r->processes.at[i].peak_bytes);
        }
    write_end_record(to, start);
}

/* A node is mostly the child of the one before it and in the same object as its parent; addresses
 * go by differences to the one written last for the object. */
static void write_nodes(struct run_writer *to)
{
    const struct run *r = to->run;
    struct arena scratch = {0};
    uint64_t *last = ARENA_NEW(&scratch, uint64_t, r->objects.len + 1);
    size_t start = write_begin_record(to, RUN_TAG_NODES);
    write_put(to, r->nodes.len - 1);
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct run_node *n = &r->nodes.at[i];
        uint32_t expected = n->parent ? r->nodes.at[n->parent].object : 0;
        write_put(to, (uint64_t)(i - 1 - n->parent) << 1 | (n->object != expected));
        if (n->object != expected)
            write_put(to, n->object);
        write_put_difference(to, n->address, last[n->object]);
        last[n->object] = n->address;
    }
    write_end_record(to, start);
    arena_deinit(&scratch);
}

static void write_sample(struct run_writer *to, size_t i)
{
    const struct run_sample *s = &to->run->samples.at[i];
    static const struct run_sample none;
    const struct run_sample *before = i ? s - 1 : &none;
    uint64_t nominal = s->count * to->run->events.at[s->event].period;
    bool is_moved =
        s->slice != before->slice || s->thread != before->thread || s->event != before->event;
    write_put(to, write_zigzag((int64_t)s->node - before->node) << RUN_SAMPLE_BITS |
                      (is_moved ? RUN_SAMPLE_MOVED : 0) |
                      (s->weight != nominal ? RUN_SAMPLE_WEIGHTED : 0) |
                      (s->count != 1 ? RUN_SAMPLE_MANY : 0));
    if (is_moved) {
        write_put_difference(to, s->slice, before->slice);
        write_put_difference(to, s->thread, before->thread);
        write_put(to, s->event);
    }
    if (s->count != 1)
        write_put(to, s->count);
    if (s->weight != nominal)
        write_put_difference(to, s->weight, nominal);
}

/* All lists but the strings, which are known only then. */
static void write_lists(struct run_writer *to)
{
    const struct run *r = to->run;
    write_facts(to);
    write_list(to, RUN_TAG_TEXTS, r->texts.len, write_text);
    write_list(to, RUN_TAG_PROCESSES, r->processes.len, write_process);
    write_peaks(to);
    write_list(to, RUN_TAG_OBJECTS, r->objects.len, write_object);
    write_list(to, RUN_TAG_SYMBOLS, r->symbols.len, write_symbol);
    write_list(to, RUN_TAG_THREADS, r->threads.len, write_thread);
    write_list(to, RUN_TAG_EVENTS, r->events.len, write_event);
    write_list(to, RUN_TAG_MARKS, r->marks.len, write_mark);
    write_list(to, RUN_TAG_LOSSES, r->losses.len, write_loss);
    if (r->parts.len)
        write_list(to, RUN_TAG_PARTS, r->parts.len, write_part);
    if (r->arcs.len)
        write_list(to, RUN_TAG_ARCS, r->arcs.len, write_arc);
    if (r->blocks.len)
        write_list(to, RUN_TAG_BLOCKS, r->blocks.len, write_block);
    if (r->excerpts.len)
        write_list(to, RUN_TAG_EXCERPTS, r->excerpts.len, write_excerpt);
    write_nodes(to);
    write_list(to, RUN_TAG_SAMPLES, r->samples.len, write_sample);
}

static void write_string(struct run_writer *to, size_t i)
{
    write_put(to, to->strings.lengths.at[i]);
    writer_bytes(to->w, to->strings.texts.at[i], to->strings.lengths.at[i]);
}

void run_write(struct writer *w, const struct run *r)
{
    struct writer body = {0};
    struct run_writer to = {.w = &body, .run = r};
    size_t file_start = w->out.len;
    write_lists(&to);
    to.w = w;
    w->big_endian = false;
    writer_u32(w, MONARC_SIDE_MAGIC);
    writer_u32(w, RUN_FILE_VERSION);
    writer_u32(w, MONARC_BYTE_ORDER);
    write_list(&to, RUN_TAG_STRINGS, to.strings.texts.len, write_string);
    writer_bytes(w, body.out.at, body.out.len);
    uint64_t sum = run_checksum((struct bytes){w->out.at + file_start, w->out.len - file_start});
    size_t start = write_begin_record(&to, RUN_TAG_END);
    writer_u64(w, sum);
    write_end_record(&to, start);
    writer_deinit(&body);
    intern_deinit(&to.strings);
}
