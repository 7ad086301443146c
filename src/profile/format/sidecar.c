/* Reading and writing sidecars.
 *
 * A reader of records sees a cursor over its payload alone, so no count of a record can reach
 * beyond it. Lists grow by what was there, never by a claim. Refused: other versions, records that
 * are cut off, a wrong checksum, objects that end before they start. */
#include "profile/format/sidecar.h"

#include "base/hash.h"
#include "monarc/sidecar.h"

#include <inttypes.h>

enum {
    HEADER_BYTES = 16,
    OBJECT_BYTES = 88,
    ARC_BYTES = 24,
    THREAD_BYTES = 64,
    NODE_BYTES = 32,
    THREAD_NAME_BYTES = 16,
    MARK_NAME_BYTES = 64,
};

uint64_t sidecar_checksum(struct bytes b)
{
    return hash_fnv64(b.at, b.len);
}

/* --- reading --------------------------------------------------------------------------------- */

/* Text up to and with its NUL, copied. */
static const char *sidecar_take_text(struct cursor *in, struct arena *a)
{
    const uint8_t *nul = in->failed ? NULL : memchr(in->at, 0, cursor_left(in));
    if (!nul) {
        in->failed = true;
        return "";
    }
    const char *text = (const char *)in->at;
    size_t len = (size_t)(nul - in->at);
    in->at = nul + 1;
    return arena_copy(a, text, len);
}

static void sidecar_take_name(struct cursor *in, char *into, size_t bytes)
{
    const uint8_t *at = cursor_take(in, bytes);
    if (at)
        memcpy(into, at, bytes);
    into[bytes] = '\0';
}

static void sidecar_read_process(struct cursor *in, struct process_facts *p)
{
    p->pid = cursor_u32(in);
    p->parent = cursor_u32(in);
    p->start_real_ns = cursor_u64(in);
    p->start_ns = cursor_u64(in);
    p->end_ns = cursor_u64(in);
    p->cpu_ns = cursor_u64(in);
    p->samples = cursor_u64(in);
    p->sampled_ns = cursor_u64(in);
    p->millihertz = cursor_u64(in);
    p->rate = cursor_u32(in);
    p->event = cursor_u32(in);
    p->clock = cursor_u32(in);
    p->written = cursor_u32(in);
}

static void sidecar_read_text(struct cursor *in, struct sidecar *r)
{
    const char *key = sidecar_take_text(in, &r->arena), *value = sidecar_take_text(in, &r->arena);
    if (!in->failed)
        vec_push(&r->texts, (struct sidecar_text){key, value});
}

/* In a live file a later record of an id replaces the earlier one. */
static bool sidecar_keep_object(struct sidecar *r, const struct sidecar_object *o)
{
    enum { MOST_OBJECTS = 1 << 16 };
    for (size_t i = r->objects.len; i-- > 0;)
        if (r->objects.at[i].id == o->id) {
            r->objects.at[i] = *o;
            return true;
        }
    if (r->objects.len >= MOST_OBJECTS)
        return false;
    vec_push(&r->objects, *o);
    return true;
}

static void sidecar_read_object(struct cursor *in, struct sidecar *r)
{
    struct sidecar_object o = {.id = cursor_u32(in)};
    uint32_t flags = cursor_u32(in);
    o.is_executable = flags & 1;
    o.is_unloaded = flags >> 1 & 1;
    o.start = cursor_u64(in);
    o.end = cursor_u64(in);
    o.bias = cursor_u64(in);
    o.text_low = cursor_u64(in);
    o.text_high = cursor_u64(in);
    o.build_id_bytes = cursor_u32(in);
    cursor_u32(in);
    const uint8_t *id = cursor_take(in, BUILD_ID_BYTES);
    if (id)
        memcpy(o.build_id, id, BUILD_ID_BYTES);
    o.path = sidecar_take_text(in, &r->arena);
    o.gmon = sidecar_take_text(in, &r->arena);
    in->failed |= o.end < o.start || o.text_high < o.text_low || o.build_id_bytes > BUILD_ID_BYTES;
    if (!in->failed)
        in->failed = !sidecar_keep_object(r, &o);
}

