/* Reading the file of a recording: version 2 of monarc.side. The bytes: docs/formats/recording.md.
 *
 *      magic, version, byte order | record | record | ... | END with the checksum
 *      record: u32 tag, u64 n, n bytes of numbers in LEB128
 *
 * Records refer to what precedes them: texts by their number in STRINGS, samples to nodes, nodes to
 * objects. A reader of a record sees a cursor over its payload alone, and lists grow by what was
 * there, never by a claim. Differences are taken modulo 2^64, so that no order of values can
 * overflow. Unknown records are passed over: a file of a later monarc is read as far as this one
 * understands it.
 *
 * Refused: other versions, big-endian files, records that are cut off or longer than what they
 * hold, a wrong checksum, bytes after the end, and whatever recording_check() refuses. What can be
 * read is a valid recording, so that no later code checks an index again. */
#include "profile/format/recording_file.h"

#include "wire/sidecar.h"

#include <inttypes.h>

/* State that readers of records share. `in` spans one record's payload; any of them may set
 * in.failed, after which everything reads as 0 until the record's end says so. */
struct recording_reader {
    struct cursor in;
    struct recording *recording;
    struct arena scratch;
    VEC(const char *) strings;
    uint64_t *last; /* by object: its last node's address */
    size_t last_len;
    size_t labelled; /* samples that are known to have a set, or none */
    size_t wakers;   /* waits of which it is known who ended them */
    /* Items that further records have reached. */
    size_t beside[RECORDING_TAGS];
};

/* Wraps around: any value can follow any other. */
static uint64_t read_take_difference(struct recording_reader *from, uint64_t before)
{
    return before + (uint64_t)cursor_zigzag(&from->in);
}

/* NULL for none. */
static const char *read_take_text(struct recording_reader *from)
{
    uint64_t number = cursor_leb128(&from->in);
    if (number > from->strings.len)
        from->in.failed = true;
    return number && !from->in.failed ? from->strings.at[number - 1] : NULL;
}

/* An index plus one; RECORDING_NONE for 0. Whether there is such an item is recording_check()'s
 * matter. */
static uint32_t read_take_index(struct recording_reader *from)
{
    uint64_t number = cursor_leb128(&from->in);
    from->in.failed |= number > UINT32_MAX;
    return number ? (uint32_t)(number - 1) : RECORDING_NONE;
}

/* --- one item each --------------------------------------------------------------------------- */

/* Texts end in NUL in memory, so one that has a NUL within is refused. */
static void read_string(struct recording_reader *from)
{
    uint64_t len = cursor_leb128(&from->in);
    const uint8_t *at = len <= cursor_left(&from->in) ? cursor_take(&from->in, len) : NULL;
    if (!at || memchr(at, 0, len))
        from->in.failed = true;
    else
        vec_push(&from->strings, arena_copy(&from->recording->arena, (const char *)at, len));
}

/*     kind │ bits │ path │ process + 1 │ low │ high - low │ n │ n bytes of build-id */
static void read_object(struct recording_reader *from)
{
    struct recording_object o = {.kind = cursor_leb128_u32(&from->in)};
    uint64_t bits = cursor_leb128(&from->in);
    o.is_deleted = bits & RECORDING_OBJECT_DELETED;
    o.has_unwind = bits & RECORDING_OBJECT_HAS_UNWIND;
    o.is_listed = bits & RECORDING_OBJECT_LISTED;
    o.is_read = bits & RECORDING_OBJECT_READ;
    o.path = read_take_text(from);
    o.process = read_take_index(from);
    o.low = cursor_leb128(&from->in);
    /* An extent, not an end: it is short, and only a sum that wraps around could lie below the
     * start. */
    uint64_t extent = cursor_leb128(&from->in);
    o.high = o.low + extent;
    o.build_id_bytes = cursor_leb128_u32(&from->in);
    /* The length of the build-id is checked before that many bytes go into an array of fixed
     * size. */
    bool is_sane = bits <= RECORDING_OBJECT_BITS && o.high >= o.low &&
                   o.build_id_bytes <= RECORDING_BUILD_ID_BYTES;
    const uint8_t *id = is_sane ? cursor_take(&from->in, o.build_id_bytes) : NULL;
    if (!id) {
        from->in.failed = true;
        return;
    }
    memcpy(o.build_id, id, o.build_id_bytes);
    vec_push(&from->recording->objects, o);
}

