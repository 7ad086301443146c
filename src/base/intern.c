/* A map from hashes to texts. Two texts with one hash get neighbouring keys. */
#include "base/intern.h"

#include <string.h>

uint64_t intern_hash(const char *text, size_t len)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ len;
    for (; len >= 8; text += 8, len -= 8) {
        uint64_t part;
        memcpy(&part, text, 8);
        h = (h ^ part) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, text, len);
    h = (h ^ rest) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

uint32_t intern(struct intern *t, const char *text, size_t len)
{
    uint64_t hash = intern_hash(text, len);
    for (uint32_t attempt = 0;; attempt++) {
        bool is_new;
        uint32_t *at = map_at(&t->map, hash, attempt, (uint32_t)t->texts.len, &is_new);
        uint32_t number = *at;
        if (is_new) {
            vec_push(&t->texts, arena_copy(&t->arena, text, len));
            vec_push(&t->lengths, (uint32_t)len);
            return number;
        }
        if (t->lengths.at[number] == len && !memcmp(t->texts.at[number], text, len))
            return number;
    }
}

void intern_deinit(struct intern *t)
{
    arena_deinit(&t->arena);
    map_deinit(&t->map);
    vec_free(&t->texts);
    vec_free(&t->lengths);
}
