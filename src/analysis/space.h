/* The objects of a process side by side, in one address space of ours.
 *
 * Each object file gets a range of its own, the executable that of its link addresses; a file that
 * was loaded several times gets one. So all functions are in one table, and whatever reads a
 * profile of one program reads that of a whole process. Places depend on the objects alone, not on
 * where the system put them. */
#ifndef MONARC_ANALYSIS_SPACE_H
#define MONARC_ANALYSIS_SPACE_H

#include "analysis/functions.h"
#include "model/recording.h"

struct space_object {
    const struct recorded_object *recorded; /* the first load of it */
    struct object *file;                    /* NULL: not to be had; one function stands for it */
    const char *label;
    uint64_t low, high; /* link addresses */
    uint64_t base;      /* place = link address + base */
};

/* One load of an object. */
struct space_load {
    uint64_t start, end; /* as recorded */
    uint64_t shift;      /* place = address + shift */
    uint32_t object;
};

struct space {
    struct space_object *objects; /* the executable first */
    uint32_t len;
    struct space_load *loads; /* by address */
    uint32_t loads_len;
};

/* Lays out the objects of a recording, without files; fails if they are too large to be true, or
 * there is no executable. Everything lives in the arena, and points into the recording. */
MUST_CHECK bool space_lay_out(struct space *s, const struct recording *r, struct arena *a,
                              struct err *e);

/* Our place of a recorded address, and its object; 0 if no object holds it. */
uint64_t space_place(const struct space *s, uint64_t address, uint32_t *object);

/* The recorder's own library: no part of the program, and other code after an upgrade. */
bool space_is_recorder(const struct space_object *o);

/* All functions of all objects, by place. Files that are there must stay open. */
void space_functions(const struct space *s, struct functions *f, struct arena *a);

/* Moves a profile with link addresses of an object to its place. */
void space_move_profile(const struct space_object *o, struct profile *p);

/* The arcs of the recording, with ends that are in no object as 0. */
void space_add_arcs(const struct space *s, const struct recording *r, struct profile *p);

#endif
