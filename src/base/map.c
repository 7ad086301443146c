/* A hash map by linear probing over a power-of-two table, and texts kept once by it.
 *
 *   slot   0    1    2    3    4    5          hash & mask is where a key's search begins;
 *          [ ]  [x]  [y]  [z]  [ ]  [ ]        it ends at the key or at an empty slot
 *
 * At most three quarters of the slots are in use, so that searches end after a few steps; the
 * table then doubles. Nothing is ever removed, which is what makes empty slots reliable ends. Keys
 * are mixed well, as they are often small numbers or pointers; that is no defence against keys
 * made to collide, for which inputs are bounded.
 *
 * Texts (struct intern) are found by their hash. Two texts of one hash get neighbouring keys
 * (hash, 0), (hash, 1), so no hash has to be perfect and no text is compared with more than those
 * of its own hash. */
#include "base/map.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

/* Tables of fewer slots move with every new key: so the address sanitizer sees whoever keeps a
 * value's place for too long, which else takes a table that grows in that moment. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_CHECKED
#endif
#endif
#if defined(IS_CHECKED) || defined(__SANITIZE_ADDRESS__)
static const size_t MOVES_ALWAYS = 1024;
#else
static const size_t MOVES_ALWAYS = 0;
#endif

/* A finalizer of the kind of MurmurHash's: each bit of the keys reaches each bit of the result. */
static uint64_t hash_pair(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

/* The key's slot, or the empty one where it would go. */
static struct map_slot *slot_of(const struct map *m, uint64_t a, uint64_t b)
{
    size_t i = hash_pair(a, b) & m->mask;
    while (m->slots[i].used && (m->slots[i].a != a || m->slots[i].b != b))
        i = (i + 1) & m->mask;
    return &m->slots[i];
}

/* To a table of so many slots. */
static void map_move(struct map *m, size_t slots)
{
    struct map old = *m;
    m->slots = memory_zeroed(slots, sizeof *m->slots);
    memory_prefer_large_pages(m->slots, slots * sizeof *m->slots);
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
        map_move(m, slots);
}

uint32_t *map_find(const struct map *m, uint64_t a, uint64_t b)
{
    if (!m->slots)
        return NULL;
    struct map_slot *slot = slot_of(m, a, b);
    return slot->used ? &slot->value : NULL;
}

void map_prefetch(const struct map *m, uint64_t a, uint64_t b)
{
    if (m->slots)
        __builtin_prefetch(&m->slots[hash_pair(a, b) & m->mask], 1);
}

uint32_t *map_at(struct map *m, uint64_t a, uint64_t b, uint32_t fresh, bool *is_new)
{
    if (!m->slots || (m->mask + 1) / 4 * 3 <= m->len + 1)
        map_reserve(m, m->len + 1);
    struct map_slot *slot = slot_of(m, a, b);
    if (!slot->used && m->mask < MOVES_ALWAYS) {
        map_move(m, m->mask + 1);
        slot = slot_of(m, a, b);
    }
    if (is_new)
        *is_new = !slot->used;
    if (!slot->used) {
        *slot = (struct map_slot){.a = a, .b = b, .value = fresh, .used = 1};
        m->len++;
    }
    return &slot->value;
}

/* A small table is emptied; a large one would cost more than it is worth. */
void map_clear(struct map *m)
{
    if (m->mask >= 64) {
        map_deinit(m);
    } else if (m->len) {
        memset(m->slots, 0, (m->mask + 1) * sizeof *m->slots);
        m->len = 0;
    }
}

void map_deinit(struct map *m)
{
    memory_free(m->slots);
    *m = (struct map){0};
}

/* A map from hashes to texts. Two texts with one hash get neighbouring keys. */

/* --- texts ----------------------------------------------------------------------------------- */

static bool is_text(const struct intern *t, uint32_t number, const char *text, size_t len)
{
    return t->lengths.at[number] == len && !memcmp(t->texts.at[number], text, len);
}

static uint32_t number_of(struct intern *t, const char *text, size_t len, bool is_copied)
{
    uint64_t hash = hash_bytes(text, len);
    for (uint32_t attempt = 0;; attempt++) {
        bool is_new;
        uint32_t number = map_index(&t->map, hash, attempt, t->texts.len, &is_new);
        if (is_new) {
            vec_push(&t->texts, is_copied ? arena_copy(&t->arena, text, len) : text);
            vec_push(&t->lengths, (uint32_t)len);
            return number;
        }
        if (is_text(t, number, text, len))
            return number;
    }
}

uint32_t intern(struct intern *t, const char *text, size_t len)
{
    return number_of(t, text, len, true);
}

uint32_t intern_kept(struct intern *t, const char *text, size_t len)
{
    return number_of(t, text, len, false);
}

uint32_t intern_find(const struct intern *t, const char *text, size_t len)
{
    uint64_t hash = hash_bytes(text, len);
    for (uint32_t attempt = 0;; attempt++) {
        const uint32_t *number = map_find(&t->map, hash, attempt);
        if (!number || is_text(t, *number, text, len))
            return number ? *number : INTERN_NONE;
    }
}

void intern_clear(struct intern *t)
{
    arena_clear(&t->arena);
    map_clear(&t->map);
    t->texts.len = t->lengths.len = 0;
}

void intern_deinit(struct intern *t)
{
    arena_deinit(&t->arena);
    map_deinit(&t->map);
    vec_free(&t->texts);
    vec_free(&t->lengths);
}

/* One look-up by pointer for nearly every path; the text is hashed once for each pointer. */
uint32_t path_number(struct path_numbers *p, const char *path)
{
    bool is_new;
    uint32_t *known = map_at(&p->by_pointer, map_pointer(path), 0, 0, &is_new);
    if (is_new)
        *known = intern_kept(&p->paths, path, strlen(path));
    return *known;
}

void path_numbers_deinit(struct path_numbers *p)
{
    intern_deinit(&p->paths);
    map_deinit(&p->by_pointer);
}
