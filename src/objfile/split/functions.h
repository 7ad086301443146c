/* The functions of a split unit, as those of other units. Private to this room. */
#ifndef MONARC_OBJFILE_SPLIT_FUNCTIONS_H
#define MONARC_OBJFILE_SPLIT_FUNCTIONS_H

#include "objfile/scopes.h"
#include "objfile/split/entry.h"

/* With `as_bfd` a range list given by index is not followed. */
void split_scopes_init(struct scopes *s, const struct split_unit *u, bool as_bfd);

/* The id of a DWARF 4 unit is in its first entry. */
bool split_unit_id(const struct split_unit *u, uint64_t *id);

#endif
