/* The tables of a recorder that was killed, and the files that it would have written.
 *
 * The file is a header page, then extents at multiples of 4096 bytes: hash tables of cells, and
 * notes, which are records of a sidecar. They are the recorder's own memory, mapped from the file,
 * so any of it may be half done; no more is believed than its checksum or its bounds vouch for.
 *
 * A key may have cells in several tables, and counts that are to be taken off are negated; sorting
 * and adding leaves one entry a key. 64-bit sums wrap around and back; one below zero is damage and
 * becomes 0. Then each object gets its share: arcs whose two ends it holds, blocks, and a histogram
 * of the samples in its text, all at link addresses. What lies between objects, threads, stacks and
 * notes make the sidecar, most of it as the bytes that were there. Time: n log n in the cells, and
 * the objects times the cells for the shares, as for the recorder itself.
 *
 * Source: docs/formats/sidecar.md, which has the same rules for the recorder. */
#include "profile/format/recording_file.h"

#include "wire/sidecar.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void live_deinit(struct live_tables *t)
{
    vec_free(&t->objects.list);
    vec_free(&t->arcs);
    vec_free(&t->between);
    vec_free(&t->nodes.list);
    vec_free(&t->taken);
    vec_free(&t->blocks);
    vec_free(&t->block_starts);
    vec_free(&t->threads);
    vec_free(&t->texts);
    vec_free(&t->marks);
    vec_free(&t->losses);
    arena_deinit(&t->arena);
}

const char *live_executable(const struct live_tables *t)
{
    for (size_t i = 0; i < t->objects.list.len; i++)
        if (t->objects.list.at[i].is_executable)
            return t->objects.list.at[i].path;
    return NULL;
}

/* ---- reading */

enum { CHECKED_BYTES = 56 }; /* of a header; their checksum follows */

/* The header page, of which 56 bytes and their sum are in use:
 *
 *     u32 magic, version, byte order, bytes of the page, pointer size, 0, pid, parent
 *     u64 start since 1970, start | u32 rate, event | u64 checksum
 *
 * If it is damaged, nothing else in the file can be believed. */
static bool read_header(struct cursor *in, struct live_tables *t, uint32_t *version, struct err *e)
{
    struct cursor start = *in;
    struct process_facts *p = &t->process;
    in->big_endian = cursor_left(in) >= 4 && bytes_u32(in->at, true) == MONARC_LIVE_MAGIC;
    uint32_t magic = cursor_u32(in);
    *version = cursor_u32(in);
    uint32_t order = cursor_u32(in), bytes = cursor_u32(in), word = cursor_u32(in);
    cursor_u32(in);
    p->pid = cursor_u32(in);
    p->parent = cursor_u32(in);
    p->start_real_ns = cursor_u64(in);
    p->start_ns = cursor_u64(in);
    p->rate = cursor_u32(in);
    p->event = cursor_u32(in);
    uint64_t sum = cursor_u64(in);
    t->big_endian = in->big_endian;
    t->word = (uint8_t)word;
    if (in->failed || cursor_left(&start) < MONARC_LIVE_PAGE)
        return err_at(e, &start, "%zu bytes are too few for live tables", cursor_left(&start));
    if (magic != MONARC_LIVE_MAGIC || order != MONARC_BYTE_ORDER || bytes != MONARC_LIVE_PAGE)
        return err_at(e, &start, "is not a recorder's live file");
    if (*version < 1 || *version > MONARC_LIVE_VERSION)
        return err_at(e, &start, "version %" PRIu32 " of the live tables is not known", *version);
    if ((word != 4 && word != 8) ||
        sum != sidecar_checksum((struct bytes){start.at, CHECKED_BYTES}))
        return err_at(e, &start, "the header of the live tables is damaged");
    return true;
}

/* The head of a table or of notes; bytes: with this head; first_id: of a table of stacks, the id of
 * the node in its first cell. */
struct extent {
    uint32_t kind, version;
    uint64_t bytes, cells, first_id;
};

/* Whether an extent begins at the cursor. Its length is vouched for by the checksum alone, and may
 * be more than the file has. */
