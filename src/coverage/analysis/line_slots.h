/* A slot for each line of many sets (sources, functions): what the caller keeps of it, 32 bits.
 *
 * A set has a window, a slot for each number from the first line to the last that it is known to
 * have. What lies far beyond, as in damaged notes, is in chunks that are found by hash: one costs
 * little, and no table up to it. */
#ifndef MONARC_COVERAGE_ANALYSIS_LINE_SLOTS_H
#define MONARC_COVERAGE_ANALYSIS_LINE_SLOTS_H

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"

#define LINE_NO_SLOT UINT32_MAX /* what an empty slot holds */

enum { LINE_CHUNK_BITS = 5, LINE_CHUNK = 1 << LINE_CHUNK_BITS };

struct line_window {
    uint32_t start, len;
    size_t first; /* in slots */
};

struct line_chunk {
    uint32_t slots[LINE_CHUNK];
};

/* Zeroed: no sets. */
struct line_slots {
    VEC(struct line_window) windows; /* by set */
    VEC(uint32_t) slots;
    struct map chunk_of;
    VEC(struct line_chunk) chunks;
    VEC(struct keyed) order; /* of chunks, by set and number */
    uint64_t last_key;       /* plus one; the chunk asked for last */
    uint32_t last_chunk;
};

/* Adds a set; its number is how many there were. The window takes at most so many lines that
 * `mentions` of lines vouch for. */
void line_slots_add(struct line_slots *s, uint32_t start, uint32_t len, size_t mentions);
void line_slots_empty(struct line_slots *s); /* all slots again */
void line_slots_deinit(struct line_slots *s);

uint32_t *line_slot_beyond(struct line_slots *s, uint32_t set, uint32_t number);

/* Valid until the next call. */
static inline uint32_t *line_slot(struct line_slots *s, uint32_t set, uint32_t number)
{
    const struct line_window *w = &s->windows.at[set];
    if (number - w->start < w->len)
        return &s->slots.at[w->first + (number - w->start)];
    return line_slot_beyond(s, set, number);
}

/* Slots in the order of sets and lines, in pieces of one set each, all of them and the empty ones:
 *
 *     struct slot_walk walk = {0};
 *     line_slots_sort(s);
 *     while (line_slots_next(s, &walk)) ... walk.set, walk.slots[0 .. walk.len - 1]
 */
struct slot_walk {
    uint32_t set;
    const uint32_t *slots;
    size_t len;
    size_t windows, chunks; /* that were there */
};

void line_slots_sort(struct line_slots *s);
bool line_slots_next(const struct line_slots *s, struct slot_walk *walk);

#endif
