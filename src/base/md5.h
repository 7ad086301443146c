/* MD5 (RFC 1321), for names alone: it protects nothing. */
#ifndef MONARC_BASE_MD5_H
#define MONARC_BASE_MD5_H

#include "base/bytes.h"

void md5(struct bytes in, uint8_t digest[16]);

#endif