static bool read_extent(struct cursor in, struct extent *x)
{
    const uint8_t *start = in.at;
    uint32_t magic = cursor_u32(&in);
    x->kind = cursor_u32(&in);
    x->bytes = cursor_u64(&in);
    x->cells = cursor_u64(&in);
    x->first_id = cursor_u64(&in);
    cursor_take(&in, CHECKED_BYTES - 32);
    uint64_t sum = cursor_u64(&in);
    return !in.failed && magic == MONARC_EXTENT_MAGIC &&
           sum == sidecar_checksum((struct bytes){start, CHECKED_BYTES}) && x->bytes &&
           x->bytes % MONARC_LIVE_PAGE == 0;
}

/* In version 1, tables of a kind above these have counts to be taken off; from version 2 on, a
 * cell's last word says how much of its count is set aside. */
static void take_cell(struct live_tables *t, const struct extent *x, uint64_t number,
                      const uint64_t cell[4])
{
    enum { SUBTRACT = 16, BLOCK_RAN = 1, BLOCK_START = 2 };
    bool is_taken_off = x->kind > SUBTRACT && x->version == 1;
    uint64_t aside = x->version > 1 ? cell[3] & ~MONARC_CELL_TAKEN : 0;
    uint64_t count = is_taken_off ? 0 - cell[2] : cell[2] - aside;
    switch (is_taken_off ? x->kind - SUBTRACT : x->kind) {
    case MONARC_EXTENT_ARCS: vec_push(&t->arcs, (struct arc){cell[0], cell[1], count}); break;
    case MONARC_EXTENT_STACKS:
        /* A node keeps all its hits: stacks are those since the start, histograms since a reset. */
        if (is_taken_off)
            vec_push(&t->taken, (struct block){cell[1], cell[2]});
        else
            vec_push(&t->nodes.list,
                     (struct stack_node){x->first_id + number, cell[0], cell[1], cell[2]});
        if (aside)
            vec_push(&t->taken, (struct block){cell[1], aside});
        break;
    case MONARC_EXTENT_BLOCKS:
        if (cell[0] == BLOCK_RAN)
            vec_push(&t->blocks, (struct block){cell[1], count});
        else if (cell[0] == BLOCK_START && !is_taken_off)
            vec_push(&t->block_starts, cell[1]);
        break;
    default: break;
    }
}

/* Takes a text that ends in NUL; false: there is none. */
static bool is_text(struct cursor *in)
{
    const uint8_t *nul = in->failed ? NULL : memchr(in->at, 0, cursor_left(in));
    return nul && cursor_take(in, (size_t)(nul + 1 - in->at));
}

/* Notes end at a zero tag, or where the recorder was stopped while it wrote one. A LOST is there
 * for each reason, and most never happened; for calls (reason 0) that is worth saying, too. */
static void read_notes(struct cursor *in, struct live_tables *t)
{
    enum { MARK_BYTES = 96 };
    struct cursor payload;
    uint32_t tag;
    while (sidecar_next(in, &tag, &payload) && tag) {
        struct bytes note = {payload.at, cursor_left(&payload)};
        if (tag == MONARC_SIDE_OBJECT) {
            if (!process_objects_read(&t->objects, payload, &t->arena))
                return;
        } else if (tag == MONARC_SIDE_TEXT) {
            bool has_key = is_text(&payload);
            if (!has_key || !is_text(&payload))
                return;
            vec_push(&t->texts, note);
        } else if (tag == MONARC_SIDE_MARK) {
            if (note.len < MARK_BYTES)
                return;
            vec_push(&t->marks, note);
        } else if (tag == MONARC_SIDE_LOST) {
            uint32_t reason = cursor_u32(&payload);
            cursor_u32(&payload);
            uint64_t count = cursor_u64(&payload);
            if (!is_text(&payload))
                return;
            if (count || !reason)
                vec_push(&t->losses, note);
        }
    }
}

/* Notes of 64 bytes: u32 thread, state (0: free) | u64 start, end, CPU time, samples | name, root.
 * A thread without samples says nothing of the rate, so its CPU time is not counted. */
static void read_threads(struct cursor *in, struct live_tables *t)
{
    enum { THREAD_BYTES = 64 };
    while (cursor_left(in) >= THREAD_BYTES) {
        struct bytes note = {in->at, THREAD_BYTES};
        cursor_u32(in);
        uint32_t state = cursor_u32(in);
        cursor_u64(in);
        uint64_t end_ns = cursor_u64(in), cpu_ns = cursor_u64(in), samples = cursor_u64(in);
        cursor_take(in, THREAD_BYTES - 40);
        if (!state)
            continue;
        vec_push(&t->threads, note);
        t->thread_samples = add_saturating(t->thread_samples, samples);
        t->thread_ns = add_saturating(t->thread_ns, samples ? cpu_ns : 0);
        t->process.end_ns = end_ns > t->process.end_ns ? end_ns : t->process.end_ns;
    }
}

