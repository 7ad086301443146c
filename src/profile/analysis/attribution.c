/* Attribution: the hits of histogram bins booked on functions, and what the recorder's coarse
 * counters leave open.
 *
 * A recorder counts hits in bins of a few bytes each, and a bin knows nothing of functions. One
 * that lies over several is split by the bytes that each has in it:
 *
 *     bins          |      8      |      6      |
 *     functions     [      a     ][ b ]...[  c  ]        a: 8 * 12/13   b: 8 * 1/13 + 6 * 4/10 ...
 *
 * Bytes of no function take no part, so that a bin that touches a function at all is booked whole;
 * one that touches none is unattributed. What holds: booked and unattributed hits are what was
 * read, to the rounding of doubles. Histograms and functions both come by address: cost is linear
 * in the bins that were hit, with a step for each function between.
 *
 * The split is a guess wherever a bin is shared. `sharing` says how far off it may be,
 * `merged_calls` does the same for the arcs of LD_PROFILE, and `measured` lists the addresses that
 * a profile says anything about, so that others read debug information of nothing else. */
#include "profile/analysis/attribution.h"

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/analysis/functions.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

void attribution_init(struct attribution *t, const struct profile *p, uint32_t len, struct arena *a)
{
    *t = (struct attribution){
        .self = ARENA_NEW(a, double, len), .dimension = "seconds", .abbreviation = 's'};
    if (!p->histograms.len)
        return;
    const struct histogram *h = &p->histograms.at[0];
    t->has_histogram = true;
    t->rate = h->rate;
    t->dimension = arena_copy(a, h->dimension, strlen(h->dimension));
    t->abbreviation = h->abbreviation;
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Splits the hits of a bin among the functions that overlap it. */
static void split(const struct address_index *x, uint32_t from, const struct sampled_piece *bin,
                  piece_visitor *visit, void *context)
{
    uint64_t low = bin->low, high = bin->high;
    uint64_t covered = 0;
    for (uint32_t i = from; i < x->len && x->at[i].start < high; i++)
        covered += minimum(high - 1, x->at[i].last) - maximum(low, x->at[i].start) + 1;
    if (!covered)
        visit(bin, context);
    for (uint32_t i = from; covered && i < x->len && x->at[i].start < high; i++) {
        struct sampled_piece piece = *bin;
        piece.low = maximum(low, x->at[i].start);
        piece.high = minimum(high - 1, x->at[i].last) + 1;
        piece.function = i;
        piece.samples = bin->of_bin * (double)(piece.high - piece.low) / (double)covered;
        visit(&piece, context);
    }
}

void attribute_pieces(const struct profile *p, const struct address_index *x, piece_visitor *visit,
                      void *context)
{
    double counts = p->counts_a_sample > 0 ? p->counts_a_sample : 1;
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        uint32_t function = 0;
        for (uint32_t k = 0; (k = histogram_next(h, k)) < h->bins; k++) {
            uint64_t low = histogram_bin_ceiling(h, k), high = histogram_bin_ceiling(h, k + 1);
            high = high > low ? high : low + 1;
            /* The first function at or after `from` that ends at or after `address`. */
            uint32_t from = function;
            while (from < x->len && x->at[from].last < low)
                from++;
            function = from;
            double samples = (double)histogram_get(h, k) / counts;
            split(x, function,
                  &(struct sampled_piece){low, high, NO_RANGE_THERE, samples, low, high, h->low,
                                          samples},
                  visit, context);
        }
    }
}

/* A piece_visitor that adds up self times. */
static void book(const struct sampled_piece *piece, void *context)
{
    struct attribution *t = context;
    if (piece->function == NO_RANGE_THERE)
        t->unattributed += piece->samples;
    else
        t->self[piece->function] += piece->samples;
}

void attribute_native(struct attribution *t, const struct profile *p, const struct address_index *x,
                      struct arena *a)
{
    attribution_init(t, p, x->len, a);
    t->total = (double)profile_samples(p);
    attribute_pieces(p, x, book, t);
}

