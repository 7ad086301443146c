/* Writes gmon.out files. */
#ifndef MONARC_PROFILE_GMON_H
#define MONARC_PROFILE_GMON_H

#include "merge.h"
#include "objects.h"
#include "output.h"
#include "sampling/sample.h"

struct measured {
    struct merged arcs, stacks, blocks;
    struct sample_totals totals;
};

/* The object's own arcs, samples and blocks, for GNU gprof and anyone else. `o` stands for all
 * objects that object_same joins to it. */
bool gmon_write(struct output *out, const char *path, struct object *o, const struct measured *m);
/* True if nothing was recorded in the object. */
bool gmon_is_empty(struct object *o, const struct measured *m);

#endif
