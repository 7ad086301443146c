/* Samples that may be one owner's or another's, and the width of bins that would tell.
 *
 * The pieces of a bin come one after the other. Whose a bin is shows once its last piece is known:
 * one owner's, whose samples they surely are, or several owners', each of whom may have them all.
 *
 * Two neighbours are told apart by bins of 2^k bytes if a bin begins between the end of the first
 * and the start of the second. Bins are counted from the histogram's start, so that is asked of
 * distances from there; the least of all such widths would do for all shared bins that were hit.
 * Cost: as booking. */
#include "profile/analysis/sharing.h"

#include "base/vec.h"

#include <inttypes.h>

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

/* The largest power of two, at most `most`, that has a multiple in [from, to]. */
static uint64_t sharing_step_between(uint64_t from, uint64_t to, uint64_t most)
{
    uint64_t step = 1;
    while (step * 2 <= most)
        step *= 2;
    while (step > 1 && to / step * step < from)
        step /= 2;
    return step;
}

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
        uint64_t step = sharing_step_between(from, to, bytes > 1 ? bytes - 1 : 1);
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