/* --- sharing -------------------------------------------------------------------------------------
 *
 * Samples that may be one owner's or another's, and the width of bins that would separate them.
 *
 * The pieces of a bin come one after the other. Whose a bin is shows once its last piece is known:
 * one owner's, whose samples they surely are, or several owners', each of whom may have them all.
 *
 * Bins of 2^k bytes separate two neighbours if a bin begins between the end of the first and the
 * start of the second. Bins are counted from the histogram's start, so that is asked of distances
 * from there; the least of all such widths would do for all shared bins that were hit.
 * Cost: as booking. */

struct bin_part {
    uint32_t owner;
    uint64_t start, end; /* of its whole range, which may reach out of the bin */
};

struct sharing_walk {
    struct sharing *out;
    const struct address_index *index;
    const uint32_t *owner;
    uint64_t low, high, origin; /* of the bin whose parts are gathered */
    double samples;
    VEC(struct bin_part) parts;
    uint32_t *seen; /* per owner: the bin in which it was last counted */
    uint32_t bins;
};

/* Books the bin whose parts are gathered. */
static void sharing_end_bin(struct sharing_walk *w)
{
    struct sharing *s = w->out;
    bool is_shared = false;
    uint64_t bytes = w->high - w->low;
    for (size_t i = 1; i < w->parts.len; i++) {
        const struct bin_part *left = &w->parts.at[i - 1], *right = &w->parts.at[i];
        if (left->owner == right->owner)
            continue;
        is_shared = true;
        uint64_t from = left->end - w->origin, to = right->start - w->origin;
        /* The largest power of two, at most `most`, that has a multiple in [from, to]. */
        uint64_t step = 1;
        while (step * 2 <= (bytes > 1 ? bytes - 1 : 1))
            step *= 2;
        while (step > 1 && to / step * step < from)
            step /= 2;
        s->separating_bytes =
            s->separating_bytes && s->separating_bytes < step ? s->separating_bytes : step;
    }
    w->bins++;
    for (size_t i = 0; i < w->parts.len; i++) {
        uint32_t owner = w->parts.at[i].owner;
        if (w->seen[owner] == w->bins)
            continue;
        w->seen[owner] = w->bins;
        s->most[owner] += w->samples;
        s->least[owner] += is_shared ? 0 : w->samples;
    }
    if (is_shared) {
        s->samples += w->samples;
        s->bin_bytes = bytes > s->bin_bytes ? bytes : s->bin_bytes;
    }
    w->parts.len = 0;
}

/* A piece_visitor: one bin's pieces follow each other. */
static void sharing_take(const struct sampled_piece *piece, void *context)
{
    struct sharing_walk *w = context;
    if (piece->function == NO_RANGE_THERE)
        return;
    uint32_t owner = w->owner ? w->owner[piece->function] : piece->function;
    if (owner == NO_RANGE_THERE)
        return;
    if (w->parts.len && (w->low != piece->bin_low || w->origin != piece->origin))
        sharing_end_bin(w);
    const struct indexed_range *range = &w->index->at[piece->function];
    w->low = piece->bin_low;
    w->high = piece->bin_high;
    w->origin = piece->origin;
    w->samples = piece->of_bin;
    vec_push(&w->parts, ((struct bin_part){owner, range->start, range->last + 1}));
}

void sharing_find(struct sharing *s, const struct profile *p, const struct address_index *x,
                  const uint32_t *owner, uint32_t owners, struct arena *a)
{
    struct arena scratch = {0};
    struct sharing_walk w = {
        .out = s, .index = x, .owner = owner, .seen = ARENA_NEW(&scratch, uint32_t, owners)};
    *s = (struct sharing){.least = ARENA_NEW(a, double, owners),
                          .most = ARENA_NEW(a, double, owners)};
    attribute_pieces(p, x, sharing_take, &w);
    if (w.parts.len)
        sharing_end_bin(&w);
    vec_free(&w.parts);
    arena_deinit(&scratch);
}

