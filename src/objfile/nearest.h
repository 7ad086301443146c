/* The symbol an address lies in or behind. Private to this room. */
#ifndef MONARC_OBJFILE_NEAREST_H
#define MONARC_OBJFILE_NEAREST_H

#include "objfile/private.h"

struct nearest;

/* The last symbol of code at or below an address in its section, or NULL. */
const struct object_symbol *nearest_symbol(struct object *o, uint64_t address);

/* Where beyond an address nearest_symbol() may answer otherwise; UINT64_MAX: nowhere. */
uint64_t nearest_after(struct object *o, uint64_t address);

void nearest_free(struct nearest *n); /* NULL is fine */

#endif
