/* Counters for gcc's -fprofile-use: those of any runs of one build, summed up, and only what the
 * next build's functions can take. */
#ifndef MONARC_SESSION_USE_COUNTERS_H
#define MONARC_SESSION_USE_COUNTERS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdint.h>

struct use_request {
    char **inputs; /* gcda, da, folders of them, with their notes beside */
    size_t inputs_len;
    const char *against; /* notes of the build that is to be optimised, or a folder; NULL: the same
                            build as the inputs' */
    const char *output;  /* a folder, or one file, X.gcda; NULL: nothing is written */
    uint32_t gcc;        /* that is to read the profile of what changed; 0: who wrote the notes */
    bool is_forced;      /* what cannot be read is passed over */
};

enum use_state {
    USE_MOVED,   /* to other lines, unchanged: kept, under the new build's numbers */
    USE_CHANGED, /* another control flow: its counters mean nothing any more */
    USE_GONE     /* the new build has no function of that name */
};

/* A function whose counters are not those that the new build expects. */
struct use_function {
    const char *name, *source;
    uint32_t line, new_line; /* of the declaration; 0: not known */
    enum use_state state;
    uint64_t count; /* of its blocks, summed */
};

/* Zeroed before, freed by use_counters_deinit(). */
struct use_counters {
    struct arena arena;
    VEC(struct use_function) functions; /* that are not as they were; most counts first */
    uint64_t objects, written, kept, moved, changed, gone;
    uint64_t count, lost;       /* of all blocks; of those of changed and gone functions */
    uint32_t runs;              /* the most of an object */
    uint64_t sum_max;           /* of the largest counts of single runs: what gcc scales by */
    uint64_t unmatched;         /* objects that the new build's notes do not have */
    const char *unmatched_path; /* the first of them */
    const char *drifted;        /* the AutoFDO profile of the objects with lost functions; NULL */
    uint64_t drifted_objects;   /* how many these are */
};

MUST_CHECK bool use_counters_write(struct use_counters *u, const struct use_request *r,
                                   struct err *e);
void use_counters_deinit(struct use_counters *u);

#endif
