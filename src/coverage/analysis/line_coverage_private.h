/* Two parts of counting lines that are tested alone: a slot for every line that is mentioned, and
 * loops within one line. */
#ifndef MONARC_COVERAGE_ANALYSIS_LINE_COVERAGE_PRIVATE_H
#define MONARC_COVERAGE_ANALYSIS_LINE_COVERAGE_PRIVATE_H

#include "base/map.h"
#include "base/sort.h"
#include "coverage/analysis/line_coverage.h"

/* ---- slots (line_slots.c)
 *
 * A slot for each line of many sets (sources, functions): what the caller keeps of it, 32 bits. A
 * set has a window, a slot for each number from the first line to the last that it is known to
 * have. What lies far beyond, as in damaged notes, is in chunks that are found by hash: one costs
 * little, and no table up to it. */

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
    uint64_t last_key;       /* plus one; the chunk requested last */
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

/* ---- loops (line_loops.c) */

struct line_loops; /* scratch */

struct line_loops *line_loops_new(void);
void line_loops_free(struct line_loops *l);

/* How often elementary cycles among these blocks went round: each cycle found takes the least count
 * of its arcs away from them. */
int64_t line_loops_count(struct line_loops *l, const struct coverage_unit *units,
                         const struct function_instance *instances,
                         const struct instance_block *blocks, uint32_t len);

#endif
