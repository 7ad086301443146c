/* Names of functions as people read them: demangled once, when first asked for. */
#ifndef MONARC_PROFILE_ANALYSIS_NAMES_H
#define MONARC_PROFILE_ANALYSIS_NAMES_H

#include "profile/analysis/functions.h"

struct names {
    const struct functions *functions;
    const char *style; /* as demangle() takes it; NULL: linkage names are shown */
    const char **shown;
    const char **brief; /* NULL until names_shorten(); of functions that have none NULL */
    const char **file;  /* NULL until names_tell_apart(); of functions that need none NULL */
    struct arena *arena;
};

void names_init(struct names *n, const struct functions *f, const char *style, struct arena *a);

/* Makes all names at once: after that names_get() may be called from several threads. */
void names_fill(struct names *n);

/* The demangled name, or the linkage name where it is not mangled. As BFD does, dots and dollars in
 * front and a version after `@` are set aside while demangling. */
const char *names_get(struct names *n, uint32_t function);

/* Makes the short forms (profile/analysis/recording/short_names.h) for the functions that a report
 * may show: those with is_shown, or all where it is NULL. Functions whose short forms are equal
 * keep their parameters; where that does not tell them apart, they keep the whole name. */
void names_shorten(struct names *n, const bool *is_shown);

/* Finds the source files of static functions that share their name with others: of those with
 * is_shown, or all where it is NULL. `objects` are by function.object, with NULL elements. */
void names_tell_apart(struct names *n, struct object *const *objects, const bool *is_shown);

/* The file of such a function, as debug information has it, or NULL. */
static inline const char *names_file(const struct names *n, uint32_t function)
{
    return n->file ? n->file[function] : NULL;
}

/* The short form where there is one, else as names_get(): for people, who know what is meant. */
static inline const char *names_text(struct names *n, uint32_t function)
{
    return n->brief && n->brief[function] ? n->brief[function] : names_get(n, function);
}

#endif
