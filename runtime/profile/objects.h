/* The load map: which object lies where, and which one lay there before it was unloaded.
 *
 * When an object goes, what was counted at its addresses is moved to a range that no mapping can
 * have (RETIRED_BASE and up): see unload.h. The first load of a file that goes keeps that range;
 * later loads of it join the first, and their entries are used again, so that a program which loads
 * and unloads for ever has a load map, tables and notes that do not grow. */
#ifndef MONARC_PROFILE_OBJECTS_H
#define MONARC_PROFILE_OBJECTS_H

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

/* All objects, newest first. A forked child inherits them. */
extern struct object *objects HIDDEN;
/* The object that holds an address of a table, or NULL. */
struct object *object_at(uint64_t address);

/* Two loads of one file, of which the first has unloaded: one gmon.out holds both. */
bool object_same(const struct object *a, const struct object *b);
/* The address in the file that `o` stands for; false if it is not in there. */
bool object_link_address(const struct object *o, uint64_t address, uint64_t *link);

/* Whether both are the same build, or neither says. */
bool object_has_build_id_of(const struct object *a, const struct object *b);
/* Whether both lie somewhere, and there is an address in both. */
bool object_overlaps(const struct object *a, const struct object *b);

/* An entry of the same file that lies nowhere, or NULL. */
struct object *object_find_gone(const struct object *like, const char *path);
/* A new entry, or NULL without memory; one that lies nowhere used again. Lock held. */
struct object *object_enter(const struct object *like, const char *path);
void object_use(struct object *o, const struct object *like);
/* The path of an entry with the same contents and name, so that the kernel is asked once for a
 * library that comes and goes. NULL if there is none. */
const char *object_known_path(const struct object *like, const char *name);

#endif
