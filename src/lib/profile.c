/* Handles of profiles: their life, reading and writing, what is in them; walking a file record by
 * record; building, merging, comparing, and what is odd about one.
 *
 * A handle's profile is the sum of a merger, which keeps where records are: adding the hundredth
 * file looks nothing up that the first one has shown. A walk keeps nothing: records are handed to
 * the caller's functions as they are read, in a heap of the call. These functions run inside
 * heap_run() and may call the library again: `running` is put back, so that each call leaves only
 * its own frames.
 *
 * What a walk hands out lies in the file's bytes or in a batch, and is gone after the function
 * returns. Building appends to the sum's lists directly and forgets the merger's places, which
 * name rows by number; they are made anew by the next merge, in time linear in what is there.
 * Comparing and the laws copy, in a heap that is thrown away. */
#include "lib/handles.h"

#include "base/file.h"
#include "profile/model/profile.h"

#include <inttypes.h>
#include <string.h>

/* Arcs and blocks are handed out where they lie. */
_Static_assert(sizeof(struct monarc_arc) == sizeof(struct arc) &&
                   offsetof(struct monarc_arc, count) == offsetof(struct arc, count),
               "arcs are the same");
_Static_assert(sizeof(struct monarc_block) == sizeof(struct block), "blocks are the same");

/* Zeroed all over: an empty profile and an empty merger. */
struct monarc_profile *monarc_profile_new(const struct monarc_memory *memory,
                                          struct monarc_error *e)
{
    struct monarc_profile *p = handle_alloc(memory, sizeof *p);
    if (!p) {
        call_fail_memory(e);
        return NULL;
    }
    memset(p, 0, sizeof *p);
    heap_init(&p->heap, memory);
    return p;
}

/* The heap gives back everything, so nothing of the merger has to be taken apart; it may be half
 * changed. */
void profile_handle_empty(struct monarc_profile *p)
{
    heap_release(&p->heap);
    memset(&p->merger, 0, sizeof p->merger);
}

/* The memory functions are copied first: they are in the handle that is given back. */
void monarc_profile_free(struct monarc_profile *p)
{
    if (!p)
        return;
    struct monarc_memory memory = p->heap.memory;
    heap_release(&p->heap);
    memory_loose_free(&memory, p);
}

void monarc_profile_clear(struct monarc_profile *p)
{
    profile_handle_empty(p);
}

/* ---- files */

/* A read that is going on: what heap_run() may change. */
struct profile_reading {
    struct monarc_profile *p;
    struct call_input in;
    struct format_hint hint;
    const struct format *format;
    struct err why;
};

/* r->format stays NULL if no format knows the bytes, which is how the caller tells the two failures
 * apart. */
static bool profile_read_bytes(void *context)
{
    struct profile_reading *r = context;
    r->format = format_probe(r->in.bytes, r->in.name, &r->hint, &r->why);
    return r->format &&
           r->format->read(r->in.bytes, r->in.name, &r->hint, &r->p->merger.sum, &r->why);
}

/* Refuses what no file can have, before a reader would be misled by it. */
static bool profile_is_hint_sane(const struct monarc_hint *hint, struct monarc_error *e)
{
    if (hint && ((hint->pointer_bytes && hint->pointer_bytes != 4 && hint->pointer_bytes != 8) ||
                 hint->byte_order > MONARC_BIG_ENDIAN ||
                 (hint->bsd_header && hint->bsd_header != 20 && hint->bsd_header != 24)))
        return call_fail(e, MONARC_MISUSE,
                         "the hint has an invalid pointer size, byte order or header");
    return true;
}

/* After MONARC_BAD_INPUT the records that were whole are in the profile, as the header says. The
 * bytes of the file are given back: profiles copy what they keep. */
bool monarc_profile_read(struct monarc_profile *p, const struct monarc_source *in,
                         const struct monarc_hint *hint, struct monarc_error *e)
{
    struct profile_reading r = {.p = p, .hint = profile_hint(hint)};
    if (!profile_is_hint_sane(hint, e))
        return false;
    profile_handle_empty(p);
    if (!call_read(in, &p->heap, &r.in, e))
        return false;
    enum heap_outcome outcome = heap_run(&p->heap, profile_read_bytes, &r);
    if (outcome == HEAP_EXHAUSTED)
        profile_handle_empty(p);
    else if (r.in.bytes.at != in->bytes)
        heap_give((void *)r.in.bytes.at);
    return call_result(outcome, r.format ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &r.why, e);
}

