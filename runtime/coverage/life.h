/* From the first constructor to the last exit handler, and the signals that end a process. */
#ifndef MONARC_COVER_LIFE_H
#define MONARC_COVER_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* Once; called before anything is registered. */
void life_begin(void);
/* An object of a library may have been registered. */
void life_library(void);
/* A covered object's destructor has run; `from` is an address in it, as far as it called us itself.
 */
void life_unload(uintptr_t from);

/* Whether the library stands in for SIG_DFL at this signal; sigaction (signals.c) asks. */
void signals_begin(void);
void signals_end(void);

#endif
