/* Printing the records of one gcno or gcda file in the layout of gcov-dump 12. */
#ifndef MONARC_GNU_GCOV_GCOV_DUMP_H
#define MONARC_GNU_GCOV_GCOV_DUMP_H

#include "base/bytes.h"
#include "base/err.h"
#include "output/out.h"

struct gcov_dump {
    struct out *out, *complaints;
    bool is_long, has_positions, is_raw;
};

/* Whether the bytes begin with the magic of either kind, in either byte order. */
bool gcov_dump_is_file(struct bytes in);

/* Fails where the file breaks off; what is before that has been printed. */
MUST_CHECK bool gcov_dump_print(struct gcov_dump *d, const char *name, struct bytes in,
                                struct err *e);

#endif
