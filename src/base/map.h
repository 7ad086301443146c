/* Hash map from a pair of 64-bit keys to a 32-bit value; open addressing, grows at three quarters.
 *
 * The keys live in the map; values are usually indices into the caller's array. */
#ifndef MONARC_BASE_MAP_H
#define MONARC_BASE_MAP_H

#include "base/arena.h"
#include "base/vec.h"

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

/* Two numbers of 32 bits as one key. */
static inline uint64_t map_two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* What is known by where it is. */
static inline uint64_t map_pointer(const void *at)
{
    return (uintptr_t)at;
}

/* An index as a value. Arrays of more items than there are values take more memory than machines
 * have. */
static inline uint32_t map_value(size_t index)
{
    if (index > UINT32_MAX)
        memory_exhausted(index);
    return (uint32_t)index;
}

/* The value stored for (a, b), or NULL. Valid until the next map_at(). */
uint32_t *map_find(const struct map *m, uint64_t a, uint64_t b);

/* The place of (a, b), made with value `fresh` if it is new; `*is_new` may be NULL. */
uint32_t *map_at(struct map *m, uint64_t a, uint64_t b, uint32_t fresh, bool *is_new);

/* Begins to load what map_at() will read for (a, b), for loops that know their keys in advance: in
 * a large map each search waits for memory. */
void map_prefetch(const struct map *m, uint64_t a, uint64_t b);

/* The index of what (a, b) names in an array of `len` items so far: if it is new, `len`, and the
 * caller adds it there. `is_new` may be NULL. */
static inline uint32_t map_index(struct map *m, uint64_t a, uint64_t b, size_t len, bool *is_new)
{
    return *map_at(m, a, b, map_value(len), is_new);
}

/* Stores an index for (a, b), whatever was there before. */
static inline void map_set(struct map *m, uint64_t a, uint64_t b, size_t index)
{
    *map_at(m, a, b, 0, NULL) = map_value(index);
}

void map_reserve(struct map *m, size_t entries);
void map_deinit(struct map *m);

/* Empties it; memory of a small one is kept. */
void map_clear(struct map *m);

/* Texts kept once: the same bytes give the same small number.
 *
 * The copies are NUL-terminated and live as long as the struct. Texts may hold NUL bytes; their
 * length is part of what they are. */

struct intern {
    struct arena arena;
    struct map map; /* hash and attempt -> index */
    VEC(const char *) texts;
    VEC(uint32_t) lengths;
};

#define INTERN_NONE UINT32_MAX

/* The number of a text, from 0 in the order of first sight. */
uint32_t intern(struct intern *t, const char *text, size_t len);

/* The same without a copy: the text must stay where it is. */
uint32_t intern_kept(struct intern *t, const char *text, size_t len);

/* The number of a text that is there already, or INTERN_NONE. */
uint32_t intern_find(const struct intern *t, const char *text, size_t len);

static inline const char *intern_text(const struct intern *t, uint32_t number)
{
    return t->texts.at[number];
}

void intern_deinit(struct intern *t);
void intern_clear(struct intern *t); /* keeps some memory, for one use after the other */

/* Numbers for paths that are equal as texts. Debug information repeats a file's name in every unit,
 * so most are known by their pointer already. */
struct path_numbers {
    struct intern paths;
    struct map by_pointer;
};

/* The path must stay where it is. */
uint32_t path_number(struct path_numbers *p, const char *path);
void path_numbers_deinit(struct path_numbers *p);

#endif