/* Profiles that were built have a machine by then; an empty one is written as 64-bit. */
static bool profile_encode(struct call_writing *writing)
{
    const struct profile *p = writing->what;
    const struct format *format = (const struct format *)(uintptr_t)writing->how;
    writing->w.word = p->word ? p->word : 8;
    writing->w.big_endian = p->big_endian;
    return format->write(&writing->w, p, &writing->why);
}

/* Without a format, the one that it was read from. */
bool monarc_profile_write(const struct monarc_profile *p, enum monarc_format format,
                          struct monarc_target *to, struct monarc_error *e)
{
    const struct profile *sum = &p->merger.sum;
    const struct format *row = format ? profile_format_of(format) : format_of(sum);
    if (!row || !row->write)
        return call_fail(e, MONARC_MISUSE, "this is not a format of profiles");
    struct call_writing writing = {.encode = profile_encode, .what = sum, .how = (uintptr_t)row};
    return call_write(&writing, &p->heap.memory, to, e);
}

/* Addresses are not changed, only how wide they are written; so they must fit. */
bool monarc_profile_set_machine(struct monarc_profile *p, uint8_t pointer_bytes, uint8_t byte_order,
                                struct monarc_error *e)
{
    struct profile *sum = &p->merger.sum;
    if ((pointer_bytes != 4 && pointer_bytes != 8) || byte_order < MONARC_LITTLE_ENDIAN ||
        byte_order > MONARC_BIG_ENDIAN)
        return call_fail(e, MONARC_MISUSE, "pointers have 4 or 8 bytes, byte orders are 1 and 2");
    if (pointer_bytes == 4 && !profile_fits_32(sum))
        return call_fail(e, MONARC_UNFIT, "addresses above 0xffffffff do not fit 4-byte pointers");
    sum->word = pointer_bytes;
    sum->big_endian = byte_order == MONARC_BIG_ENDIAN;
    return true;
}

/* ---- what is in one */

/* Sums over all records: linear in what the profile holds. */
void profile_facts(const struct profile *p, struct monarc_profile_facts *out)
{
    *out = (struct monarc_profile_facts){
        .format = p->format ? profile_format_number(format_of(p)) : MONARC_NO_FORMAT,
        .pointer_bytes = p->word,
        .byte_order = p->big_endian ? MONARC_BIG_ENDIAN
                      : p->word     ? MONARC_LITTLE_ENDIAN
                                    : 0,
        .histograms = p->histograms.len,
        .arcs = p->arcs.len,
        .blocks = p->blocks.len,
        .samples = profile_samples(p),
        .calls = profile_calls(p),
        .histogram_records = p->histogram_records,
        .arc_records = p->arc_records,
        .block_records = p->block_records,
        .trailing_bytes = p->trailing_bytes,
    };
}

void monarc_profile_get_facts(const struct monarc_profile *p, struct monarc_profile_facts *out)
{
    profile_facts(&p->merger.sum, out);
}

/* The dimension ends in NUL: the model sees to that. */
void profile_histogram_facts(const struct histogram *h, struct monarc_histogram *out)
{
    *out = (struct monarc_histogram){.low = h->low,
                                     .high = h->high,
                                     .bins = h->bins,
                                     .rate = h->rate,
                                     .abbreviation = h->abbreviation};
    memcpy(out->dimension, h->dimension, sizeof out->dimension);
}

/* A copy of the facts; counts have a function of their own, as they may be many. */
bool monarc_profile_get_histogram(const struct monarc_profile *p, size_t i,
                                  struct monarc_histogram *out)
{
    if (i >= p->merger.sum.histograms.len)
        return false;
    profile_histogram_facts(&p->merger.sum.histograms.at[i], out);
    return true;
}

