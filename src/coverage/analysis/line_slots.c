/* Windows are slices of one array; chunks are found by (set, number / LINE_CHUNK).
 *
 *     window of set 0     window of set 1       chunks, by hash
 *     [5 6 7 8 9]         [1 2 3]               (set 1, 4000000000 / 32) -> 32 slots
 *
 * Damaged notes may name any line: memory goes by what is mentioned, 64 slots and 16 for each
 * mention at most, and a chunk for what is beyond. Walking in order needs the chunks sorted once.
 */
#include "coverage/analysis/line_coverage_private.h"

#include <string.h>

void line_slots_add(struct line_slots *s, uint32_t start, uint32_t len, size_t mentions)
{
    enum { ALWAYS = 64, PER_MENTION = 16 };
    size_t most = ALWAYS + PER_MENTION * mentions, first = s->slots.len;
    struct line_window w = {
        .start = start, .len = len < most ? len : (uint32_t)most, .first = first};
    vec_push(&s->windows, w);
    vec_reserve(&s->slots, first + w.len + 1); /* an empty window has an address, too */
    s->slots.len = first + w.len;
    if (w.len)
        memset(s->slots.at + first, 0xff, w.len * sizeof *s->slots.at);
}

/* The chunk that was requested last is tried first. */
static uint32_t chunk_at(struct line_slots *s, uint64_t key)
{
    if (key + 1 == s->last_key)
        return s->last_chunk;
    bool is_new;
    uint32_t index = map_index(&s->chunk_of, key, 0, s->chunks.len, &is_new);
    if (is_new) {
        vec_reserve(&s->chunks, s->chunks.len + 1);
        memset(&s->chunks.at[s->chunks.len++], 0xff, sizeof *s->chunks.at);
        vec_push(&s->order, (struct keyed){key, index});
    }
    s->last_key = key + 1;
    return s->last_chunk = index;
}

uint32_t *line_slot_beyond(struct line_slots *s, uint32_t set, uint32_t number)
{
    uint32_t chunk = chunk_at(s, ((uint64_t)set << (32 - LINE_CHUNK_BITS) |
                                  number >> LINE_CHUNK_BITS)); /* may move the chunks */
    return &s->chunks.at[chunk].slots[number % LINE_CHUNK];
}

/* Windows and chunks stay. */
void line_slots_empty(struct line_slots *s)
{
    if (s->slots.len)
        memset(s->slots.at, 0xff, s->slots.len * sizeof *s->slots.at);
    if (s->chunks.len)
        memset(s->chunks.at, 0xff, s->chunks.len * sizeof *s->chunks.at);
}

void line_slots_sort(struct line_slots *s)
{
    sort_keyed(s->order.at, s->order.len);
}

/* A set's chunks come after its window: they have higher numbers. */
bool line_slots_next(const struct line_slots *s, struct slot_walk *walk)
{
    if (walk->windows && walk->chunks < s->order.len &&
        ((uint32_t)(s->order.at[walk->chunks].key >> (32 - LINE_CHUNK_BITS))) == walk->set) {
        walk->slots = s->chunks.at[s->order.at[walk->chunks++].item].slots;
        walk->len = LINE_CHUNK;
        return true;
    }
    if (walk->windows == s->windows.len)
        return false;
    const struct line_window *w = &s->windows.at[walk->windows];
    walk->set = (uint32_t)walk->windows++;
    walk->slots = s->slots.at + w->first;
    walk->len = w->len;
    return true;
}

void line_slots_deinit(struct line_slots *s)
{
    vec_free(&s->windows);
    vec_free(&s->slots);
    map_deinit(&s->chunk_of);
    vec_free(&s->chunks);
    vec_free(&s->order);
    s->last_key = 0;
}
