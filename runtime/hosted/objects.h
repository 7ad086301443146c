/* The load map: which object lies where, and which one lay there before it was unloaded.
 *
 * When an object goes, the addresses in every table that point into it are rewritten in place to a
 * range that no mapping can have (RETIRED_BASE and up), and the object keeps that range. A library
 * loaded at the same place later starts with new cells. Nobody counts into the cells that are
 * rewritten, since their code is gone. */
#ifndef MONARC_HOSTED_OBJECTS_H
#define MONARC_HOSTED_OBJECTS_H

#include "process.h"

#define RETIRED_BASE  0xF000000000000000u
#define RETIRED_SHIFT 36 /* each retired object has 64 GiB */
#define MOST_BUILD_ID 32

struct object {
    uint32_t id;
    bool is_main, retired, seen;
    bool profiled;       /* calls were counted in it: its functions keep frame pointers */
    uint64_t start, end; /* as in the tables, [start, end) */
    uint64_t bias;       /* link address = table address - bias */
    uint64_t text_low, text_high;
    uint32_t build_id_size;
    unsigned char build_id[MOST_BUILD_ID];
    struct object *next; /* by falling id */
    char path[];
};

/* Brings the load map up to date. Takes the loader's lock: not for signal handlers. */
void objects_refresh(struct process *p);
/* All objects, newest first. A forked child inherits them. */
extern struct object *objects HIDDEN;
/* The object that holds an address of a table, or NULL. */
struct object *object_at(uint64_t address);

#endif
