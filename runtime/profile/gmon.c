/* Writes gmon.out, version 1, so that GNU gprof 2.40 reads exact figures out of it.
 *
 * gprof adds up records of the same range and of the same arc, so a bin beyond 16 bits or a count
 * beyond 32 is written as several records. Bins cover two bytes of text, the finest that gprof
 * divides right. Addresses are link addresses. Specification: include/monarc/gmon_out.h; gprof's
 * rule that all ranges of a file share bytes per bin and never overlap in part. */
#include "gmon.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <monarc/gmon_out.h>

#define BIN_BYTES   2
#define WHOLE_TEXT  ((uint64_t)16 << 20) /* up to this one record covers it all */
#define PIECE_TEXT  ((uint64_t)4096)
#define MOST_IN_BIN 65535u
#define MOST_IN_ARC UINT32_MAX

struct bins {
    uint64_t low, high; /* link addresses */
    uint64_t *at, most;
    size_t bytes;
};

static void put_address(struct output *out, uint64_t address)
{
    uintptr_t a = (uintptr_t)address;
    output_bytes(out, &a, sizeof a);
}

static void put_hist(struct output *out, const struct bins *b, uint64_t low, uint64_t high,
                     uint32_t rate)
{
    const struct event_row *event = &event_rows[config.event];
    char dimension[GMON_OUT_DIMENSION_BYTES] = {0};
    for (int i = 0; i < GMON_OUT_DIMENSION_BYTES && event->dimension[i]; i++)
        dimension[i] = event->dimension[i];
    output_bytes(out, &(char){GMON_OUT_TAG_HISTOGRAM}, 1);
    put_address(out, low);
    put_address(out, high);
    output_u32(out, (uint32_t)((high - low) / BIN_BYTES));
    output_u32(out, rate);
    output_bytes(out, dimension, sizeof dimension);
    output_bytes(out, &event->abbreviation, 1);
    for (uint64_t i = (low - b->low) / BIN_BYTES; i < (high - b->low) / BIN_BYTES; i++) {
        uint16_t n = (uint16_t)(b->at[i] < MOST_IN_BIN ? b->at[i] : MOST_IN_BIN);
        b->at[i] -= n;
        output_bytes(out, &n, sizeof n);
    }
}

static bool any_left(const struct bins *b, uint64_t low, uint64_t high)
{
    for (uint64_t i = (low - b->low) / BIN_BYTES; i < (high - b->low) / BIN_BYTES; i++)
        if (b->at[i])
            return true;
    return false;
}

static void put_pieces(struct output *out, const struct bins *b, uint32_t rate)
{
    bool none = true;
    for (uint64_t low = b->low; low < b->high; low += PIECE_TEXT) {
        uint64_t high = low + PIECE_TEXT < b->high ? low + PIECE_TEXT : b->high;
        while (any_left(b, low, high)) {
            put_hist(out, b, low, high, rate);
            none = false;
        }
    }
    if (none)
        put_hist(out, b, b->low, b->low + BIN_BYTES, rate);
}

static void fill_bins(struct bins *b, const struct object *o, const struct merged *stacks)
{
    uint64_t link;
    for (size_t i = 0; i < stacks->count; i++) {
        if (!object_link_address(o, stacks->at[i].b, &link) || link < b->low || link >= b->high)
            continue;
        uint64_t *bin = &b->at[(link - b->low) / BIN_BYTES];
        *bin += stacks->at[i].count;
        b->most = *bin > b->most ? *bin : b->most;
    }
}

static bool put_samples(struct output *out, const struct object *o, const struct measured *m)
{
    struct bins b = {.low = o->text_low - o->bias, .high = o->text_high - o->bias};
    if (b.low == b.high)
        return true;
    b.bytes = (b.high - b.low) / BIN_BYTES * sizeof *b.at;
    b.at = sys_pages(b.bytes);
    if (!b.at)
        return false;
    fill_bins(&b, o, &m->stacks);
    if (b.most <= MOST_IN_BIN && b.high - b.low <= WHOLE_TEXT)
        put_hist(out, &b, b.low, b.high, m->totals.rate);
    else
        put_pieces(out, &b, m->totals.rate);
    sys_pages_free(b.at, b.bytes);
    return true;
}

static void put_arc(struct output *out, uint64_t from, uint64_t self, uint64_t count)
{
    while (count > 0) {
        uint32_t n = (uint32_t)(count < MOST_IN_ARC ? count : MOST_IN_ARC);
        output_bytes(out, &(char){GMON_OUT_TAG_ARC}, 1);
        put_address(out, from);
        put_address(out, self);
        output_u32(out, n);
        count -= n;
    }
}

static void put_arcs(struct output *out, const struct object *o, const struct merged *arcs)
{
    uint64_t from, self;
    for (size_t i = 0; i < arcs->count; i++) {
        const struct cell *c = &arcs->at[i];
        if (object_link_address(o, c->a, &from) && object_link_address(o, c->b, &self))
            put_arc(out, from, self, c->count);
    }
}

static void put_blocks(struct output *out, const struct object *o, const struct merged *blocks)
{
    uint32_t n = 0;
    uint64_t link;
    for (size_t i = 0; i < blocks->count; i++)
        n += object_link_address(o, blocks->at[i].b, &link);
    if (!n)
        return;
    output_bytes(out, &(char){GMON_OUT_TAG_BLOCKS}, 1);
    output_u32(out, n);
    for (size_t i = 0; i < blocks->count; i++)
        if (object_link_address(o, blocks->at[i].b, &link)) {
            put_address(out, link);
            put_address(out, blocks->at[i].count);
        }
}

static bool any_inside(struct object *o, const struct merged *m)
{
    uint64_t link;
    for (size_t i = 0; i < m->count; i++)
        if (m->at[i].count && object_link_address(o, m->at[i].b, &link))
            return true;
    return false;
}

bool gmon_is_empty(struct object *o, const struct measured *m)
{
    return !any_inside(o, &m->arcs) && !any_inside(o, &m->stacks) && !any_inside(o, &m->blocks);
}

bool gmon_write(struct output *out, const char *path, struct object *o, const struct measured *m)
{
    static const char spare[GMON_OUT_HEADER_BYTES - 8];
    if (!output_open(out, path))
        return false;
    output_bytes(out, GMON_OUT_MAGIC, 4);
    output_u32(out, GMON_OUT_VERSION_1);
    output_bytes(out, spare, sizeof spare);
    out->failed |= !put_samples(out, o, m);
    put_arcs(out, o, &m->arcs);
    put_blocks(out, o, &m->blocks);
    return output_close(out);
}
