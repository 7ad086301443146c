/* Packed and re-coded bytes: DEFLATE, gzip, base64. All take a text that is whole in memory. */
#ifndef MONARC_OUTPUT_PACK_H
#define MONARC_OUTPUT_PACK_H

#include "base/bytes.h"
#include "output/out.h"

/* A bare DEFLATE stream (RFC 1951), which browsers call deflate-raw. malloc'ed; the caller frees
 * what `at` points to. */
struct bytes deflate_raw(struct bytes bytes);

/* One gzip member (RFC 1952); owned as above. */
struct bytes gzip_pack(struct bytes bytes);

/* Writes `bytes` compressed by gzip to `path`, which it makes or empties first. */
MUST_CHECK bool gzip_write(const char *path, struct bytes bytes, struct err *e);

/* Base64 text (RFC 4648), without line breaks. */
void base64_write(struct out *out, struct bytes bytes);

#endif
