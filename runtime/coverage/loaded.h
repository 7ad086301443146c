/* Where libraries are mapped. */
#ifndef MONARC_COVER_LOADED_H
#define MONARC_COVER_LOADED_H

#include <stdbool.h>
#include <stdint.h>

enum loaded { LOADED_NO, LOADED_YES, LOADED_UNKNOWN };

/* The object that has the address. Without `may_lock` only what the loader answers in a signal
 * handler. */
enum loaded loaded_at(uintptr_t address, bool may_lock, uintptr_t *low, uintptr_t *high);
/* Whether the range is that of the program itself, which is never unloaded. */
bool loaded_is_program(uintptr_t low, uintptr_t high);

#endif
