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
