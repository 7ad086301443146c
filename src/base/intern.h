/* Texts kept once: the same bytes give the same small number.
 *
 * The copies are NUL-terminated and live as long as the struct. Texts may hold NUL bytes; their
 * length is part of what they are. */
#ifndef MONARC_BASE_INTERN_H
#define MONARC_BASE_INTERN_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct intern {
    struct arena arena;
    struct map map; /* hash and (length, attempt) -> index */
    VEC(const char *) texts;
    VEC(uint32_t) lengths;
};

/* The number of a text, from 0 in the order of first sight. */
uint32_t intern(struct intern *t, const char *text, size_t len);

static inline const char *intern_text(const struct intern *t, uint32_t number)
{
    return t->texts.at[number];
}

void intern_deinit(struct intern *t);

/* A hash of bytes, for what is compared afterwards. */
uint64_t intern_hash(const char *text, size_t len);

#endif
