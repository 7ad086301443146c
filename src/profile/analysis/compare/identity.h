/* What a function is known by, whichever build it is of: the basis of every comparison. */
#ifndef MONARC_PROFILE_ANALYSIS_COMPARE_IDENTITY_H
#define MONARC_PROFILE_ANALYSIS_COMPARE_IDENTITY_H

#include "profile/analysis/functions.h"

struct identity {
    const char *name;   /* linkage name */
    const char *object; /* label; NULL: the executable */
    const char *file;   /* as debug information has it; NULL: unknown */
    uint32_t line;      /* where it begins; 0: unknown */
    uint64_t size;      /* bytes of code */
    int64_t within;     /* of lines: how far behind the function's first line; else 0 */
    bool is_made;       /* stands for code without a symbol, or for none */
    uint64_t build;     /* what its name is an address in; 0: it has a name of its own */
};

struct identities {
    struct identity *at;
    uint32_t len;
};

/* Of all functions of a table; texts are the table's. `objects` are by function.object, with NULL
 * elements; NULL: files are not asked for. */
void identities_of(struct identities *ids, const struct functions *f, struct object *const *objects,
                   struct arena *a);

#endif