void sharing_of_functions(struct sharing *s, const struct profile *p, const struct functions *f,
                          struct arena *a)
{
    struct arena scratch = {0};
    uint32_t *whole = ARENA_NEW(&scratch, uint32_t, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        whole[i] = functions_whole(f, i);
    sharing_find(s, p, &f->index, whole, f->len, a);
    arena_deinit(&scratch);
}

const char *sharing_text(const struct sharing *s, double samples, struct arena *a)
{
    return arena_printf(a,
                        "%.3g %% of the samples are in bins of %" PRIu64
                        " bytes that lie over several functions; bins of %" PRIu64 " byte%s would "
                        "tell those apart",
                        100 * s->samples / samples, s->bin_bytes, s->separating_bytes,
                        s->separating_bytes == 1 ? "" : "s");
}

/* --- merged calls
 * --------------------------------------------------------------------------------- */

void merged_calls_find(struct merged_calls *m, const struct profile *p, const struct keyed *entries,
                       uint32_t len)
{
    struct map called = {0}; /* bytes of code: the entry in them that was called from outside */
    struct arena scratch = {0};
    bool *has_own = ARENA_NEW(&scratch, bool, len);
    *m = (struct merged_calls){0};
    /* The recorder counts its groups of 32 bytes from the start of the text. */
    uint64_t low = p->histograms.len ? p->histograms.at[0].low : 0;
    for (size_t i = 0; p->format == PROFILE_SPROF && i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        /* The last entry at or before the callee, counted from 1. */
        uint32_t callee = arc->from ? 0 : PARTITION_POINT(len, at, entries[at].key <= arc->self);
        if (!callee)
            continue;
        has_own[callee - 1] = true;
        map_at(&called, (arc->self - low) / MERGED_CALLS_BYTES, 0, callee - 1, NULL);
    }
    for (uint32_t i = 0; i < len; i++) {
        uint32_t *into = map_find(&called, (entries[i].key - low) / MERGED_CALLS_BYTES, 0);
        if (entries[i].key < low || has_own[i] || !into)
            continue;
        if (!m->functions++) {
            m->first = entries[i].item;
            m->into = entries[*into].item;
        }
    }
    map_deinit(&called);
    arena_deinit(&scratch);
}

void merged_calls_of(struct merged_calls *m, const struct profile *p, const struct functions *f)
{
    struct arena scratch = {0};
    struct keyed *entries = ARENA_NEW(&scratch, struct keyed, f->len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < f->len; i++)
        if (!f->at[i].is_static)
            entries[len++] = (struct keyed){f->at[i].start, i};
    merged_calls_find(m, p, entries, len);
    arena_deinit(&scratch);
}

/* --- measured addresses
 * ---------------------------------------------------------------------------- */

/* A range that begins within or at the end of the one before makes it longer. */
void measured_add(struct measured *m, uint64_t low, uint64_t high)
{
    struct object_range *last = m->ranges.len ? &m->ranges.at[m->ranges.len - 1] : NULL;
    if (last && low >= last->low && low <= last->high)
        last->high = high > last->high ? high : last->high;
    else
        vec_push(&m->ranges, ((struct object_range){low, high}));
}

void measured_add_blocks(struct measured *m, const struct profile *p)
{
    for (size_t i = 0; i < p->blocks.len; i++)
        measured_add(m, p->blocks.at[i].address, p->blocks.at[i].address + 1);
    /* Ranges that touch become one. */
    struct arena scratch = {0};
    size_t len = m->ranges.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct object_range *copy = ARENA_NEW(&scratch, struct object_range, len);
    for (size_t k = 0; k < len; k++) {
        copy[k] = m->ranges.at[k];
        order[k] = (struct keyed){copy[k].low, (uint32_t)k};
    }
    sort_keyed(order, len);
    m->ranges.len = 0;
    for (size_t k = 0; k < len; k++)
        measured_add(m, copy[order[k].item].low, copy[order[k].item].high);
    arena_deinit(&scratch);
}

void measured_init(struct measured *m, const struct profile *p, const struct functions *f)
{
    *m = (struct measured){0};
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        for (uint32_t k = 0; (k = histogram_next(h, k)) < h->bins; k++) {
            uint64_t low = histogram_bin_floor(h, k), high = histogram_bin_ceiling(h, k + 1);
            measured_add(m, low, high > low ? high : low + 1);
        }
    }
    for (size_t i = 0; i < p->arcs.len; i++) {
        uint64_t from = p->arcs.at[i].from;
        measured_add(m, from ? from - 1 : 0, from + 1);
        uint32_t callee = functions_find(f, p->arcs.at[i].self);
        if (callee != NO_FUNCTION)
            measured_add(m, f->at[callee].start, f->at[callee].start + 1);
    }
    measured_add_blocks(m, p);
}

void measured_deinit(struct measured *m)
{
    vec_free(&m->ranges);
}