static void sidecar_read_arcs(struct cursor *in, struct sidecar *r)
{
    for (size_t n = cursor_left(in) / ARC_BYTES; n > 0; n--) {
        struct arc arc = {.from = cursor_u64(in)};
        arc.self = cursor_u64(in);
        arc.count = cursor_u64(in);
        vec_push(&r->arcs, arc);
    }
}

/* Notes of state 0 are free places. */
static void sidecar_read_threads(struct cursor *in, struct sidecar *r)
{
    for (size_t n = cursor_left(in) / THREAD_BYTES; n > 0; n--) {
        struct sidecar_thread t = {.id = cursor_u32(in)};
        t.state = cursor_u32(in);
        t.start_ns = cursor_u64(in);
        t.end_ns = cursor_u64(in);
        t.cpu_ns = cursor_u64(in);
        t.samples = cursor_u64(in);
        sidecar_take_name(in, t.name, THREAD_NAME_BYTES);
        t.root = cursor_u64(in);
        if (t.state)
            vec_push(&r->threads, t);
    }
}

static void sidecar_read_stacks(struct cursor *in, struct sidecar *r)
{
    for (size_t n = cursor_left(in) / NODE_BYTES; n > 0; n--) {
        struct stack_node node = {.id = cursor_u64(in)};
        node.parent = cursor_u64(in);
        node.address = cursor_u64(in);
        node.hits = cursor_u64(in);
        vec_push(&r->nodes, node);
    }
}

static void sidecar_read_loss(struct cursor *in, struct sidecar *r)
{
    struct sidecar_loss loss = {.reason = cursor_u32(in)};
    cursor_u32(in);
    loss.count = cursor_u64(in);
    loss.text = sidecar_take_text(in, &r->arena);
    if (!in->failed)
        vec_push(&r->losses, loss);
}

static void sidecar_read_mark(struct cursor *in, struct sidecar *r)
{
    struct sidecar_mark m = {.at_ns = cursor_u64(in)};
    m.cpu_ns = cursor_u64(in);
    m.samples = cursor_u64(in);
    m.kind = cursor_u32(in);
    m.thread = cursor_u32(in);
    sidecar_take_name(in, m.name, MARK_NAME_BYTES);
    if (!in->failed)
        vec_push(&r->marks, m);
}

bool sidecar_record(uint32_t tag, struct cursor payload, struct sidecar *out, struct err *e)
{
    struct cursor in = payload;
    switch (tag) {
    case MONARC_SIDE_PROCESS: sidecar_read_process(&in, &out->process); break;
    case MONARC_SIDE_TEXT: sidecar_read_text(&in, out); break;
    case MONARC_SIDE_OBJECT: sidecar_read_object(&in, out); break;
    case MONARC_SIDE_ARCS: sidecar_read_arcs(&in, out); break;
    case MONARC_SIDE_THREADS: sidecar_read_threads(&in, out); break;
    case MONARC_SIDE_STACKS: sidecar_read_stacks(&in, out); break;
    case MONARC_SIDE_LOST: sidecar_read_loss(&in, out); break;
    case MONARC_SIDE_MARK: sidecar_read_mark(&in, out); break;
    default: break;
    }
    return !in.failed ||
           err_at(e, &payload, "the %zu bytes of a record with tag %" PRIu32 " do not make one",
                  cursor_left(&payload), tag);
}

bool sidecar_probe(struct bytes in)
{
    return in.len >= 4 && (bytes_u32(in.at, false) == MONARC_SIDE_MAGIC ||
                           bytes_u32(in.at, true) == MONARC_SIDE_MAGIC);
}