/* Counters have any of three widths in memory; callers see 64 bits. */
size_t monarc_profile_get_counts(const struct monarc_profile *p, size_t i, size_t first, size_t len,
                                 uint64_t *out)
{
    if (i >= p->merger.sum.histograms.len)
        return 0;
    const struct histogram *h = &p->merger.sum.histograms.at[i];
    size_t left = first < h->bins ? h->bins - first : 0;
    len = len < left ? len : left;
    for (size_t k = 0; k < len; k++)
        out[k] = histogram_get(h, (uint32_t)(first + k));
    return len;
}

/* The list itself, valid until the profile is changed. */
const struct monarc_arc *monarc_profile_get_arcs(const struct monarc_profile *p, size_t *len)
{
    *len = p->merger.sum.arcs.len;
    return (const struct monarc_arc *)p->merger.sum.arcs.at;
}

const struct monarc_block *monarc_profile_get_blocks(const struct monarc_profile *p, size_t *len)
{
    *len = p->merger.sum.blocks.len;
    return (const struct monarc_block *)p->merger.sum.blocks.at;
}

/* ---- Records of a profile's file, one after the other, none of them kept. */

/* A walk that is going on. `out` is what the reader fills and empties, batch by batch. */
struct walking {
    const struct monarc_profile_visitor *visitor;
    struct call_input in;
    struct format_hint hint;
    const struct format *format;
    struct profile out;
    bool has_begun, is_stopped;
    struct err why;
};

/* Calls the visitor's begin() once, with the facts of the file before its first record. */
static bool begin(struct walking *w, const struct profile *p)
{
    if (w->has_begun || !w->visitor->begin)
        return true;
    struct monarc_profile_facts facts;
    profile_facts(p, &facts);
    w->has_begun = true;
    return w->visitor->begin(w->visitor->context, &(struct monarc_profile_facts){
                                                      .format = profile_format_number(w->format),
                                                      .pointer_bytes = facts.pointer_bytes,
                                                      .byte_order = facts.byte_order});
}

/* Counters widened to 64 bits for the visitor, in memory of the call. */
static bool hand_histogram(const struct monarc_profile_visitor *v, const struct histogram *h)
{
    struct monarc_histogram facts;
    if (!v->histogram)
        return true;
    uint64_t *counts = memory_resized(NULL, (size_t)h->bins * sizeof *counts);
    for (uint32_t i = 0; i < h->bins; i++)
        counts[i] = histogram_get(h, i);
    profile_histogram_facts(h, &facts);
    bool ok = v->histogram(v->context, &facts, counts);
    memory_free(counts);
    return ok;
}

/* Each record goes to the function for its kind, if the visitor has one; others are passed over. */
static bool hand_record(struct walking *w, enum record_kind kind, const struct profile *p)
{
    const struct monarc_profile_visitor *v = w->visitor;
    switch (kind) {
    case RECORD_HISTOGRAM: return hand_histogram(v, &p->histograms.at[0]);
    case RECORD_ARC:
        return !v->arcs || v->arcs(v->context, (const struct monarc_arc *)p->arcs.at, p->arcs.len);
    default:
        return !v->blocks ||
               v->blocks(v->context, (const struct monarc_block *)p->blocks.at, p->blocks.len);
    }
}

/* The reader's sink. Once the visitor has had enough, nothing is handed out any more. */
static bool take(void *context, enum record_kind kind, const struct profile *p)
{
    struct walking *w = context;
    if (!w->is_stopped)
        w->is_stopped = !begin(w, p) || !hand_record(w, kind, p);
    return !w->is_stopped;
}

/* A file without records still begins. */
static bool walk(void *context)
{
    struct walking *w = context;
    const struct format_sink sink = {.context = w, .take = take};
    w->hint.sink = &sink;
    w->format = format_probe(w->in.bytes, w->in.name, &w->hint, &w->why);
    bool ok = w->format && w->format->read(w->in.bytes, w->in.name, &w->hint, &w->out, &w->why);
    if (ok && !w->is_stopped)
        w->is_stopped = !begin(w, &w->out);
    return ok;
}

/* The walk's heap holds the file, if it was read, and one batch of records. A visitor that stops
 * and a damaged file are different outcomes. */
