/* From spans that overlap to segments that do not: which span counts where. Private to this room.
 */
#ifndef MONARC_OBJFILE_COVER_H
#define MONARC_OBJFILE_COVER_H

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

struct cover {
    VEC(struct segment) segments;
};

/* Sorts `spans`; needs no more than twice as many segments as there are spans, and one. */
void cover_init(struct cover *c, struct span *spans, size_t len);
void cover_deinit(struct cover *c);

/* Index of the segment that holds an address; SIZE_MAX before the first. */
size_t cover_find(const struct cover *c, uint64_t address);

/* The id there. */
uint32_t cover_at(const struct cover *c, uint64_t address);

#endif
