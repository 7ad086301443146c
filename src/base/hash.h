/* Hashes of bytes. None withstands bytes that are made to collide: what has one hash is compared,
 * unless a file format says that the hash is all there is. */
#ifndef MONARC_BASE_HASH_H
#define MONARC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For tables in memory: eight bytes at a time, and other values on machines of other byte order. */
static inline uint64_t hash_bytes(const void *bytes, size_t len)
{
    const char *at = bytes;
    uint64_t h = 0x9e3779b97f4a7c15u ^ len;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t part;
        memcpy(&part, at, 8);
        h = (h ^ part) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, at, len);
    h = (h ^ rest) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/* For files: FNV-1a, of 64 and of 32 bits. */
static inline uint64_t hash_fnv64(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

static inline uint32_t hash_fnv32(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint32_t h = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ at[i]) * 0x01000193u;
    return h;
}

#endif
