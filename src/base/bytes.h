/* A span of bytes that somebody else owns. */
#ifndef MONARC_BASE_BYTES_H
#define MONARC_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *at;
    size_t len;
};

#endif
