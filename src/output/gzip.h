/* Files compressed by gzip. */
#ifndef MONARC_BASE_GZIP_H
#define MONARC_BASE_GZIP_H

#include "base/bytes.h"
#include "base/err.h"

/* Writes `bytes` compressed to `path`, which it makes or empties first. */
MUST_CHECK bool gzip_write(const char *path, struct bytes bytes, struct err *e);

#endif
