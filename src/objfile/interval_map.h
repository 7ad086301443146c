/* From spans that overlap to segments that do not: which span counts where. Private to this room.
 */
#ifndef MONARC_OBJFILE_INTERVAL_MAP_H
#define MONARC_OBJFILE_INTERVAL_MAP_H

#include "base/vec.h"

#include <stdint.h>

struct span {
    uint64_t low, high; /* [low, high) */
    uint64_t rank;      /* the lowest counts; at the same rank, the higher id */
    uint32_t id;
};

enum { NO_SPAN = UINT32_MAX };

/* Holds from `start` to the start of the next one. The last one of a cover has no id. */
struct segment {
    uint64_t start;
    uint32_t id; /* of the span that counts; NO_SPAN: none does */
};

struct interval_map {
    VEC(struct segment) segments;
};

/* Sorts `spans`; needs no more than twice as many segments as there are spans, and one. */
void interval_map_init(struct interval_map *c, struct span *spans, size_t len);
void interval_map_deinit(struct interval_map *c);

/* Index of the segment that holds an address; SIZE_MAX before the first. */
size_t interval_map_find(const struct interval_map *c, uint64_t address);

/* The id there. */
uint32_t interval_map_at(const struct interval_map *c, uint64_t address);

#endif
