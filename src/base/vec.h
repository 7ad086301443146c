/* Growable arrays owned by whoever holds them.
 *
 *     VEC(struct arc) arcs = {0};
 *     vec_push(&arcs, (struct arc){...});
 *     vec_free(&arcs);
 *
 * Memory comes from memory_resized(), as of realloc(), which moves large arrays by remapping pages,
 * not by copying them. */
#ifndef MONARC_BASE_VEC_H
#define MONARC_BASE_VEC_H

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define VEC(T)           \
    struct {             \
        T *at;           \
        size_t len, cap; \
    }

/* Makes room for at least `n` elements in all. Never returns on exhausted memory. */
#define vec_reserve(v, n) vec_reserve_bytes((void **)&(v)->at, &(v)->cap, (n), sizeof *(v)->at)

/* Variadic, because a compound literal has commas. */
#define vec_push(v, ...)                     \
    do {                                     \
        if ((v)->len == (v)->cap)            \
            vec_reserve((v), (v)->len + 1);  \
        (v)->at[(v)->len++] = (__VA_ARGS__); \
    } while (0)

/* `to`, which is empty, gets the elements of `from`, and memory even for none. */
#define vec_copy(to, from)                                                  \
    do {                                                                    \
        vec_reserve((to), (from)->len + 1);                                 \
        if ((from)->len)                                                    \
            memcpy((to)->at, (from)->at, (from)->len * sizeof *(from)->at); \
        (to)->len = (from)->len;                                            \
    } while (0)

/* Where the elements from `first` on are; NULL if there are none: C has no place in no array. */
#define vec_from(v, first) ((v)->len ? &(v)->at[first] : NULL)

/* Gives back the room that is not used. */
#define vec_trim(v) vec_trim_bytes((void **)&(v)->at, &(v)->cap, (v)->len, sizeof *(v)->at)

#define vec_free(v)              \
    do {                         \
        memory_free((v)->at);    \
        (v)->at = NULL;          \
        (v)->len = (v)->cap = 0; \
    } while (0)

static inline void vec_reserve_bytes(void **at, size_t *cap, size_t want, size_t size)
{
    if (want <= *cap)
        return;
    size_t grown = *cap + *cap / 2 + 8;
    if (grown < want)
        grown = want;
    if (grown > SIZE_MAX / size)
        memory_exhausted(grown);
    void *moved = memory_resized(*at, grown * size);
    *at = moved;
    *cap = grown;
    memory_prefer_large_pages(moved, grown * size);
}

static inline void vec_trim_bytes(void **at, size_t *cap, size_t len, size_t size)
{
    if (!len || len >= *cap)
        return;
    *at = memory_resized(*at, len * size);
    *cap = len;
}

#endif