static bool sidecar_read_header(struct cursor *in, struct sidecar *out, struct err *e)
{
    struct cursor start = *in;
    in->big_endian = cursor_left(in) >= 4 && bytes_u32(in->at, true) == MONARC_SIDE_MAGIC;
    uint32_t magic = cursor_u32(in), version = cursor_u32(in), order = cursor_u32(in);
    out->big_endian = in->big_endian;
    uint32_t word = cursor_u32(in);
    if (in->failed)
        return err_at(e, &start, "%zu bytes are too few for a sidecar", cursor_left(&start));
    if (magic != MONARC_SIDE_MAGIC || order != MONARC_BYTE_ORDER)
        return err_at(e, &start, "is not a sidecar of a recorder");
    if (version != MONARC_SIDE_VERSION)
        return err_at(e, &start, "version %" PRIu32 " of the sidecar is not known", version);
    if (word != 4 && word != 8)
        return err_at(e, &start, "a pointer size of %" PRIu32 " bytes is not known", word);
    out->word = (uint8_t)word;
    return true;
}

static bool sidecar_read_end(const struct cursor *where, struct cursor *payload, struct err *e)
{
    struct bytes before = {where->base, cursor_offset(where)};
    uint64_t sum = cursor_u64(payload);
    if (payload->failed || sum != sidecar_checksum(before))
        return err_at(e, where, "the checksum is wrong: the file was damaged");
    return true;
}

bool sidecar_read(struct bytes bytes, const char *name, struct sidecar *out, struct err *e)
{
    struct cursor in = cursor_over(bytes, name);
    if (!sidecar_read_header(&in, out, e))
        return false;
    for (;;) {
        struct cursor where = in;
        uint32_t tag = cursor_u32(&in), n = cursor_u32(&in);
        struct cursor payload = in;
        if (!cursor_take(&in, n) || (n % 8 && !cursor_take(&in, 8 - n % 8)))
            return err_at(e, &where, "the file ends within a record");
        payload.end = payload.at + n;
        if (tag == MONARC_SIDE_END) {
            sidecar_sort_objects(out);
            return sidecar_read_end(&where, &payload, e);
        }
        if (!sidecar_record(tag, payload, out, e))
            return false;
    }
}

/* --- writing --------------------------------------------------------------------------------- */

