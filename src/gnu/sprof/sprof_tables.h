/* A profile of one shared object, as sprof counts: samples and calls of each symbol, and who called
 * whom. */
#ifndef MONARC_GNU_SPROF_TABLES_H
#define MONARC_GNU_SPROF_TABLES_H

#include "base/map.h"
#include "base/vec.h"
#include "objfile/object.h"
#include "profile/analysis/attribution.h"
#include "profile/model/profile.h"

enum { SPROF_NONE = -1 }; /* as uint32_t: no symbol, no arc */

struct sprof_symbol {
    const struct object_symbol *named;
    uint64_t ticks, calls;
    uint32_t froms, tos; /* the last arc that was found, first of a chain */
};

/* Calls between two symbols, or one and what has no symbol. */
struct sprof_arc {
    uint32_t symbol; /* the other side */
    uint32_t next;   /* the one found before */
    uint64_t count;
};

struct sprof_tables {
    VEC(struct sprof_symbol) symbols; /* by address, one for each */
    VEC(struct sprof_arc) arcs;
    VEC(uint64_t) ends; /* the furthest end of a symbol so far */
    uint64_t total_ticks;
    double tick; /* in units of the dimension */
    const char *dimension;
    struct map known;
    struct merged_calls merged;
};

void sprof_count(struct object *o, const struct profile *p, struct sprof_tables *out);
void sprof_tables_deinit(struct sprof_tables *t);

#endif
