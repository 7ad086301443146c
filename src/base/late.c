/* dlopen(), without its ways to go wrong. This is the only file that calls it: what is loaded late
 * is loaded here (tests/checks/objects.py). All symbols are bound at once, so that a library that
 * lacks one is refused and does not end the process later. */
#include "base/late.h"

#include <dlfcn.h>
#include <string.h>

#ifdef MONARC_STANDALONE

void *late_open(const char *name)
{
    (void)name;
    return NULL;
}

#else

void *late_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

#endif

/* POSIX lets the address of a function be kept in an object pointer, C's type system does not. */
bool late_find(void *library, const char *name, void *into)
{
    void *found = dlsym(library, name);
    memcpy(into, &found, sizeof found);
    return found;
}
