/* Counters of gcc and clang --coverage as the proposal's da file. What the program holds has no
 * names of functions: they are read from the notes (gcno) of the object, and so are the graphs,
 * whose checksum is what `monarc convert --to bbg` gives the same function. */
#ifndef MONARC_COVER_GCNO_NAMES_H
#define MONARC_COVER_GCNO_NAMES_H

#include "objects.h"

/* Whether MONARC_COVER_FORMAT asks for da. */
bool noted_is_wanted(void);

/* The data of a compiler's object. */
struct noted_subject {
    const char *filename; /* of its gcda */
    const struct gcov_dialect *dialect;
    uint32_t version, stamp, checksum, n_functions;
    bool has_largest; /* its gcda has the sum of each run's largest count */
};

/* Makes a compiler's object one that is written as da. False, reported, and the object as it was,
 * if its notes cannot be read or are of another build. */
bool noted_adopt(struct object *o, const struct noted_subject *subject);

#endif