/* What an extent holds, by its kind. Cells whose first word is 0 are free. */
static void read_body(struct cursor body, struct live_tables *t, const struct extent *x)
{
    cursor_take(&body, MONARC_EXTENT_HEADER);
    if (x->kind == MONARC_EXTENT_NOTES) {
        read_notes(&body, t);
        return;
    }
    if (x->cells < cursor_left(&body) / MONARC_CELL_SIZE)
        body.end = body.at + x->cells * MONARC_CELL_SIZE;
    if (x->kind == MONARC_EXTENT_THREADS) {
        read_threads(&body, t);
        return;
    }
    for (uint64_t i = 0; cursor_left(&body) >= MONARC_CELL_SIZE; i++) {
        uint64_t cell[4];
        for (size_t k = 0; k < 4; k++)
            cell[k] = cursor_u64(&body);
        if (cell[0])
            take_cell(t, x, i, cell);
    }
}

/* The payload of a LOST record of our own. */
static struct bytes loss_note(struct live_tables *t, uint32_t reason, uint64_t count,
                              const char *text)
{
    struct writer w = {.big_endian = t->big_endian};
    writer_u32(&w, reason);
    writer_u32(&w, 0);
    writer_u64(&w, count);
    writer_bytes(&w, text, strlen(text) + 1);
    struct bytes note = {(const uint8_t *)arena_copy(&t->arena, (char *)w.out.at, w.out.len),
                         w.out.len};
    writer_deinit(&w);
    return note;
}

/* Goes from page to page until an extent begins: where one is damaged, the next is found again at a
 * multiple of 4096. Fails for the header page alone. */
bool live_read(struct bytes bytes, const char *name, struct live_tables *out, struct err *e)
{
    struct cursor in = cursor_over(bytes, name);
    struct cursor header = in;
    uint32_t version;
    if (!read_header(&header, out, &version, e))
        return false;
    in.big_endian = header.big_endian;
    cursor_take(&in, MONARC_LIVE_PAGE);
    while (cursor_left(&in) >= MONARC_EXTENT_HEADER) {
        struct extent x = {.version = version};
        size_t step = MONARC_LIVE_PAGE;
        if (read_extent(in, &x)) {
            struct cursor body = in;
            out->has_tables = true;
            step = x.bytes < cursor_left(&in) ? (size_t)x.bytes : cursor_left(&in);
            body.end = body.at + step;
            read_body(body, out, &x);
            if (x.bytes > step) /* the recorder makes the file that long first */
                vec_push(&out->losses,
                         loss_note(out, MONARC_LOST_CUT, 1, "the live file ends inside a table"));
        }
        if (!cursor_take(&in, step))
            break;
    }
    return true;
}

/* ---- adding up */

/* Orders for adding up: equal keys are adjacent. */
static int by_ends(const void *left, const void *right)
{
    const struct arc *l = left, *r = right;
    if (l->from != r->from)
        return l->from < r->from ? -1 : 1;
    return (l->self > r->self) - (l->self < r->self);
}

static int by_address(const void *left, const void *right)
{
    const struct block *l = left, *r = right;
    return (l->address > r->address) - (l->address < r->address);
}

