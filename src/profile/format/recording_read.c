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
    size_t labelled;                     /* samples that are known to have a set, or none */
    size_t link_errors, transfer_errors; /* links and transfers of which it is known how sure */
    size_t wakers;                       /* waits of which it is known who ended them */
};

/* A number all the same. More than 1 is damage, not another way to say true. */
static bool read_take_bool(struct recording_reader *from)
{
    uint64_t value = cursor_leb128(&from->in);
    from->in.failed |= value > 1;
    return value;
}

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

/* Fields have no names in the file: the order is write_facts()'s, and no field may be missing. */
static void read_facts(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t machine = cursor_leb128(&from->in);
    from->in.failed |= machine > UINT16_MAX;
    r->machine = (uint16_t)machine;
    r->method = cursor_leb128_u32(&from->in);
    r->rate = cursor_leb128_u32(&from->in);
    r->cpus = cursor_leb128_u32(&from->in);
    r->start_real_ns = cursor_leb128(&from->in);
    r->length_ns = cursor_leb128(&from->in);
    r->slice_ns = cursor_leb128(&from->in);
    r->user_ns = cursor_leb128(&from->in);
    r->system_ns = cursor_leb128(&from->in);
    r->cpu_ns = cursor_leb128(&from->in);
    r->monitor_ns = cursor_leb128(&from->in);
    r->cost_ns = cursor_leb128(&from->in);
    r->stacks = cursor_leb128(&from->in);
    r->whole = cursor_leb128(&from->in);
}

/*     key │ value
 *
 * Keys repeat: each argument of the program is one pair. */
