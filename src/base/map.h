/* Hash map from a pair of 64-bit keys to a 32-bit value; open addressing, grows at three quarters.
 *
 * The keys live in the map; values are usually indices into somebody's array. */
#ifndef MONARC_BASE_MAP_H
#define MONARC_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t a, b;
    uint32_t value;
    uint32_t used;
};

struct map {
    struct map_slot *slots;
    size_t len, mask; /* mask + 1 slots, or none while slots is NULL */
};

/* The value stored for (a, b), or NULL. Valid until the next map_at(). */
uint32_t *map_find(const struct map *m, uint64_t a, uint64_t b);

/* The place of (a, b), made with value `fresh` if it is new; `*is_new` may be NULL. */
uint32_t *map_at(struct map *m, uint64_t a, uint64_t b, uint32_t fresh, bool *is_new);

void map_reserve(struct map *m, size_t entries);
void map_deinit(struct map *m);

#endif