static int by_value(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

/* Negated counts wrap around, and so does the sum, to what is left. */
static uint64_t plausible(uint64_t sum)
{
    return sum <= INT64_MAX ? sum : 0;
}

/* Arcs, of which those without calls are dropped. */
static void sum_arcs(struct live_tables *t)
{
    size_t kept = 0;
    if (t->arcs.len)
        qsort(t->arcs.at, t->arcs.len, sizeof *t->arcs.at, by_ends);
    for (size_t i = 0, end; i < t->arcs.len; i = end) {
        struct arc sum = t->arcs.at[i];
        for (end = i + 1; end < t->arcs.len && !by_ends(&sum, &t->arcs.at[end]); end++)
            sum.count += t->arcs.at[end].count;
        sum.count = plausible(sum.count);
        if (sum.count)
            t->arcs.at[kept++] = sum;
    }
    t->arcs.len = kept;
}

/* Counts by address, in place; returns how many are left. */
static size_t sum_blocks(struct block *at, size_t len)
{
    size_t kept = 0;
    if (len)
        qsort(at, len, sizeof *at, by_address);
    for (size_t i = 0, end; i < len; i = end) {
        struct block sum = at[i];
        for (end = i + 1; end < len && at[end].address == sum.address; end++)
            sum.count += at[end].count;
        at[kept++] = (struct block){sum.address, plausible(sum.count)};
    }
    return kept;
}

/* Moves counts from return addresses of hooks to the start of the block that they are in: the last
 * one before, if it is in the same object and near enough; else the hook's call stands for it.
 * Return addresses lie after the call, perhaps in the next block, so the byte before is looked up.
 * One merge of two sorted lists. */
static void place_blocks(struct live_tables *t)
{
    enum { FARTHEST_BLOCK = 1023 };
    size_t next = 0;
    if (t->block_starts.len)
        qsort(t->block_starts.at, t->block_starts.len, sizeof *t->block_starts.at, by_value);
    t->blocks.len = sum_blocks(t->blocks.at, t->blocks.len);
    for (size_t i = 0; i < t->blocks.len; i++) {
        struct block *b = &t->blocks.at[i];
        while (next < t->block_starts.len && t->block_starts.at[next] < b->address)
            next++;
        uint64_t start = next ? t->block_starts.at[next - 1] : 0;
        bool is_known =
            next && b->address - start <= FARTHEST_BLOCK &&
            process_object_at(&t->objects, start) == process_object_at(&t->objects, b->address - 1);
        b->address = is_known ? start : b->address - 1;
    }
    for (size_t i = 0; i < t->block_starts.len; i++) /* those that never ran are known, too */
        vec_push(&t->blocks, (struct block){t->block_starts.at[i], 0});
    t->blocks.len = sum_blocks(t->blocks.at, t->blocks.len);
}

/* Whether the address is in the object, under whichever of its loads; *link is where. */
static bool is_inside(const struct live_tables *t, const struct process_object *o, uint64_t address,
                      uint64_t *link)
{
    const struct process_object *at = process_object_at(&t->objects, address);
    if (!at || !(at == o || process_object_same(at, o)))
        return false;
    *link = address - at->bias;
    return true;
}

/* Order matters: is_inside() needs sorted objects, arcs must be added up before those between
 * objects are picked, and the rate wants all threads. */
void live_finish(struct live_tables *t)
{
    struct process_facts *p = &t->process;
    uint64_t link;
    process_objects_sort(&t->objects);
    sum_arcs(t);
    t->taken.len = sum_blocks(t->taken.at, t->taken.len);
    place_blocks(t);
    for (size_t i = 0; i < t->arcs.len; i++) {
        const struct arc *arc = &t->arcs.at[i];
        const struct process_object *from = process_object_at(&t->objects, arc->from);
        if (!from || !is_inside(t, from, arc->self, &link))
            vec_push(&t->between, *arc);
    }

    /* Threads that ran to the last have no times: the rate is that of the ended ones, or the
     * requested one. */
    p->end_ns = p->end_ns > p->start_ns ? p->end_ns : p->start_ns;
    for (size_t i = 0; i < t->nodes.list.len; i++)
        p->samples = add_saturating(p->samples, t->nodes.list.at[i].hits);
    char abbreviation;
    const char *name = event_name(p->event);
    const char *dimension = event_dimension(p->event, &abbreviation);
    bool is_clock = dimension && !strcmp(dimension, "seconds");
    bool is_measured =
        name && !strcmp(name, "cpu") && t->thread_ns >= 1000 && t->thread_samples <= UINT32_MAX;
    if (is_measured)
        p->millihertz = t->thread_samples * 1000000000u / (t->thread_ns / 1000);
    else
        p->millihertz = is_clock ? p->rate * UINT64_C(1000) : 0;
    if (!t->losses.len)
        vec_push(&t->losses,
                 loss_note(t, 0, 0, "calls; a recording that was recovered does not tell"));
}

/* ---- the profile of an object */

/* Samples by link address in the object's text, those to be taken off negated. */
struct samples {
    VEC(struct block) at;
};

/* Takes samples at an address if it is in the object's text, where it is at link time. */
static void add_samples(struct samples *s, const struct live_tables *t,
                        const struct process_object *o, uint64_t address, uint64_t hits)
{
    uint64_t link;
    if (hits && is_inside(t, o, address, &link) && link >= o->text_low - o->bias &&
        link < o->text_high - o->bias)
        vec_push(&s->at, (struct block){link, hits});
}

enum { BIN_BYTES = 2 };

/* Appends an empty histogram over [low, high) with the event's dimension and rate. The pointer
 * holds until the next one is made. */
static struct histogram *new_histogram(const struct process_facts *p, struct profile *out,
                                       uint64_t low, uint64_t high)
{
    uint64_t rate = (p->millihertz + 500) / 1000;
    struct histogram h = {.low = low, .bins = (uint32_t)((high - low) / BIN_BYTES), .width = 8};
    const char *dimension = event_dimension(p->event, &h.abbreviation);
    h.high = low + (uint64_t)h.bins * BIN_BYTES;
    h.rate = rate && rate <= UINT32_MAX ? (uint32_t)rate : 1;
    if (dimension)
        strncpy(h.dimension, dimension, sizeof h.dimension - 1);
    histogram_alloc(&h);
    vec_push(&out->histograms, h);
    out->histogram_records++;
    return &out->histograms.at[out->histograms.len - 1];
}

/* One histogram of all text or, where that would be too large, of each piece with samples in it.
 * Samples come in the order of addresses. At 8 bytes for 2 of text, 16 MiB of it are 64 MiB of
 * counters; beyond that only the pages that have samples are worth theirs. A large object without
 * samples gets a histogram of a single bin, so that its profile has one. */
static void put_samples(const struct live_tables *t, const struct process_object *o,
                        const struct samples *s, struct profile *out)
{
    enum { PIECE_BYTES = 4096, WHOLE_BYTES = 16 << 20 };
    uint64_t low = o->text_low - o->bias, high = o->text_high - o->bias;
    bool is_whole = high - low <= WHOLE_BYTES;
    struct histogram *h = NULL;
    if (high - low < BIN_BYTES)
        return;
    if (is_whole || !s->at.len)
        h = new_histogram(&t->process, out, low, is_whole ? high : low + BIN_BYTES);
    for (size_t i = 0; i < s->at.len; i++) {
        uint64_t link = s->at.at[i].address, piece = low + (link - low) / PIECE_BYTES * PIECE_BYTES;
        if (!h || link >= h->high + (is_whole ? BIN_BYTES : 0))
            h = new_histogram(&t->process, out, piece,
                              piece + PIECE_BYTES < high ? piece + PIECE_BYTES : high);
        uint64_t bin = (link - h->low) / BIN_BYTES;
        if (bin < h->bins)
            histogram_add(h, (uint32_t)bin, s->at.at[i].count);
    }
}

/* Everything that lies in this object, in any load of its file, by link address. The
 * executable has a profile even if nothing was counted in it. */
bool live_profile(const struct live_tables *t, size_t number, struct profile *out)
{
    const struct process_object *o = &t->objects.list.at[number];
    struct samples samples = {0};
    uint64_t from, self;
    for (size_t k = 0; k < number; k++)
        if (process_object_same(&t->objects.list.at[k], o))
            return false;
    out->format = PROFILE_GNU;
    out->version = 1;
    out->word = t->word;
    out->big_endian = t->big_endian;
    for (size_t i = 0; i < t->arcs.len; i++)
        if (is_inside(t, o, t->arcs.at[i].from, &from) &&
            is_inside(t, o, t->arcs.at[i].self, &self))
            vec_push(&out->arcs, (struct arc){from, self, t->arcs.at[i].count});
    for (size_t i = 0; i < t->blocks.len; i++)
        if (is_inside(t, o, t->blocks.at[i].address, &self))
            vec_push(&out->blocks, (struct block){self, t->blocks.at[i].count});
    for (size_t i = 0; i < t->nodes.list.len; i++)
        add_samples(&samples, t, o, t->nodes.list.at[i].address, t->nodes.list.at[i].hits);
    for (size_t i = 0; i < t->taken.len; i++)
        add_samples(&samples, t, o, t->taken.at[i].address, 0 - t->taken.at[i].count);
    samples.at.len = sum_blocks(samples.at.at, samples.at.len);
    bool has_any = out->arcs.len || out->blocks.len || samples.at.len || o->is_executable;
    if (has_any)
        put_samples(t, o, &samples, out);
    vec_free(&samples.at);
    return has_any;
}

/* ---- the sidecar */

/* Starts a record; end_record() fills in its length. */
static size_t begin_record(struct writer *w, uint32_t tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

static void end_record(struct writer *w, size_t start)
{
    uint32_t n = (uint32_t)(w->out.len - start), stored = w->big_endian ? __builtin_bswap32(n) : n;
    memcpy(w->out.at + start - 4, &stored, sizeof stored);
    while (w->out.len % 8)
        writer_u8(w, 0);
}

/* A record whose payload is there already: notes go from one file to the other as they are. */
static void write_record(struct writer *w, uint32_t tag, struct bytes payload)
{
    size_t start = begin_record(w, tag);
    writer_bytes(w, payload.at, payload.len);
    end_record(w, start);
}

/* As read_process() in sidecar.c reads it. */
static void write_process(struct writer *w, const struct process_facts *p)
{
    size_t start = begin_record(w, MONARC_SIDE_PROCESS);
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
    end_record(w, start);
}

static void write_text(struct writer *w, const char *key, const char *value)
{
    size_t start = begin_record(w, MONARC_SIDE_TEXT);
    writer_bytes(w, key, strlen(key) + 1);
    writer_bytes(w, value, strlen(value) + 1);
    end_record(w, start);
}

/* The END comes last, with the sum of all before it. Long lists are split, because a record's
 * length has 32 bits. */
void live_sidecar(const struct live_tables *t, struct writer *w)
{
    enum { MOST_A_RECORD = 1 << 24 }; /* items: so that no record is longer than it can say */
    const char *event = event_name(t->process.event);
    char abbreviation;
    size_t file = w->out.len, start;
    w->big_endian = t->big_endian;
    writer_u32(w, MONARC_SIDE_MAGIC);
    writer_u32(w, MONARC_SIDE_VERSION);
    writer_u32(w, MONARC_BYTE_ORDER);
    writer_u32(w, t->word);
    write_process(w, &t->process);
    for (size_t i = 0; i < t->texts.len; i++)
        write_record(w, MONARC_SIDE_TEXT, t->texts.at[i]);
    if (event) {
        write_text(w, "event", event);
        write_text(w, "dimension", event_dimension(t->process.event, &abbreviation));
    }
    for (size_t i = 0; i < t->objects.list.len; i++)
        write_record(w, MONARC_SIDE_OBJECT, t->objects.list.at[i].record);
    for (size_t i = 0; i < t->between.len;) {
        start = begin_record(w, MONARC_SIDE_ARCS);
        for (size_t end = i + MOST_A_RECORD; i < t->between.len && i < end; i++) {
            writer_u64(w, t->between.at[i].from);
            writer_u64(w, t->between.at[i].self);
            writer_u64(w, t->between.at[i].count);
        }
        end_record(w, start);
    }
    start = begin_record(w, MONARC_SIDE_THREADS);
    for (size_t i = 0; i < t->threads.len; i++)
        writer_bytes(w, t->threads.at[i].at, t->threads.at[i].len);
    end_record(w, start);
    for (size_t i = 0; i < t->nodes.list.len;) {
        start = begin_record(w, MONARC_SIDE_STACKS);
        for (size_t end = i + MOST_A_RECORD; i < t->nodes.list.len && i < end; i++) {
            writer_u64(w, t->nodes.list.at[i].id);
            writer_u64(w, t->nodes.list.at[i].parent);
            writer_u64(w, t->nodes.list.at[i].address);
            writer_u64(w, t->nodes.list.at[i].hits);
        }
        end_record(w, start);
    }
    for (size_t i = 0; i < t->marks.len; i++)
        write_record(w, MONARC_SIDE_MARK, t->marks.at[i]);
    for (size_t i = 0; i < t->losses.len; i++)
        write_record(w, MONARC_SIDE_LOST, t->losses.at[i]);
    uint64_t sum = sidecar_checksum((struct bytes){w->out.at + file, w->out.len - file});
    start = begin_record(w, MONARC_SIDE_END);
    writer_u64(w, sum);
    end_record(w, start);
}