/* The start is a difference only within an object. */
static void read_symbol(struct recording_reader *from)
{
    struct recording *r = from->recording;
    struct recording_symbol before = {0};
    if (r->symbols.len)
        before = r->symbols.at[r->symbols.len - 1];
    uint32_t step = cursor_leb128_u32(&from->in);
    struct recording_symbol s = {.object = before.object + step};
    /* Objects only grow, so less than before means that the sum wrapped around. */
    from->in.failed |= s.object < before.object;
    s.start = cursor_leb128(&from->in) + (step ? 0 : before.start);
    s.size = cursor_leb128(&from->in);
    s.name = read_take_text(from);
    vec_push(&r->symbols, s);
}

/* Copied, not read: what an excerpt says is understood, or refused, by those who need it. */
static void read_excerpt(struct recording_reader *from)
{
    uint32_t object = cursor_leb128_u32(&from->in);
    uint64_t len = cursor_leb128(&from->in);
    const uint8_t *at = len <= cursor_left(&from->in) ? cursor_take(&from->in, (size_t)len) : NULL;
    if (!at || !len) {
        from->in.failed = true;
        return;
    }
    uint8_t *copy = arena_alloc(&from->recording->arena, (size_t)len);
    memcpy(copy, at, (size_t)len);
    vec_push(&from->recording->excerpts, (struct recording_excerpt){object, {copy, (size_t)len}});
}

/* The empty set, 0, is not in the file. Texts are checked with all else. */
static void read_label_set(struct recording_reader *from)
{
    struct recording *r = from->recording;
    struct recording_label_set set = {.first = (uint32_t)r->labels.len};
    if (!r->label_sets.len)
        vec_push(&r->label_sets, (struct recording_label_set){0});
    uint64_t len = cursor_leb128(&from->in);
    for (; set.len < len && !from->in.failed; set.len++) {
        struct recording_label label = {.key = read_take_text(from)};
        label.value = read_take_text(from);
        vec_push(&r->labels, label);
    }
    uint64_t has_span = cursor_leb128(&from->in);
    set.has_span = has_span == 1;
    from->in.failed |= has_span > 1;
    const uint8_t *ids =
        set.has_span ? cursor_take(&from->in, sizeof set.trace + sizeof set.span) : NULL;
    if (ids) {
        memcpy(set.trace, ids, sizeof set.trace);
        memcpy(set.span, ids + sizeof set.trace, sizeof set.span);
    }
    vec_push(&r->label_sets, set);
}

/* A stretch of samples that have one set. The samples are there. */
static void read_labelled(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t skipped = cursor_leb128(&from->in), len = cursor_leb128(&from->in);
    uint32_t set = cursor_leb128_u32(&from->in);
    size_t left = r->samples.len - from->labelled;
    if (from->in.failed || skipped > left || len > left - skipped) {
        from->in.failed = true;
        return;
    }
    from->labelled += skipped;
    for (; len; len--)
        r->samples.at[from->labelled++].labels = set;
}

/* One for each wait, in their order. */
static void read_waker(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint32_t woken = cursor_leb128_u32(&from->in);
    if (from->wakers >= r->waits.len) {
        from->in.failed = true;
        return;
    }
    r->reports_wakes = true;
    struct recording_wait *w = &r->waits.at[from->wakers++];
    w->woken = woken;
    if (woken >= RECORDING_WAKER_SOFT)
        w->waker = cursor_leb128_u32(&from->in);
    if (woken)
        w->woke_ns = cursor_leb128(&from->in);
}

/* Node 0, the root, is not in the file. Objects precede nodes, so there is a last address for
 * each. */
