/* Names of functions as people read them: demangled once, when first asked for. */
#ifndef MONARC_ANALYSIS_NAMES_H
#define MONARC_ANALYSIS_NAMES_H

#include "analysis/functions.h"

struct names {
    const struct functions *functions;
    const char *style; /* as demangle() takes it; NULL: linkage names are shown */
    const char **shown;
    struct arena *arena;
};

void names_init(struct names *n, const struct functions *f, const char *style, struct arena *a);

/* Makes all names at once: after that names_get() may be called from several threads. */
void names_fill(struct names *n);

/* The demangled name, or the linkage name where it is not mangled. As BFD does, dots and dollars in
 * front and a version after `@` are set aside while demangling. */
const char *names_get(struct names *n, uint32_t function);

#endif
