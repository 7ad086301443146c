/* Bytes as base64 text (RFC 4648), without line breaks. */
#ifndef MONARC_OUTPUT_BASE64_H
#define MONARC_OUTPUT_BASE64_H

#include "base/bytes.h"
#include "output/out.h"

void base64_write(struct out *out, struct bytes bytes);

#endif
