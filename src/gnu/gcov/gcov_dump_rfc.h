/* Printing the records of one bbg or da file. */
#ifndef MONARC_GNU_GCOV_GCOV_DUMP_RFC_H
#define MONARC_GNU_GCOV_GCOV_DUMP_RFC_H

#include "gnu/gcov/gcov_dump.h"

bool gcov_dump_is_rfc(struct bytes in);

/* As gcov_dump_print(). */
MUST_CHECK bool gcov_dump_print_rfc(const struct gcov_dump *d, const char *name, struct bytes in,
                                    struct err *e);

#endif
