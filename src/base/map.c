/* Linear probing over a power-of-two table. */
#include "base/map.h"

#include <stdlib.h>

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static struct map_slot *slot_of(const struct map *m, uint64_t a, uint64_t b)
{
    size_t i = hash_pair(a, b) & m->mask;
    while (m->slots[i].used && (m->slots[i].a != a || m->slots[i].b != b))
        i = (i + 1) & m->mask;
    return &m->slots[i];
}

static void resize(struct map *m, size_t slots)
{
    struct map old = *m;
    m->slots = memory_zeroed(slots, sizeof *m->slots);
    m->mask = slots - 1;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].used)
            *slot_of(m, old.slots[i].a, old.slots[i].b) = old.slots[i];
    memory_free(old.slots);
}

void map_reserve(struct map *m, size_t entries)
{
    size_t slots = m->slots ? m->mask + 1 : 64;
    while (slots / 4 * 3 <= entries)
        slots *= 2;
    if (!m->slots || slots > m->mask + 1)
        resize(m, slots);
}

uint32_t *map_find(const struct map *m, uint64_t a, uint64_t b)
{
    if (!m->slots)
        return NULL;
    struct map_slot *slot = slot_of(m, a, b);
    return slot->used ? &slot->value : NULL;
}

uint32_t *map_at(struct map *m, uint64_t a, uint64_t b, uint32_t fresh, bool *is_new)
{
    map_reserve(m, m->len + 1);
    struct map_slot *slot = slot_of(m, a, b);
    if (is_new)
        *is_new = !slot->used;
    if (!slot->used) {
        *slot = (struct map_slot){.a = a, .b = b, .value = fresh, .used = 1};
        m->len++;
    }
    return &slot->value;
}

void map_deinit(struct map *m)
{
    memory_free(m->slots);
    *m = (struct map){0};
}
