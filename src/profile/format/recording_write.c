/* Writing the file of a recording. The bytes: docs/formats/recording.md.
 *
 * Numbers are LEB128, in the order of the recording's lists; what repeats or grows slowly is
 * written as a difference to the one before: a million samples of one thread take about three bytes
 * each. Texts are interned while the records are written, and STRINGS, which readers need first, is
 * put in front at the end; so the body is built apart and copied once. A list may take any number
 * of bytes: lengths of records have 64 bits. The same recording gives the same bytes, whatever made
 * it, which the fuzz targets check by reading and writing again. */
#include "profile/format/recording_file.h"

#include "base/map.h"
#include "wire/sidecar.h"

/* `w` is the body while lists are written, and then the file. */
struct recording_writer {
    struct writer *w;
    const struct recording *recording;
    struct intern strings;
};

/* A number in LEB128: seven bits a byte, the lowest first. */
static void write_put(struct recording_writer *to, uint64_t value)
{
    writer_leb128(to->w, value);
}

/* Modulo 2^64, as the reader adds it up again: no order of values can overflow. */
static void write_put_difference(struct recording_writer *to, uint64_t value, uint64_t before)
{
    write_put(to, zigzag((int64_t)(value - before)));
}

/* Texts count from 1. 0 is no text at all, which is not the same as an empty one. */
static void write_put_text(struct recording_writer *to, const char *text)
{
    write_put(to, text ? intern(&to->strings, text, strlen(text)) + UINT64_C(1) : 0);
}

/* Starts a record; write_end_record() fills in its length. */
static size_t write_begin_record(struct recording_writer *to, uint32_t tag)
{
    writer_u32(to->w, tag);
    writer_u64(to->w, 0);
    return to->w->out.len;
}

static void write_end_record(struct recording_writer *to, size_t start)
{
    /* Over the zero in front of the payload, in the machine's order, which is the file's. */
    uint64_t n = to->w->out.len - start;
    memcpy(to->w->out.at + start - sizeof n, &n, sizeof n);
}

/*     kind │ bits │ path │ process + 1 │ low │ high - low │ n │ n bytes of build-id
 *
 * Objects are few and their ranges far apart: differences would gain nothing. */
static void write_object(struct recording_writer *to, size_t i)
{
    const struct recording_object *o = &to->recording->objects.at[i];
    write_put(to, o->kind);
    write_put(to, (o->is_deleted ? RECORDING_OBJECT_DELETED : 0) |
                      (o->has_unwind ? RECORDING_OBJECT_HAS_UNWIND : 0) |
                      (o->is_listed ? RECORDING_OBJECT_LISTED : 0) |
                      (o->is_read ? RECORDING_OBJECT_READ : 0));
    write_put_text(to, o->path);
    write_put(to, o->process == RECORDING_NONE ? 0 : o->process + UINT64_C(1));
    write_put(to, o->low);
    write_put(to, o->high - o->low);
    write_put(to, o->build_id_bytes);
    writer_bytes(to->w, o->build_id, o->build_id_bytes);
}

/* Starts go by differences within an object. */
static void write_symbol(struct recording_writer *to, size_t i)
{
    const struct recording_symbol *s = &to->recording->symbols.at[i];
    static const struct recording_symbol none;
    const struct recording_symbol *before = i ? s - 1 : &none;
    write_put(to, s->object - before->object);
    write_put(to, s->object == before->object ? s->start - before->start : s->start);
    write_put(to, s->size);
    write_put_text(to, s->name);
}

/* The bytes go as they are: what an excerpt says is of no concern here. */
static void write_excerpt(struct recording_writer *to, size_t i)
{
    const struct recording_excerpt *x = &to->recording->excerpts.at[i];
    write_put(to, x->object);
    write_put(to, x->bytes.len);
    writer_bytes(to->w, x->bytes.at, x->bytes.len);
}

/*     n │ {key │ value} │ has a span │ [16 + 8 bytes] */
static void write_label_set(struct recording_writer *to, size_t i)
{
    const struct recording *r = to->recording;
    const struct recording_label_set *set = &r->label_sets.at[i + 1];
    write_put(to, set->len);
    for (uint32_t k = 0; k < set->len; k++) {
        write_put_text(to, r->labels.at[set->first + k].key);
        write_put_text(to, r->labels.at[set->first + k].value);
    }
    write_put(to, set->has_span);
    if (set->has_span) {
        writer_bytes(to->w, set->trace, sizeof set->trace);
        writer_bytes(to->w, set->span, sizeof set->span);
    }
}

/* Which set each sample has, as stretches of samples that follow each other and have one: a request
 * is mostly longer than the distance of samples.
 *
 *     samples without any before it │ length │ set */
