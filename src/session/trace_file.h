/* A tracefile of lcov by itself, or another coverage tool's file of that kind. */
#ifndef MONARC_SESSION_TRACE_FILE_H
#define MONARC_SESSION_TRACE_FILE_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/tracefile.h"

#include <stdbool.h>

struct trace_file {
    const char *format, *title; /* of what it is */
    struct tracefile found;
};

/* Into a zeroed *f. *is_one: the bytes begin as such a file. On failure `found` holds the sections
 * that were whole. */
MUST_CHECK bool trace_file_read(struct trace_file *f, struct bytes in, const char *name,
                                bool *is_one, struct err *e);

#endif