static void read_text(struct recording_reader *from)
{
    const char *key = read_take_text(from), *value = read_take_text(from);
    vec_push(&from->recording->texts, (struct recording_text){key, value});
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

/*     pid │ parent │ program + 1 │ start, end, user, system │ bits │ z status │ name │ why unseen
 *
 * The program is an object, and objects come later: whether it exists is checked at the end. */
static void read_process(struct recording_reader *from)
{
    struct recording_process p = {.pid = cursor_leb128_u32(&from->in)};
    p.parent_pid = cursor_leb128_u32(&from->in);
    p.program = read_take_index(from);
    p.start_ns = cursor_leb128(&from->in);
    p.end_ns = cursor_leb128(&from->in);
    p.user_ns = cursor_leb128(&from->in);
    p.system_ns = cursor_leb128(&from->in);
    uint64_t bits = cursor_leb128(&from->in);
    p.has_cpu = bits & RECORDING_PROCESS_HAS_CPU;
    p.has_ended = bits & RECORDING_PROCESS_HAS_ENDED;
    /* Read whole and cut afterwards: what does not survive the cut to 32 bits is refused below. */
    int64_t status = cursor_zigzag(&from->in);
    p.status = (int32_t)status;
    p.name = read_take_text(from);
    p.why_unseen = read_take_text(from);
    from->in.failed |=
        p.status != status || bits > (RECORDING_PROCESS_HAS_CPU | RECORDING_PROCESS_HAS_ENDED);
    vec_push(&from->recording->processes, p);
}

/* The process precedes it in the file, so its number is checked here, where it is used as an
 * index. */
static void read_command(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t process = cursor_leb128(&from->in);
    const char *command = read_take_text(from);
    if (process < r->processes.len)
        r->processes.at[process].command = command;
    else
        from->in.failed = true;
}

/* Belongs to a process that PROCESSES listed before. */
static void read_peak(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t process = cursor_leb128(&from->in), bytes = cursor_leb128(&from->in);
    if (process < r->processes.len)
        r->processes.at[process].peak_bytes = bytes;
    else
        from->in.failed = true;
}

static void read_thread(struct recording_reader *from)
{
    struct recording_thread t = {.process = cursor_leb128_u32(&from->in)};
    t.tid = cursor_leb128_u32(&from->in);
    t.start_ns = cursor_leb128(&from->in);
    t.end_ns = cursor_leb128(&from->in);
    t.has_cpu = read_take_bool(from);
    t.cpu_ns = cursor_leb128(&from->in);
    const char *name = read_take_text(from);
    size_t len = name ? strlen(name) : 0;
    /* The array has one byte more, which is 0 from the start and ends the name. */
    from->in.failed |= !name || len > RECORDING_THREAD_NAME_BYTES;
    if (!from->in.failed)
        memcpy(t.name, name, len);
    vec_push(&from->recording->threads, t);
}

/* A period of 0 is right: samples of this event differ, and each has its weight. */
static void read_event(struct recording_reader *from)
{
    struct recording_event event = {.name = read_take_text(from)};
    event.unit = cursor_leb128_u32(&from->in);
    event.period = cursor_leb128(&from->in);
    event.user_only = read_take_bool(from);
    vec_push(&from->recording->events, event);
}

static void read_mark(struct recording_reader *from)
{
    struct recording_mark m = {.at_ns = cursor_leb128(&from->in)};
    m.kind = cursor_leb128_u32(&from->in);
    m.process = read_take_index(from);
    m.tid = cursor_leb128_u32(&from->in);
    m.name = read_take_text(from);
    vec_push(&from->recording->marks, m);
}

/* In which of the two the amount is follows from the kind; the other is 0. */
static void read_loss(struct recording_reader *from)
{
    struct recording_loss l = {.kind = cursor_leb128_u32(&from->in)};
    l.count = cursor_leb128(&from->in);
    l.ns = cursor_leb128(&from->in);
    l.text = read_take_text(from);
    vec_push(&from->recording->losses, l);
}

/*     first process │ number from 1 │ z status │ padding │ seed │ elapsed │ CPU time */
static void read_part(struct recording_reader *from)
{
    struct recording_part part = {.process = cursor_leb128_u32(&from->in)};
    part.number = cursor_leb128_u32(&from->in);
    part.status = (int32_t)cursor_zigzag(&from->in);
    part.padding = cursor_leb128_u32(&from->in);
    part.seed = cursor_leb128(&from->in);
    part.elapsed_ns = cursor_leb128(&from->in);
    part.cpu_ns = cursor_leb128(&from->in);
    vec_push(&from->recording->parts, part);
}

static void read_rank(struct recording_reader *from)
{
    struct recording_rank rank = {.process = cursor_leb128_u32(&from->in)};
    rank.rank = cursor_leb128_u32(&from->in);
    rank.size = cursor_leb128_u32(&from->in);
    rank.local = read_take_index(from);
    rank.launcher = read_take_text(from);
    rank.host = read_take_text(from);
    vec_push(&from->recording->ranks, rank);
}

static void read_resource(struct recording_reader *from)
{
    struct recording_resource one = {.kind = cursor_leb128_u32(&from->in)};
    one.process = read_take_index(from);
    one.address = cursor_leb128(&from->in);
    one.name = read_take_text(from);
    vec_push(&from->recording->resources, one);
}

/*     parent + 1 │ thread + 1 │ node │ resource + 1 │ doing │ waits │ ns
 *
 * The node needs no + 1: the root stands for none. */
static void read_link(struct recording_reader *from)
{
    struct recording_link wait = {.parent = read_take_index(from)};
    wait.thread = read_take_index(from);
    wait.node = cursor_leb128_u32(&from->in);
    wait.resource = read_take_index(from);
    wait.doing = cursor_leb128_u32(&from->in);
    wait.waits = cursor_leb128(&from->in);
    wait.ns = cursor_leb128(&from->in);
    vec_push(&from->recording->links, wait);
}

/* One for each link, in their order. */
static void read_link_error(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t error = cursor_leb128(&from->in), single = cursor_leb128(&from->in);
    if (from->link_errors >= r->links.len) {
        from->in.failed = true;
        return;
    }
    struct recording_link *link = &r->links.at[from->link_errors++];
    link->error = error;
    link->single = single;
}

static void read_transfer_error(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t squares = cursor_leb128(&from->in);
    if (from->transfer_errors >= r->transfers.len)
        from->in.failed = true;
    else
        r->transfers.at[from->transfer_errors++].squares = squares;
}

static void read_transfer(struct recording_reader *from)
{
    struct recording_transfer one = {.thread = cursor_leb128_u32(&from->in)};
    one.resource = read_take_index(from);
    one.node = cursor_leb128_u32(&from->in);
    one.is_write = cursor_leb128_u32(&from->in);
    one.calls = cursor_leb128(&from->in);
    one.bytes = cursor_leb128(&from->in);
    one.disk_bytes = cursor_leb128(&from->in);
    vec_push(&from->recording->transfers, one);
}

static void read_transferred(struct recording_reader *from)
{
    struct recording_transferred all = {.read = cursor_leb128(&from->in)};
    all.written = cursor_leb128(&from->in);
    all.read_calls = cursor_leb128(&from->in);
    all.write_calls = cursor_leb128(&from->in);
    all.disk_read = cursor_leb128(&from->in);
    all.disk_written = cursor_leb128(&from->in);
    vec_push(&from->recording->transferred, all);
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

static void read_arc(struct recording_reader *from)
{
    struct recording *r = from->recording;
    struct recording_arc before = {0}, arc = {.from_object = read_take_index(from)};
    if (r->arcs.len)
        before = r->arcs.at[r->arcs.len - 1];
    arc.from = read_take_difference(from, before.from);
    arc.self_object = read_take_index(from);
    arc.self = read_take_difference(from, before.self);
    arc.count = cursor_leb128(&from->in);
    vec_push(&r->arcs, arc);
}

static void read_branch(struct recording_reader *from)
{
    struct recording *r = from->recording;
    struct recording_branch before = {0}, branch = {.from_object = read_take_index(from)};
    if (r->branches.len)
        before = r->branches.at[r->branches.len - 1];
    branch.from = read_take_difference(from, before.from);
    branch.to_object = read_take_index(from);
    branch.to = read_take_difference(from, before.to);
    uint64_t bytes = cursor_leb128(&from->in);
    branch.end = bytes ? branch.to + bytes - 1 : 0;
    branch.count = cursor_leb128(&from->in);
    branch.missed = cursor_leb128(&from->in);
    vec_push(&r->branches, branch);
}

static void read_block(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint64_t before = r->blocks.len ? r->blocks.at[r->blocks.len - 1].address : 0;
    struct recording_block block = {.object = cursor_leb128_u32(&from->in)};
    block.address = read_take_difference(from, before);
    block.count = cursor_leb128(&from->in);
    vec_push(&r->blocks, block);
}

static void read_turn(struct recording_reader *from)
{
    struct recording *r = from->recording;
    /* Sorted by slice and thread, so that the slice is mostly that of the turn before. */
    struct recording_turn t = {0};
    if (r->turns.len)
        t = r->turns.at[r->turns.len - 1];
    t.slice = (uint32_t)read_take_difference(from, t.slice);
    t.thread = (uint32_t)read_take_difference(from, t.thread);
    t.ran_ns = cursor_leb128(&from->in);
    t.shared_ns = cursor_leb128(&from->in);
    vec_push(&r->turns, t);
}

static void read_parallel(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint32_t before = r->parallel.len ? r->parallel.at[r->parallel.len - 1].slice : 0;
    struct recording_parallel p = {.slice = (uint32_t)read_take_difference(from, before)};
    p.threads = cursor_leb128_u32(&from->in);
    p.ns = cursor_leb128(&from->in);
    vec_push(&r->parallel, p);
}

static void read_wait(struct recording_reader *from)
{
    struct recording *r = from->recording;
    struct recording_wait w = {0}, none = {0};
    const struct recording_wait *last = r->waits.len ? &r->waits.at[r->waits.len - 1] : &none;
    w.thread = (uint32_t)read_take_difference(from, last->thread);
    w.from_ns = read_take_difference(from, last->from_ns);
    w.length_ns = cursor_leb128(&from->in);
    w.node = read_take_index(from);
    vec_push(&r->waits, w);
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
    struct recording_wait *w = &r->waits.at[from->wakers++];
    w->woken = woken;
    if (woken >= RECORDING_WAKER_SOFT)
        w->waker = cursor_leb128_u32(&from->in);
    if (woken)
        w->woke_ns = cursor_leb128(&from->in);
}

static void read_creator(struct recording_reader *from)
{
    struct recording *r = from->recording;
    uint32_t before = r->creators.len ? r->creators.at[r->creators.len - 1].thread : 0;
    struct recording_creator c = {.thread = before + cursor_leb128_u32(&from->in)};
    /* Creators are mostly near: a program makes its threads one after the other. */
    c.creator = (uint32_t)read_take_difference(from, c.thread);
    vec_push(&r->creators, c);
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

/* By tag. A tag without a row is a later monarc's, and its record is passed over. */
static void (*const READERS[])(struct recording_reader *) = {
    [RECORDING_TAG_STRINGS] = read_string,
    [RECORDING_TAG_TEXTS] = read_text,
    [RECORDING_TAG_OBJECTS] = read_object,
    [RECORDING_TAG_SYMBOLS] = read_symbol,
    [RECORDING_TAG_NODES] = read_node,
    [RECORDING_TAG_PROCESSES] = read_process,
    [RECORDING_TAG_THREADS] = read_thread,
    [RECORDING_TAG_EVENTS] = read_event,
    [RECORDING_TAG_SAMPLES] = read_sample,
    [RECORDING_TAG_MARKS] = read_mark,
    [RECORDING_TAG_LOSSES] = read_loss,
    [RECORDING_TAG_ARCS] = read_arc,
    [RECORDING_TAG_BLOCKS] = read_block,
    [RECORDING_TAG_EXCERPTS] = read_excerpt,
    [RECORDING_TAG_PEAKS] = read_peak,
    [RECORDING_TAG_PARTS] = read_part,
    [RECORDING_TAG_COMMANDS] = read_command,
    [RECORDING_TAG_TURNS] = read_turn,
    [RECORDING_TAG_PARALLEL] = read_parallel,
    [RECORDING_TAG_WAITS] = read_wait,
    [RECORDING_TAG_CREATORS] = read_creator,
    [RECORDING_TAG_WAKERS] = read_waker,
    [RECORDING_TAG_RANKS] = read_rank,
    [RECORDING_TAG_RESOURCES] = read_resource,
    [RECORDING_TAG_LINKS] = read_link,
    [RECORDING_TAG_TRANSFERS] = read_transfer,
    [RECORDING_TAG_TRANSFERRED] = read_transferred,
    [RECORDING_TAG_LABELS] = read_label_set,
    [RECORDING_TAG_LABELLED] = read_labelled,
    [RECORDING_TAG_BRANCHES] = read_branch,
    [RECORDING_TAG_LINK_ERRORS] = read_link_error,
    [RECORDING_TAG_TRANSFER_ERRORS] = read_transfer_error,
};

/* Room for a list as its length says: every item takes a byte or more, which are there. */
static void read_reserve(struct recording_reader *from, uint32_t tag, size_t items)
{
    struct recording *r = from->recording;
    if (tag == RECORDING_TAG_NODES)
        vec_reserve(&r->nodes, r->nodes.len + items);
    if (tag == RECORDING_TAG_SAMPLES)
        vec_reserve(&r->samples, r->samples.len + items);
}

/* RUN is one item; all others are lists. An item takes at least a byte, so the length that a list
 * claims is checked against the bytes before room is made for it. */
static void read_record(struct recording_reader *from, uint32_t tag)
{
    if (tag == RECORDING_TAG_RUN) {
        read_facts(from);
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
    for (; items && !from->in.failed; items--)
        READERS[tag](from);
}

static bool read_is_known(uint32_t tag)
{
    return tag == RECORDING_TAG_RUN || (tag < sizeof READERS / sizeof *READERS && READERS[tag]);
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