static void write_labelled(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    size_t runs = 0, passed = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        runs += r->samples.at[i].labels &&
                (!i || r->samples.at[i - 1].labels != r->samples.at[i].labels);
    size_t start = write_begin_record(to, RECORDING_TAG_LABELLED);
    write_put(to, runs);
    for (size_t i = 0, end; i < r->samples.len; i = end) {
        uint32_t set = r->samples.at[i].labels;
        for (end = i + 1; end < r->samples.len && r->samples.at[end].labels == set;)
            end++;
        if (!set)
            continue;
        write_put(to, i - passed);
        write_put(to, end - i);
        write_put(to, set);
        passed = end;
    }
    write_end_record(to, start);
}

/* A record of `len` items, each written by `write`. */
static void write_list(struct recording_writer *to, uint32_t tag, size_t len,
                       void (*write)(struct recording_writer *, size_t))
{
    size_t start = write_begin_record(to, tag);
    write_put(to, len);
    for (size_t i = 0; i < len; i++)
        write(to, i);
    write_end_record(to, start);
}

/* A node is mostly the child of the one before it and in the same object as its parent; addresses
 * go by differences to the one written last for the object. */
static void write_nodes(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    struct arena scratch = {0};
    /* By object: code jumps between libraries, and within each it stays near. */
    uint64_t *last = ARENA_NEW(&scratch, uint64_t, r->objects.len + 1);
    size_t start = write_begin_record(to, RECORDING_TAG_NODES);
    /* Without the root, which every recording has. */
    write_put(to, r->nodes.len - 1);
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        uint32_t expected = n->parent ? r->nodes.at[n->parent].object : 0;
        /* Parents precede their children, so the distance is never negative. */
        write_put(to, (uint64_t)(i - 1 - n->parent) << 1 | (n->object != expected));
        if (n->object != expected)
            write_put(to, n->object);
        write_put_difference(to, n->address, last[n->object]);
        last[n->object] = n->address;
    }
    write_end_record(to, start);
    arena_deinit(&scratch);
}

/* Samples come by slice, thread and event, so that mostly these are as before, the count is 1, the
 * weight nominal: then a sample is its node's difference alone. */
