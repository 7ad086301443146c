/* What gmon.out version 0 says of blocks beside their counts: group, source file, function and
 * line. Analyses do not use it, as debug information says it more reliably; merging and writing
 * version 0 keep it.
 *
 * An address has one name: that with which it was seen first. */
#ifndef MONARC_PROFILE_MODEL_BLOCK_NAMES_H
#define MONARC_PROFILE_MODEL_BLOCK_NAMES_H

#include "base/map.h"

struct block_name {
    const char *group, *file, *function; /* "" where the file says nothing */
    uint32_t line;
};

struct block_name_row {
    uint64_t address;
    uint32_t group, file, function, line; /* texts: numbers in `texts` */
};

/* A zeroed one is empty. */
struct block_names {
    struct intern texts;
    struct map by_address;
    VEC(struct block_name_row) rows;
};

/* Copies the texts. Does nothing if the address has a name or the name says nothing. */
void block_names_add(struct block_names *n, uint64_t address, const struct block_name *name);
void block_names_add_all(struct block_names *n, const struct block_names *from);

/* Empty texts and line 0 where nothing is known. */
struct block_name block_names_find(const struct block_names *n, uint64_t address);

void block_names_deinit(struct block_names *n);

#endif
