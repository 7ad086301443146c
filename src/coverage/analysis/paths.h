/* Numbers for paths that are equal as texts. Debug information repeats a file's name in every unit,
 * so most are known by their pointer already. */
#ifndef MONARC_ANALYSIS_PATHS_H
#define MONARC_ANALYSIS_PATHS_H

#include "base/map.h"
#include "base/vec.h"

struct paths {
    VEC(const char *) at; /* by number */
    struct map by_pointer, by_text;
};

/* The text must stay where it is. */
uint32_t path_number(struct paths *p, const char *path);
void paths_deinit(struct paths *p);

#endif
