/* Whose time it was: each frame's own amount, split among threads in whole numbers. */
#include "profile/analysis/exchange/exchange.h"

#include "base/map.h"
#include "base/sort.h"

#include <math.h>

void exchange_thread_shares(struct exchange_input *in, const struct exchange_samples *from,
                            struct arena *a)
{
    const struct recording *r = from->recording;
    VEC(struct exchange_share) all = {0};
    struct map place_of = {0};
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (from->weights[s->node] <= 0 || !recording_choice_admits(from->choice, r, s))
            continue;
        bool is_new;
        uint32_t node = from->merged[s->node];
        uint32_t place = map_index(&place_of, node, s->thread, all.len, &is_new);
        if (is_new)
            vec_push(&all, (struct exchange_share){.node = node, .thread = s->thread});
        all.at[place].weight += (double)s->weight;
    }
    struct exchange_share *shares = ARENA_NEW(a, struct exchange_share, all.len);
    for (size_t i = 0; i < all.len; i++)
        shares[i] = all.at[i];
    in->shares = shares;
    in->shares_len = all.len;
    vec_free(&all);
    map_deinit(&place_of);
}

/* Each part is what lies between the sum before it and behind, so that they add up to `self`. */
static void threads_split_frame(struct exchange *x, const struct exchange_share *shares,
                                const struct keyed *order, size_t len)
{
    uint32_t frame = (uint32_t)(order->key >> 32);
    uint64_t self = x->frames.at[frame].self, given = 0;
    double whole = 0, sum = 0;
    for (size_t i = 0; i < len; i++)
        whole += shares[order[i].item].weight;
    for (size_t i = 0; i < len; i++) {
        sum += shares[order[i].item].weight;
        uint64_t until = i + 1 == len ? self : (uint64_t)floor((double)self * (sum / whole));
        until = until > self ? self : until;
        if (until > given)
            vec_push(&x->parts,
                     (struct exchange_part){frame, (uint32_t)order[i].key, until - given});
        given = until > given ? until : given;
    }
}

void exchange_split(struct exchange *x, const struct exchange_input *in, const uint32_t *frame_of)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, in->shares_len);
    size_t len = 0, next;
    for (size_t i = 0; i < in->shares_len; i++) {
        uint32_t frame = frame_of[in->shares[i].node];
        if (frame && x->frames.at[frame].self)
            order[len++] = (struct keyed){map_two(frame, in->shares[i].thread), (uint32_t)i};
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i = next) {
        for (next = i + 1; next < len && order[next].key >> 32 == order[i].key >> 32;)
            next++;
        threads_split_frame(x, in->shares, order + i, next - i);
    }
    arena_deinit(&scratch);
}