static void read_prepare_nodes(struct recording_reader *from)
{
    struct recording *r = from->recording;
    if (!r->nodes.len)
        vec_push(&r->nodes,
                 (struct recording_node){.parent = RECORDING_NONE, .object = RECORDING_NONE});
    from->last = ARENA_NEW(&from->scratch, uint64_t, r->objects.len + 1);
    from->last_len = r->objects.len;
}

/* The parent is written as the distance back, so that it cannot follow the node. The object is
 * mostly the parent's, the address near the last one of its object. */
static void read_node(struct recording_reader *from)
{
    struct recording *r = from->recording;
    /*     distance back << 1 | object differs │ [object] │ address - last of the object
     *
     * A distance of 0 is the node just before. `last` is indexed by object, so the number is
     * checked before that. */
    uint64_t head = cursor_leb128(&from->in), back = head >> 1;
    if (from->in.failed || back >= r->nodes.len || r->nodes.len >= RECORDING_NONE) {
        from->in.failed = true;
        return;
    }
    struct recording_node n = {.parent = (uint32_t)(r->nodes.len - 1 - back)};
    uint32_t expected = n.parent ? r->nodes.at[n.parent].object : 0;
    n.object = head & 1 ? cursor_leb128_u32(&from->in) : expected;
    if (n.object >= from->last_len) {
        from->in.failed = true;
        return;
    }
    n.address = from->last[n.object] = read_take_difference(from, from->last[n.object]);
    vec_push(&r->nodes, n);
}

/* Fields that are missing are the sample's before; the weight is nominally what the count makes
 * with the event's period. */
static void read_sample(struct recording_reader *from)
{
    struct recording *r = from->recording;
    struct recording_sample s = {0};
    if (r->samples.len)
        s = r->samples.at[r->samples.len - 1];
    /*     node's difference << 3 | flags │ [slice, thread, event] │ [count] │ [weight] */
    uint64_t head = cursor_leb128(&from->in), node = head >> RECORDING_SAMPLE_BITS;
    s.node += (uint32_t)(node >> 1 ^ -(node & 1));
    if (head & RECORDING_SAMPLE_MOVED) {
        s.slice = (uint32_t)read_take_difference(from, s.slice);
        s.thread = (uint32_t)read_take_difference(from, s.thread);
        s.event = cursor_leb128_u32(&from->in);
    }
    s.count = head & RECORDING_SAMPLE_MANY ? cursor_leb128_u32(&from->in) : 1;
    /* Two nodes of 32 bits differ by 33 bits at the most, sign included; more is no difference. */
    if (s.event >= r->events.len || node > (UINT64_C(1) << 33)) {
        from->in.failed = true;
        return;
    }
    s.weight = s.count * r->events.at[s.event].period;
    if (head & RECORDING_SAMPLE_WEIGHTED)
        s.weight = read_take_difference(from, s.weight);
    vec_push(&r->samples, s);
}

/* --- records --------------------------------------------------------------------------------- */

/* Of the records that have no table of fields, by tag. */
static void (*const READERS[RECORDING_TAGS])(struct recording_reader *) = {
    [RECORDING_TAG_STRINGS] = read_string,   [RECORDING_TAG_OBJECTS] = read_object,
    [RECORDING_TAG_SYMBOLS] = read_symbol,   [RECORDING_TAG_NODES] = read_node,
    [RECORDING_TAG_SAMPLES] = read_sample,   [RECORDING_TAG_EXCERPTS] = read_excerpt,
    [RECORDING_TAG_LABELS] = read_label_set, [RECORDING_TAG_LABELLED] = read_labelled,
    [RECORDING_TAG_WAKERS] = read_waker,
};

/* A field of an item, or of the recording itself. `before` is the item in front, or NULL. Whether
 * what an index refers to is there is recording_check()'s matter. */