static void write_sample(struct recording_writer *to, size_t i)
{
    const struct recording_sample *s = &to->recording->samples.at[i];
    static const struct recording_sample none;
    const struct recording_sample *before = i ? s - 1 : &none;
    /* What the reader assumes when no weight is written; both must compute it the same way. */
    uint64_t nominal = s->count * to->recording->events.at[s->event].period;
    bool is_moved =
        s->slice != before->slice || s->thread != before->thread || s->event != before->event;
    write_put(to, zigzag((int64_t)s->node - before->node) << RECORDING_SAMPLE_BITS |
                      (is_moved ? RECORDING_SAMPLE_MOVED : 0) |
                      (s->weight != nominal ? RECORDING_SAMPLE_WEIGHTED : 0) |
                      (s->count != 1 ? RECORDING_SAMPLE_MANY : 0));
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

static void write_waker(struct recording_writer *to, size_t i)
{
    const struct recording_wait *w = &to->recording->waits.at[i];
    write_put(to, w->woken);
    if (w->woken >= RECORDING_WAKER_SOFT)
        write_put(to, w->waker);
    if (w->woken)
        write_put(to, w->woke_ns);
}

/* The records that have no table of fields. */
static void write_by_hand(struct recording_writer *to, uint32_t tag)
{
    const struct recording *r = to->recording;
    switch (tag) {
    case RECORDING_TAG_OBJECTS: write_list(to, tag, r->objects.len, write_object); break;
    case RECORDING_TAG_SYMBOLS: write_list(to, tag, r->symbols.len, write_symbol); break;
    case RECORDING_TAG_EXCERPTS: write_list(to, tag, r->excerpts.len, write_excerpt); break;
    case RECORDING_TAG_NODES: write_nodes(to); break;
    case RECORDING_TAG_SAMPLES: write_list(to, tag, r->samples.len, write_sample); break;
    case RECORDING_TAG_LABELS:
        if (r->label_sets.len > 1)
            write_list(to, tag, r->label_sets.len - 1, write_label_set);
        break;
    case RECORDING_TAG_LABELLED:
        if (r->label_sets.len > 1)
            write_labelled(to);
        break;
    case RECORDING_TAG_WAKERS:
        if (r->reports_wakes)
            write_list(to, tag, r->waits.len, write_waker);
        break;
    default: break; /* tests/profile/format asks for each */
    }
}

/* --- by the tables of fields ------------------------------------------------------------------ */

/* A field of an item; `before` is the item in front of it, or one of zeros. */
static void write_field(struct recording_writer *to, const struct recording_field *f,
                        const void *item, const void *before)
{
    if (recording_field_is_text(f)) {
        write_put_text(to, recording_field_text(item, f));
        return;
    }
    struct recording_field other = {.at = f->other, .bytes = f->bytes};
    uint64_t value = recording_field_get(item, f);
    switch (f->coding) {
    case RECORDING_AS_SIGNED: write_put(to, zigzag((int32_t)value)); break;
    case RECORDING_AS_TWO_FLAGS:
        write_put(to, value | recording_field_get(item, &other) << 1);
        break;
    case RECORDING_AS_INDEX: write_put(to, value == RECORDING_NONE ? 0 : value + 1); break;
    case RECORDING_AS_STEP: write_put_difference(to, value, recording_field_get(before, f)); break;
    case RECORDING_AS_RISE: write_put(to, value - recording_field_get(before, f)); break;
    case RECORDING_AS_NEAR:
        write_put_difference(to, value, recording_field_get(item, &other));
        break;
    case RECORDING_AS_BEYOND:
        write_put(to, value ? value + 1 - recording_field_get(item, &other) : 0);
        break;
    default: write_put(to, value);
    }
}

static void write_fields(struct recording_writer *to, const struct recording_record *record,
                         const void *item, const void *before)
{
    for (uint32_t i = 0; i < record->len; i++)
        write_field(to, &record->fields[i], item, before);
}

static bool write_is_there(const struct recording_field *f, const void *item)
{
    return recording_field_is_text(f) ? recording_field_text(item, f) != NULL
                                      : recording_field_get(item, f) != 0;
}

/* The items of which the field is known, by their numbers. */
static void write_sparse(struct recording_writer *to, const struct recording_record *record,
                         struct recording_items items)
{
    size_t known = 0;
    for (size_t i = 0; i < items.len; i++)
        known += write_is_there(record->fields, items.at + i * items.item_bytes);
    if (!known)
        return;
    size_t start = write_begin_record(to, record->tag);
    write_put(to, known);
    for (size_t i = 0; i < items.len; i++) {
        const uint8_t *item = items.at + i * items.item_bytes;
        if (write_is_there(record->fields, item)) {
            write_put(to, i);
            write_field(to, record->fields, item, NULL);
        }
    }
    write_end_record(to, start);
}

static void write_items(struct recording_writer *to, const struct recording_record *record,
                        struct recording_items items)
{
    /* As long as the longest item: what is in front of the first. */
    static const union {
        struct recording_process process;
        struct recording_object object;
        struct recording_link link;
    } none;
    size_t start = write_begin_record(to, record->tag);
    write_put(to, items.len);
    for (size_t i = 0; i < items.len; i++) {
        const uint8_t *item = items.at + i * items.item_bytes;
        write_fields(to, record, item, i ? item - items.item_bytes : (const void *)&none);
    }
    write_end_record(to, start);
}

/* All lists but the strings, which are known only then. Lists that most recordings lack are left
 * out when they are empty. */
static void write_lists(struct recording_writer *to)
{
    for (size_t i = 0; i < recording_records_len; i++) {
        const struct recording_record *record = &recording_records[i];
        if (record->form == RECORDING_ONE) {
            size_t start = write_begin_record(to, record->tag);
            write_fields(to, record, to->recording, NULL);
            write_end_record(to, start);
            continue;
        }
        struct recording_items items = recording_items_of(to->recording, record->list);
        if (record->form == RECORDING_SPARSE)
            write_sparse(to, record, items);
        else if (items.len || record->always)
            record->form == RECORDING_BY_HAND ? write_by_hand(to, record->tag)
                                              : write_items(to, record, items);
    }
}

static void write_string(struct recording_writer *to, size_t i)
{
    write_put(to, to->strings.lengths.at[i]);
    writer_bytes(to->w, to->strings.texts.at[i], to->strings.lengths.at[i]);
}

/* Body first, into memory of its own: which texts there are is known only then. */
void recording_write(struct writer *w, const struct recording *r)
{
    struct writer body = {0};
    struct recording_writer to = {.w = &body, .recording = r};
    size_t file_start = w->out.len;
    write_lists(&to);
    /* From here on into the file. `body` refers to texts by number, and their list is complete. */
    to.w = w;
    w->big_endian = false;
    writer_u32(w, MONARC_SIDE_MAGIC);
    writer_u32(w, RECORDING_FILE_VERSION);
    writer_u32(w, MONARC_BYTE_ORDER);
    write_list(&to, RECORDING_TAG_STRINGS, to.strings.texts.len, write_string);
    writer_bytes(w, body.out.at, body.out.len);
    /* Over all that precedes the record of the sum, the magic included. */
    uint64_t sum =
        recording_checksum((struct bytes){w->out.at + file_start, w->out.len - file_start});
    size_t start = write_begin_record(&to, RECORDING_TAG_END);
    writer_u64(w, sum);
    write_end_record(&to, start);
    writer_deinit(&body);
    intern_deinit(&to.strings);
}
