/* Libraries that are loaded when they are first needed: what few commands use shall not cost the
 * start of all. */
#ifndef MONARC_BASE_LATE_H
#define MONARC_BASE_LATE_H

#include <stdbool.h>

/* The name of a library as a literal; `abi_version` may be a macro. */
#define LATE_TEXT(x)                 #x
#define LATE_NAME(name, abi_version) name ".so." LATE_TEXT(abi_version)

/* The message about a library that late_open() does not find. */
#ifdef MONARC_STANDALONE
#define LATE_MISSING "cannot be loaded into this monarc, which is one static file"
#else
#define LATE_MISSING "is not installed"
#endif

/* NULL: it is not installed. dlclose() gives it back. A static program loads none: a library would
 * bring a second libc with it. */
void *late_open(const char *name);

/* Stores the address of a function or object of the library, or of one that it needs, in the
 * pointer at `into`. */
bool late_find(void *library, const char *name, void *into);

#endif