static void read_field(struct recording_reader *from, const struct recording_field *f, void *item,
                       const void *before)
{
    struct cursor *in = &from->in;
    /* What has room in the field; a text's bytes are no number. */
    const uint64_t most = f->bytes < sizeof most ? (UINT64_C(1) << 8 * f->bytes) - 1 : UINT64_MAX;
    if (f->coding == RECORDING_AS_NUMBER) { /* most are */
        uint64_t number = cursor_leb128(in);
        in->failed |= number > most;
        recording_field_set(item, f, number);
        return;
    }
    if (recording_field_is_text(f)) {
        const char *text = read_take_text(from);
        bool has_room = f->coding != RECORDING_AS_CHARACTERS || (text && strlen(text) < f->bytes);
        in->failed |= !has_room;
        if (has_room)
            recording_field_set_text(item, f, text);
        return;
    }
    struct recording_field other = {.at = f->other, .bytes = f->bytes};
    uint64_t was = before ? recording_field_get(before, f) : 0, value = 0;
    int64_t number;
    switch (f->coding) {
    case RECORDING_AS_SIGNED:
        number = cursor_zigzag(in);
        in->failed |= number != (int32_t)number;
        value = (uint32_t)number;
        break;
    case RECORDING_AS_FLAG:
        value = cursor_leb128(in);
        in->failed |= value > 1; /* damage, not another way to say true */
        break;
    case RECORDING_AS_TWO_FLAGS:
        value = cursor_leb128(in);
        in->failed |= value > 3;
        recording_field_set(item, &other, value >> 1 & 1);
        value &= 1;
        break;
    case RECORDING_AS_INDEX:
        value = cursor_leb128(in);
        in->failed |= value > most;
        value = value ? value - 1 : RECORDING_NONE;
        break;
    case RECORDING_AS_STEP: value = read_take_difference(from, was); break;
    case RECORDING_AS_RISE: value = was + cursor_leb128_u32(in); break;
    case RECORDING_AS_NEAR:
        value = read_take_difference(from, recording_field_get(item, &other));
        break;
    case RECORDING_AS_BEYOND:
        value = cursor_leb128(in);
        value = value ? recording_field_get(item, &other) + value - 1 : 0;
        break;
    default: break;
    }
    recording_field_set(item, f, value);
}

/* `n` items of a record. Further fields go to the items of a list in their order, or to those whose
 * numbers precede them; the list is there already. New items get their memory at once, since each
 * field takes a byte or more, and those are there. */
static void read_items(struct recording_reader *from, const struct recording_record *record,
                       uint64_t n)
{
    struct recording_items items = recording_items_of(from->recording, record->list);
    size_t next = record->form == RECORDING_ITEMS ? items.len : from->beside[record->tag];
    if (n > cursor_left(&from->in) / record->len) {
        from->in.failed = true;
        return;
    }
    if (record->form == RECORDING_ITEMS && n) {
        recording_items_add(from->recording, record->list, n);
        items = recording_items_of(from->recording, record->list);
    }
    for (; n && !from->in.failed; n--) {
        uint64_t number = record->form == RECORDING_SPARSE ? cursor_leb128(&from->in) : next++;
        if (number >= items.len) {
            from->in.failed = true;
            return;
        }
        uint8_t *item = items.at + number * items.item_bytes;
        for (uint32_t i = 0; i < record->len; i++)
            read_field(from, &record->fields[i], item, number ? item - items.item_bytes : NULL);
    }
    from->beside[record->tag] = next;
}

/* Room for a list as its length says: every item takes a byte or more, which are there. */
static void read_reserve(struct recording_reader *from, uint32_t tag, size_t items)
{
    struct recording *r = from->recording;
    if (tag == RECORDING_TAG_NODES)
        vec_reserve(&r->nodes, r->nodes.len + items);
    if (tag == RECORDING_TAG_SAMPLES)
        vec_reserve(&r->samples, r->samples.len + items);
}

/* RUN is no list. An item of the others takes at least a byte, so the length that a list claims is
 * checked against the bytes before room is made for it. */