bool monarc_profile_walk(const struct monarc_source *in, const struct monarc_hint *hint,
                         const struct monarc_memory *memory,
                         const struct monarc_profile_visitor *visitor, struct monarc_error *e)
{
    struct heap scratch;
    struct walking w = {.visitor = visitor, .hint = profile_hint(hint)};
    if (!visitor)
        return call_fail(e, MONARC_MISUSE, "no function to hand records to is given");
    heap_init(&scratch, memory);
    bool ok = call_read(in, &scratch, &w.in, e);
    if (ok) {
        enum heap_outcome outcome = heap_run(&scratch, walk, &w);
        ok = w.is_stopped
                 ? call_fail(e, MONARC_STOPPED, "the caller stopped the walk")
                 : call_result(outcome, w.format ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &w.why,
                               e);
    }
    heap_release(&scratch);
    return ok;
}

/* ---- Profiles that are built, summed and compared. */

/* The tables of the merger name places; they are made anew when they are needed again. */
static void change_forget_places(struct monarc_profile *p)
{
    memory_free(p->merger.arcs.slots);
    memory_free(p->merger.blocks.slots);
    p->merger.arcs = p->merger.blocks = (struct merge_index){0};
}

/* A profile that was built without a machine is of this one. */
static void change_take_machine(struct profile *p)
{
    if (p->word)
        return;
    p->word = 8;
    p->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* ---- building */

/* Records that a caller adds: a histogram with `width`, or `len` arcs or blocks. */
struct adding {
    struct monarc_profile *p;
    const struct monarc_histogram *histogram;
    const void *from;
    size_t len;
    unsigned width;
    struct err why;
};

/* A counter of the caller's, in this machine's byte order. */
static uint64_t change_counter_at(const void *counters, unsigned width, uint32_t i)
{
    switch (width) {
    case 1: return ((const uint8_t *)counters)[i];
    case 2: return ((const uint16_t *)counters)[i];
    case 4: return ((const uint32_t *)counters)[i];
    default: return ((const uint64_t *)counters)[i];
    }
}

/* The caller's histogram as the model has it, with counters wide enough for all values. Without a
 * dimension it counts seconds. */
static struct histogram change_histogram_made(const struct adding *a)
{
    const struct monarc_histogram *from = a->histogram;
    struct histogram h = {.low = from->low,
                          .high = from->high,
                          .bins = from->bins,
                          .rate = from->rate,
                          .abbreviation = from->abbreviation,
                          .width = (uint8_t)(a->width < 2 ? 2 : a->width)};
    memcpy(h.dimension, from->dimension, sizeof h.dimension - 1);
    if (!h.dimension[0]) {
        strcpy(h.dimension, "seconds");
        h.abbreviation = 's';
    }
    histogram_alloc(&h);
    for (uint32_t i = 0; i < h.bins; i++)
        histogram_add(&h, i, change_counter_at(a->from, a->width, i));
    return h;
}

/* All that can fail comes before anything is changed. A histogram of the same range is summed
 * into a copy, which then takes the other one's place: adding may widen counters and run out of
 * memory. */
static bool change_add_histogram(void *context)
{
    struct adding *a = context;
    struct profile *sum = &a->p->merger.sum;
    struct profile one = {.word = sum->word, .big_endian = sum->big_endian};
    struct histogram h = change_histogram_made(a);
    vec_push(&one.histograms, h);
    bool ok = check_mergeable(sum, &one, &a->why);
    struct histogram *same = NULL;
    for (size_t i = 0; i < sum->histograms.len && ok; i++)
        if (!histogram_compare(&sum->histograms.at[i], &h))
            same = &sum->histograms.at[i];
    if (ok && same) {
        histogram_add_all(&one.histograms.at[0], same);
        struct histogram was = *same;
        *same = one.histograms.at[0];
        one.histograms.at[0] = was;
    } else if (ok) {
        vec_push(&sum->histograms, h);
        one.histograms.len = 0;
    }
    sum->histogram_records += ok;
    profile_deinit(&one);
    return ok;
}

/* Room first; then nothing can fail. Equal arcs stay apart until the next merge. */
static bool change_add_arcs(void *context)
{
    struct adding *a = context;
    struct profile *sum = &a->p->merger.sum;
    vec_reserve(&sum->arcs, sum->arcs.len + a->len);
    change_forget_places(a->p);
    memcpy(sum->arcs.at + sum->arcs.len, a->from, a->len * sizeof *sum->arcs.at);
    sum->arcs.len += a->len;
    sum->arc_records += a->len;
    return true;
}

/* One list of blocks counts as one record, as in the file. */
static bool change_add_blocks(void *context)
{
    struct adding *a = context;
    struct profile *sum = &a->p->merger.sum;
    vec_reserve(&sum->blocks, sum->blocks.len + a->len);
    change_forget_places(a->p);
    memcpy(sum->blocks.at + sum->blocks.len, a->from, a->len * sizeof *sum->blocks.at);
    sum->blocks.len += a->len;
    sum->block_records++;
    return true;
}

/* Runs one addition. Memory that it took before there was none left is given back, so that the
 * profile stays as it was. Rows are numbered with 32 bits, and more are refused. */
static bool profile_add(struct adding *a, bool (*work)(void *), struct monarc_error *e)
{
    size_t most = UINT32_MAX - a->p->merger.sum.arcs.len;
    size_t room = UINT32_MAX - a->p->merger.sum.blocks.len;
    if (a->len > (most < room ? most : room))
        return call_fail(e, MONARC_UNFIT, "more than %u arcs or blocks are too many", UINT32_MAX);
    struct heap_block *before = a->p->heap.blocks.next;
    enum heap_outcome outcome = heap_run(&a->p->heap, work, a);
    if (outcome == HEAP_EXHAUSTED) /* what the call took precedes what was there */
        while (a->p->heap.blocks.next != before)
            heap_give(a->p->heap.blocks.next + 1);
    if (outcome == HEAP_TRUE)
        change_take_machine(&a->p->merger.sum);
    return call_result(outcome, MONARC_UNFIT, &a->why, e);
}

/* A range without bytes is refused: nothing could ever be counted in it. */
bool monarc_profile_add_histogram(struct monarc_profile *p, const struct monarc_histogram *h,
                                  const void *counters, unsigned width, struct monarc_error *e)
{
    struct adding a = {.p = p, .histogram = h, .from = counters, .width = width};
    if (!h || (!counters && h->bins) || (width != 1 && width != 2 && width != 4 && width != 8))
        return call_fail(e, MONARC_MISUSE, "a histogram needs counters of 1, 2, 4 or 8 bytes");
    if (h->high <= h->low)
        return call_fail(e, MONARC_MISUSE, "the range of the histogram is empty");
    return profile_add(&a, change_add_histogram, e);
}

/* Equal arcs may be added again: they are summed by the next merge, or by normalizing. */
bool monarc_profile_add_arcs(struct monarc_profile *p, const struct monarc_arc *arcs, size_t len,
                             struct monarc_error *e)
{
    struct adding a = {.p = p, .from = arcs, .len = len};
    return !len || profile_add(&a, change_add_arcs, e);
}

bool monarc_profile_add_blocks(struct monarc_profile *p, const struct monarc_block *blocks,
                               size_t len, struct monarc_error *e)
{
    struct adding a = {.p = p, .from = blocks, .len = len};
    return !len || profile_add(&a, change_add_blocks, e);
}

/* ---- merging and laws */

/* One profile into another, or up to three that are read. */
struct merging {
    struct monarc_profile *into;
    const struct profile *with[3];
    bool is_same;
    struct err why;
};

/* Rows of a profile that was not summed may be there twice, which the merger's places do not know:
 * it starts over, with itself as the first that is added. */
static bool change_merge_profiles(void *context)
{
    struct merging *m = context;
    struct merger *into = &m->into->merger;
    if (into->arcs.len == into->sum.arcs.len && into->blocks.len == into->sum.blocks.len)
        return merger_add(into, m->with[0], &m->why);
    if (!check_mergeable(&into->sum, m->with[0], &m->why))
        return false;
    struct merger fresh = {0};
    if (!merger_add(&fresh, &into->sum, &m->why) || !merger_add(&fresh, m->with[0], &m->why)) {
        merger_deinit(&fresh);
        return false;
    }
    merger_deinit(into);
    *into = fresh;
    return true;
}

/* Without memory the sum is lost, as it may be half changed; a refusal leaves it as it was. */
bool monarc_profile_merge(struct monarc_profile *into, const struct monarc_profile *from,
                          struct monarc_error *e)
{
    struct merging m = {.into = into, .with = {&from->merger.sum}};
    if (into == from)
        return call_fail(e, MONARC_MISUSE, "a profile cannot be added to itself");
    enum heap_outcome outcome = heap_run(&into->heap, change_merge_profiles, &m);
    if (outcome == HEAP_EXHAUSTED)
        profile_handle_empty(into);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* Sorting moves rows, so that their places are forgotten first. */
static bool change_normalize(void *context)
{
    struct merging *m = context;
    change_forget_places(m->into);
    profile_normalize(&m->into->merger.sum);
    return true;
}

/* Sorts in place, except for histograms, whose sums may need wider counters. */
bool monarc_profile_normalize(struct monarc_profile *p, struct monarc_error *e)
{
    struct merging m = {.into = p};
    enum heap_outcome outcome = heap_run(&p->heap, change_normalize, &m);
    if (outcome == HEAP_EXHAUSTED)
        profile_handle_empty(p);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* In the heap of the call. */
static struct profile change_copied_normalized(const struct profile *p)
{
    struct profile copy = {.word = p->word, .big_endian = p->big_endian};
    for (size_t i = 0; i < p->histograms.len; i++) {
        struct histogram h = p->histograms.at[i];
        histogram_alloc(&h);
        memcpy(h.counters, p->histograms.at[i].counters, (size_t)h.bins * h.width);
        vec_push(&copy.histograms, h);
    }
    for (size_t i = 0; i < p->arcs.len; i++)
        vec_push(&copy.arcs, p->arcs.at[i]);
    for (size_t i = 0; i < p->blocks.len; i++)
        vec_push(&copy.blocks, p->blocks.at[i]);
    profile_normalize(&copy);
    return copy;
}

/* Both in normal form, so that the order of records does not matter. */
static bool change_compare(void *context)
{
    struct merging *m = context;
    struct profile a = change_copied_normalized(m->with[0]),
                   b = change_copied_normalized(m->with[1]);
    m->is_same = profile_same(&a, &b);
    return true;
}

/* "Different" is no error: it returns MONARC_OK with false. */
bool monarc_profile_is_same(const struct monarc_profile *a, const struct monarc_profile *b,
                            struct monarc_error *e)
{
    struct merging m = {.with = {&a->merger.sum, &b->merger.sum}};
    enum heap_outcome outcome = heap_run_aside(&a->heap, change_compare, &m);
    if (!call_result(outcome, MONARC_UNFIT, &m.why, e))
        return false;
    return m.is_same || call_fail(e, MONARC_OK, "the two hold different measurements");
}

/* The model's own check, which fuzz targets run as well. */
static bool change_check_laws(void *context)
{
    struct merging *m = context;
    return check_merge_laws(m->with[0], m->with[1], m->with[2], &m->why);
}

/* All three are only read. */
bool monarc_profile_check_laws(const struct monarc_profile *a, const struct monarc_profile *b,
                               const struct monarc_profile *c, struct monarc_error *e)
{
    struct merging m = {.with = {&a->merger.sum, &b->merger.sum, &c->merger.sum}};
    return call_result(heap_run_aside(&a->heap, change_check_laws, &m), MONARC_UNFIT, &m.why, e);
}

struct finding_search {
    const struct profile *p;
    struct finding_list found;
};

static bool change_find_findings(void *context)
{
    struct finding_search *search = context;
    search->found = check_profile(search->p);
    return true;
}

/* SIZE_MAX is for lack of memory alone; otherwise how many there are, of which `room` are
 * written. */
size_t monarc_profile_get_findings(const struct monarc_profile *p, struct monarc_finding *out,
                                   size_t room, struct monarc_error *e)
{
    struct finding_search search = {.p = &p->merger.sum};
    if (heap_run_aside(&p->heap, change_find_findings, &search) == HEAP_EXHAUSTED) {
        call_fail_memory(e);
        return SIZE_MAX;
    }
    for (size_t i = 0; i < search.found.len && i < room; i++) {
        const struct finding *f = &search.found.at[i];
        out[i] = (struct monarc_finding){.name = finding_name(f->kind), .count = f->count};
        out[i].sentence = finding_sentence(f->kind, &out[i].is_counted);
    }
    return search.found.len;
}
