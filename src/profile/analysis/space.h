/* The objects of a run side by side, in one address space of ours, and the functions in it.
 *
 * Each object file gets a range of its own, the main program that of its link addresses. So all
 * functions are in one table, and whatever reads a profile of one program reads that of a whole
 * tree of processes. What stands for no file (kernel, waits, generated code, ends of incomplete
 * stacks) has functions as well, by name. Places depend on the objects alone, not on where the
 * system put them. */
#ifndef MONARC_PROFILE_ANALYSIS_SPACE_H
#define MONARC_PROFILE_ANALYSIS_SPACE_H

#include "profile/analysis/functions.h"
#include "profile/model/recording.h"

struct space_object {
    const struct recording_object *recorded;
    struct object *file;     /* NULL: not to be had, or needed for nothing */
    const char *label;       /* NULL: the main program */
    uint64_t low, high;      /* link addresses of its functions */
    uint64_t base;           /* place = link address + base */
    bool is_used;            /* there is a stack or call in it */
    bool is_other;           /* no file: another one is in its place */
    const char *why_missing; /* no file: what opening it said; NULL: nothing */
};

struct space {
    const struct recording *recording;
    struct space_object *objects; /* as in the run */
    uint32_t len;
    uint32_t main;     /* the main program, or RUN_NONE */
    uint64_t end;      /* all objects lie below */
    bool keeps_pieces; /* as functions of their own: .cold, .part */
    /* By space_functions(): */
    uint32_t *function; /* per node of the run */
    bool *is_piece;     /* per node: it is in a piece of its function, not where that begins */
    uint32_t cut[RECORDING_CUTS]; /* functions that stand for unknown callers, or NO_FUNCTION */
};

/* Lays out the objects of a run, without files; fails if they are too large to be true. Everything
 * lives in the arena, and points into the run, which must not grow any more. */
MUST_CHECK bool space_lay_out(struct space *s, const struct recording *r, struct arena *a,
                              struct err *e);

/* The path of a file, or what stands for it. */
const char *space_object_name(const struct space *s, uint32_t object);

/* The recorder's own library: no part of the program, and other code after an upgrade. */
bool space_is_recorder(const struct space_object *o);

/* All functions of all objects, by place, and which of them each node is in. Files that are there
 * must stay open. Code that no symbol names is in `[no symbol] (OBJECT)`. */
void space_functions(struct space *s, struct functions *f, struct arena *a);

/* The function of a node, or NO_FUNCTION: the root. */
static inline uint32_t space_function_of(const struct space *s, uint32_t node)
{
    return s->function[node];
}

/* Whether the node stands for callers that are not known. */
static inline bool space_is_cut(const struct space *s, uint32_t node)
{
    uint32_t object = node ? s->recording->nodes.at[node].object : RECORDING_NONE;
    return object != RECORDING_NONE &&
           s->recording->objects.at[object].kind == RECORDING_OBJECT_CUT;
}

/* Our place of a link address; 0 for no object. */
uint64_t space_place(const struct space *s, uint32_t object, uint64_t address);

struct profile;

/* The calls and blocks of the run, at their places; ends that are in no object as 0. */
void space_add_calls(const struct space *s, struct profile *p);

#endif