static void read_record(struct recording_reader *from, uint32_t tag)
{
    const struct recording_record *record = recording_record_of(tag);
    if (record && record->form == RECORDING_ONE) {
        for (uint32_t i = 0; i < record->len; i++)
            read_field(from, &record->fields[i], from->recording, NULL);
        return;
    }
    uint64_t items = cursor_leb128(&from->in);
    if (items > cursor_left(&from->in)) {
        from->in.failed = true;
        return;
    }
    if (tag == RECORDING_TAG_NODES)
        read_prepare_nodes(from);
    read_reserve(from, tag, items);
    if (!READERS[tag])
        read_items(from, record, items);
    for (; READERS[tag] && items && !from->in.failed; items--)
        READERS[tag](from);
}

/* A tag that is not known is a later monarc's, and its record is passed over. */
static bool read_is_known(uint32_t tag)
{
    return tag == RECORDING_TAG_STRINGS || recording_record_of(tag);
}

/* Version 1 has the same magic: it is a recorder's within a process, and sidecar.h's. */
bool recording_probe(struct bytes in)
{
    return in.len >= 8 && bytes_u32(in.at, false) == MONARC_SIDE_MAGIC &&
           bytes_u32(in.at + 4, false) == RECORDING_FILE_VERSION;
}

static bool read_header(struct cursor *in, struct err *e)
{
    /* Errors of the header are about the file's start, not about where reading stopped. */
    struct cursor start = *in;
    uint32_t magic = cursor_u32(in), version = cursor_u32(in), order = cursor_u32(in);
    if (in->failed)
        return err_at(e, &start, "%zu bytes are too few for a recording", cursor_left(&start));
    if (magic == __builtin_bswap32(MONARC_SIDE_MAGIC))
        return err_at(e, &start, "is a big-endian recording; read it on a machine of that order");
    if (magic != MONARC_SIDE_MAGIC || order != MONARC_BYTE_ORDER)
        return err_at(e, &start, "is not a recording");
    if (version != RECORDING_FILE_VERSION)
        return err_at(e, &start, "version %" PRIu32 " of recordings is not known", version);
    return true;
}

/* END must be the last, and its sum that of everything in front of it. */
static bool read_end(const struct cursor *where, struct cursor payload, const struct cursor *in,
                     struct err *e)
{
    uint64_t sum = cursor_u64(&payload);
    if (payload.failed || cursor_left(&payload) ||
        sum != recording_checksum((struct bytes){where->base, cursor_offset(where)}))
        return err_at(e, where, "the checksum is wrong: the file was damaged");
    return !cursor_left(in) || err_at(e, in, "%zu bytes follow the end", cursor_left(in));
}

static bool read_records(struct recording_reader *from, struct cursor in, struct err *e)
{
    for (;;) {
        struct cursor where = in;
        uint32_t tag = cursor_u32(&in);
        uint64_t n = cursor_u64(&in);
        struct cursor payload = in;
        if (in.failed || n > cursor_left(&in) || !cursor_take(&in, n))
            return err_at(e, &where, "the file ends within a record");
        /* A reader sees its own record alone. It can neither run into the next one, nor leave bytes
         * over without the check below noticing. */
        payload.end = payload.at + n;
        if (tag == RECORDING_TAG_END)
            return read_end(&where, payload, &in, e);
        if (!read_is_known(tag))
            continue;
        from->in = payload;
        read_record(from, tag);
        if (from->in.failed || cursor_left(&from->in))
            return err_at(e, &payload,
                          "the %" PRIu64 " bytes of a record with tag %" PRIu32 " do not make one",
                          n, tag);
    }
}

bool recording_read(struct bytes bytes, const char *name, struct recording *out, struct err *e)
{
    struct recording_reader from = {.recording = out};
    struct cursor in = cursor_over(bytes, name);
    struct err why = {0};
    /* Most indices are checked last, once all lists are there: some point forwards in the file. */
    bool ok = read_header(&in, e) && read_records(&from, in, e) &&
              (recording_check(out, &why) || err_in(e, name, "%s", why.line));
    vec_free(&from.strings);
    arena_deinit(&from.scratch);
    return ok;
}
