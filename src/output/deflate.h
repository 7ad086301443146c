/* Bytes compressed as a bare DEFLATE stream (RFC 1951), which browsers call deflate-raw. */
#ifndef MONARC_OUTPUT_DEFLATE_H
#define MONARC_OUTPUT_DEFLATE_H

#include "base/bytes.h"

/* malloc'ed; the caller frees what `at` points to. */
struct bytes deflate_raw(struct bytes bytes);

#endif
