/* A map from hashes to texts. Two texts with one hash get neighbouring keys. */
#include "base/intern.h"

#include "base/hash.h"

#include <string.h>

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

void intern_deinit(struct intern *t)
{
    arena_deinit(&t->arena);
    map_deinit(&t->map);
    vec_free(&t->texts);
    vec_free(&t->lengths);
}

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
