/* The load map: which object lies where, and which one lay there before it was unloaded.
 *
 * When an object goes, what was counted at its addresses is moved to a range that no mapping can
 * have (RETIRED_BASE and up): see unload.c. The first load of a file that goes keeps that range;
 * later loads of it join the first, and their entries are used again, so that a program which loads
 * and unloads for ever has a load map, tables and notes that do not grow. */
#ifndef MONARC_HOSTED_OBJECTS_H
#define MONARC_HOSTED_OBJECTS_H

#include "process.h"

#define RETIRED_BASE  0xF000000000000000u
#define RETIRED_SHIFT 36 /* each retired object has 64 GiB */
#define MOST_BUILD_ID 32

struct object {
    uint32_t id;
    bool is_main, seen;
    bool retired;        /* has its range up there */
    bool gone;           /* lies nowhere: an entry to be used again */
    bool profiled;       /* calls were counted in it: its functions keep frame pointers */
    uint64_t start, end; /* as in the tables, [start, end) */
    uint64_t bias;       /* link address = table address - bias */
    uint64_t text_low, text_high;
    uint32_t build_id_size;
    unsigned char build_id[MOST_BUILD_ID];
    char *note; /* its record in the live file of process `noted_by`, rewritten as it changes */
    uint32_t note_bytes;
    int noted_by;
    struct object *next; /* by falling id */
    char path[];
};

/* Brings the load map up to date. Takes the loader's lock: not for signal handlers. */
void objects_refresh(struct process *p);
/* All objects, newest first. A forked child inherits them. */
extern struct object *objects HIDDEN;
/* The object of code that runs just now and that the load map does not know: asks the kernel, not
 * the loader. NULL if there is none. Any context; takes the lock. */
struct object *object_discover(struct process *p, uint64_t address);
/* Moves what was counted at an unloaded object's addresses. Lock held. */
void object_unload(struct process *p, struct object *o);
/* The object that holds an address of a table, or NULL. */
struct object *object_at(uint64_t address);

#endif
