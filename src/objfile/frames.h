/* Names of functions, from debug information and symbols together. Private to this room. */
#ifndef MONARC_OBJFILE_FRAMES_H
#define MONARC_OBJFILE_FRAMES_H

#include "objfile/units.h"

/* The name a function goes by: its linkage name, else the symbol where it starts, else its name in
 * the source, else NULL. */
const char *frame_function(struct object *o, struct scopes *s, uint32_t scope);

#endif
