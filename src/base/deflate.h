/* Packing of whole texts in little time. */
#ifndef MONARC_BASE_DEFLATE_H
#define MONARC_BASE_DEFLATE_H

#include "base/bytes.h"
#include "base/out.h"

/* Prints `bytes` as a whole stream of RFC 1951. */
void deflate_bytes(struct bytes bytes, struct out *out);

#endif
