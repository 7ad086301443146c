/* Handles of profiles: their life, reading and writing, what is in them. */
#include "lib/profile.h"

#include "base/file.h"

#include <inttypes.h>
#include <string.h>

/* Arcs and blocks are handed out where they lie. */
_Static_assert(sizeof(struct monarc_arc) == sizeof(struct arc) &&
                   offsetof(struct monarc_arc, count) == offsetof(struct arc, count),
               "arcs are the same");
_Static_assert(sizeof(struct monarc_block) == sizeof(struct block), "blocks are the same");
_Static_assert((int)MONARC_LITTLE_ENDIAN == ORDER_LITTLE && (int)MONARC_BIG_ENDIAN == ORDER_BIG,
               "byte orders are the same");

const struct format *profile_format_of(enum monarc_format format)
{
    bool is_one = format >= MONARC_GMON && format <= MONARC_BSD;
    return is_one ? format_named(monarc_format_name(format)) : NULL;
}

enum monarc_format profile_format_number(const struct format *format)
{
    return monarc_format_named(format->name);
}

struct format_hint profile_hint(const struct monarc_hint *hint)
{
    if (!hint)
        return (struct format_hint){0};
    return (struct format_hint){.word = hint->pointer_bytes,
                                .order = (enum byte_order)hint->byte_order,
                                .default_rate = hint->default_rate,
                                .bsd_header = hint->bsd_header};
}

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

void profile_handle_empty(struct monarc_profile *p)
{
    heap_release(&p->heap);
    memset(&p->merger, 0, sizeof p->merger);
}

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

struct profile_reading {
    struct monarc_profile *p;
    struct call_input in;
    struct format_hint hint;
    const struct format *format;
    struct err why;
};

static bool profile_read_bytes(void *context)
{
    struct profile_reading *r = context;
    r->format = format_probe(r->in.bytes, r->in.name, &r->hint, &r->why);
    return r->format &&
           r->format->read(r->in.bytes, r->in.name, &r->hint, &r->p->merger.sum, &r->why);
}

static bool profile_is_hint_sane(const struct monarc_hint *hint, struct monarc_error *e)
{
    if (hint && ((hint->pointer_bytes && hint->pointer_bytes != 4 && hint->pointer_bytes != 8) ||
                 hint->byte_order > MONARC_BIG_ENDIAN ||
                 (hint->bsd_header && hint->bsd_header != 20 && hint->bsd_header != 24)))
        return call_fail(e, MONARC_MISUSE,
                         "the hint has a pointer size, byte order or header that is none");
    return true;
}

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

static bool profile_encode(struct call_writing *writing)
{
    const struct profile *p = writing->what;
    const struct format *format = (const struct format *)(uintptr_t)writing->how;
    writing->w.word = p->word ? p->word : 8;
    writing->w.big_endian = p->big_endian;
    return format->write(&writing->w, p, &writing->why);
}

bool monarc_profile_write(const struct monarc_profile *p, enum monarc_format format,
                          struct monarc_target *to, struct monarc_error *e)
{
    const struct profile *sum = &p->merger.sum;
    const struct format *row = format ? profile_format_of(format) : format_of(sum);
    if (!row || !row->write)
        return call_fail(e, MONARC_MISUSE, "this is no format of profiles");
    struct call_writing writing = {.encode = profile_encode, .what = sum, .how = (uintptr_t)row};
    return call_write(&writing, &p->heap.memory, to, e);
}

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

void profile_histogram_facts(const struct histogram *h, struct monarc_histogram *out)
{
    *out = (struct monarc_histogram){.low = h->low,
                                     .high = h->high,
                                     .bins = h->bins,
                                     .rate = h->rate,
                                     .abbreviation = h->abbreviation};
    memcpy(out->dimension, h->dimension, sizeof out->dimension);
}

bool monarc_profile_histogram(const struct monarc_profile *p, size_t i,
                              struct monarc_histogram *out)
{
    if (i >= p->merger.sum.histograms.len)
        return false;
    profile_histogram_facts(&p->merger.sum.histograms.at[i], out);
    return true;
}

uint32_t monarc_profile_counts(const struct monarc_profile *p, size_t i, uint32_t first,
                               uint32_t len, uint64_t *out)
{
    if (i >= p->merger.sum.histograms.len)
        return 0;
    const struct histogram *h = &p->merger.sum.histograms.at[i];
    uint32_t left = first < h->bins ? h->bins - first : 0;
    len = len < left ? len : left;
    for (uint32_t k = 0; k < len; k++)
        out[k] = histogram_get(h, first + k);
    return len;
}

const struct monarc_arc *monarc_profile_arcs(const struct monarc_profile *p, size_t *len)
{
    *len = p->merger.sum.arcs.len;
    return (const struct monarc_arc *)p->merger.sum.arcs.at;
}

const struct monarc_block *monarc_profile_blocks(const struct monarc_profile *p, size_t *len)
{
    *len = p->merger.sum.blocks.len;
    return (const struct monarc_block *)p->merger.sum.blocks.at;
}