/* Starts a record; sidecar_end_record() fills in its length. */
static size_t sidecar_begin_record(struct writer *w, uint32_t tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

static void sidecar_end_record(struct writer *w, size_t start)
{
    uint32_t n = (uint32_t)(w->out.len - start), stored = w->big_endian ? __builtin_bswap32(n) : n;
    memcpy(w->out.at + start - 4, &stored, sizeof stored);
    while (w->out.len % 8)
        writer_u8(w, 0);
}

static void sidecar_write_str(struct writer *w, const char *text)
{
    writer_bytes(w, text, strlen(text) + 1);
}

static void sidecar_write_process(struct writer *w, const struct process_facts *p)
{
    size_t start = sidecar_begin_record(w, MONARC_SIDE_PROCESS);
    writer_u32(w, p->pid);
    writer_u32(w, p->parent);
    writer_u64(w, p->start_real_ns);
    writer_u64(w, p->start_ns);
    writer_u64(w, p->end_ns);
    writer_u64(w, p->cpu_ns);
    writer_u64(w, p->samples);
    writer_u64(w, p->sampled_ns);
    writer_u64(w, p->millihertz);
    writer_u32(w, p->rate);
    writer_u32(w, p->event);
    writer_u32(w, p->clock);
    writer_u32(w, p->written);
    sidecar_end_record(w, start);
}

static void sidecar_write_object(struct writer *w, const struct sidecar_object *o)
{
    size_t start = sidecar_begin_record(w, MONARC_SIDE_OBJECT);
    writer_u32(w, o->id);
    writer_u32(w, (o->is_executable ? 1 : 0) | (o->is_unloaded ? 2 : 0));
    writer_u64(w, o->start);
    writer_u64(w, o->end);
    writer_u64(w, o->bias);
    writer_u64(w, o->text_low);
    writer_u64(w, o->text_high);
    writer_u32(w, o->build_id_bytes);
    writer_u32(w, 0);
    writer_bytes(w, o->build_id, BUILD_ID_BYTES);
    sidecar_write_str(w, o->path);
    sidecar_write_str(w, o->gmon);
    sidecar_end_record(w, start);
}

/* Lists are cut so that no record is longer than its length can say. */
enum { MOST_A_RECORD = 1 << 24 };

static void sidecar_write_arcs(struct writer *w, const struct sidecar *r)
{
    for (size_t i = 0; i < r->arcs.len;) {
        size_t start = sidecar_begin_record(w, MONARC_SIDE_ARCS);
        for (size_t end = i + MOST_A_RECORD; i < r->arcs.len && i < end; i++) {
            writer_u64(w, r->arcs.at[i].from);
            writer_u64(w, r->arcs.at[i].self);
            writer_u64(w, r->arcs.at[i].count);
        }
        sidecar_end_record(w, start);
    }
}

static void sidecar_write_stacks(struct writer *w, const struct sidecar *r)
{
    for (size_t i = 0; i < r->nodes.len;) {
        size_t start = sidecar_begin_record(w, MONARC_SIDE_STACKS);
        for (size_t end = i + MOST_A_RECORD; i < r->nodes.len && i < end; i++) {
            writer_u64(w, r->nodes.at[i].id);
            writer_u64(w, r->nodes.at[i].parent);
            writer_u64(w, r->nodes.at[i].address);
            writer_u64(w, r->nodes.at[i].hits);
        }
        sidecar_end_record(w, start);
    }
}

static void sidecar_write_thread(struct writer *w, const struct sidecar_thread *t)
{
    writer_u32(w, t->id);
    writer_u32(w, t->state);
    writer_u64(w, t->start_ns);
    writer_u64(w, t->end_ns);
    writer_u64(w, t->cpu_ns);
    writer_u64(w, t->samples);
    writer_bytes(w, t->name, THREAD_NAME_BYTES);
    writer_u64(w, t->root);
}

static void sidecar_write_mark(struct writer *w, const struct sidecar_mark *m)
{
    size_t start = sidecar_begin_record(w, MONARC_SIDE_MARK);
    writer_u64(w, m->at_ns);
    writer_u64(w, m->cpu_ns);
    writer_u64(w, m->samples);
    writer_u32(w, m->kind);
    writer_u32(w, m->thread);
    writer_bytes(w, m->name, MARK_NAME_BYTES);
    sidecar_end_record(w, start);
}

static void sidecar_write_loss(struct writer *w, const struct sidecar_loss *l)
{
    size_t start = sidecar_begin_record(w, MONARC_SIDE_LOST);
    writer_u32(w, l->reason);
    writer_u32(w, 0);
    writer_u64(w, l->count);
    sidecar_write_str(w, l->text);
    sidecar_end_record(w, start);
}

static void sidecar_write_lists(struct writer *w, const struct sidecar *r)
{
    for (size_t i = 0; i < r->texts.len; i++) {
        size_t start = sidecar_begin_record(w, MONARC_SIDE_TEXT);
        sidecar_write_str(w, r->texts.at[i].key);
        sidecar_write_str(w, r->texts.at[i].value);
        sidecar_end_record(w, start);
    }
    for (size_t i = 0; i < r->objects.len; i++)
        sidecar_write_object(w, &r->objects.at[i]);
    sidecar_write_arcs(w, r);
    size_t start = sidecar_begin_record(w, MONARC_SIDE_THREADS);
    for (size_t i = 0; i < r->threads.len; i++)
        sidecar_write_thread(w, &r->threads.at[i]);
    sidecar_end_record(w, start);
    sidecar_write_stacks(w, r);
    for (size_t i = 0; i < r->marks.len; i++)
        sidecar_write_mark(w, &r->marks.at[i]);
    for (size_t i = 0; i < r->losses.len; i++)
        sidecar_write_loss(w, &r->losses.at[i]);
}

void sidecar_write(struct writer *w, const struct sidecar *r)
{
    w->big_endian = r->big_endian;
    writer_u32(w, MONARC_SIDE_MAGIC);
    writer_u32(w, MONARC_SIDE_VERSION);
    writer_u32(w, MONARC_BYTE_ORDER);
    writer_u32(w, r->word);
    sidecar_write_process(w, &r->process);
    sidecar_write_lists(w, r);
    uint64_t sum = sidecar_checksum((struct bytes){w->out.at, w->out.len});
    size_t start = sidecar_begin_record(w, MONARC_SIDE_END);
    writer_u64(w, sum);
    sidecar_end_record(w, start);
}
