/* Lists of address ranges of a split unit. Private to this room. */
#ifndef MONARC_OBJFILE_SPLIT_RANGES_H
#define MONARC_OBJFILE_SPLIT_RANGES_H

#include "objfile/split/entry.h"

struct split_ranges {
    const struct split_unit *unit;
    struct cursor list;
    uint64_t base;
};

/* The ranges of an entry that has some; false where there are none to read. */
bool split_ranges_start(struct split_ranges *r, const struct split_unit *u,
                        const struct split_entry *e);

/* The next one, empty ones included; false at the end. */
bool split_ranges_next(struct split_ranges *r, uint64_t *low, uint64_t *high);

#endif
