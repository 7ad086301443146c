/* Files compressed by gzip. */
#ifndef MONARC_OUTPUT_GZIP_H
#define MONARC_OUTPUT_GZIP_H

#include "base/bytes.h"
#include "base/err.h"

/* malloc'ed; the caller frees what `at` points to. */
struct bytes gzip_pack(struct bytes bytes);

/* Writes `bytes` compressed to `path`, which it makes or empties first. */
MUST_CHECK bool gzip_write(const char *path, struct bytes bytes, struct err *e);

#endif
