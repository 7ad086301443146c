/* The recorder's library: where it is, and whether a program can be made to load it. */
#ifndef MONARC_RECORD_PRELOAD_H
#define MONARC_RECORD_PRELOAD_H

#include "base/arena.h"
#include "base/err.h"

/* libmonarc_rt.so: beside this program in its build tree or installation, then where it was to be
 * installed. NULL with a message if it is nowhere. */
const char *preload_find(struct arena *a, struct err *e);

/* Whether `program` (looked up in PATH) will load `library`. Fails for static programs, programs
 * for other machines and programs that run with other rights, saying what to do. *is_linked: the
 * recorder is in the program already. What is no ELF file, a script say, passes. */
MUST_CHECK bool preload_check(const char *program, const char *library, bool *is_linked,
                              struct arena *a, struct err *e);

/* Whether the program (looked up in PATH) was compiled to count calls or blocks, or calls monarc's
 * functions: then there is something for the library to do. */
bool preload_counts_calls(const char *program);

/* As execvp() would find it; the name itself where it would not. */
const char *preload_in_path(const char *program, struct arena *a);

/* Puts the library behind those that LD_PRELOAD names already. */
const char *preload_value(const char *library, struct arena *a);

#endif
