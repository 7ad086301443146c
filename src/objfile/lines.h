/* The index behind object_line(). Private to this room. */
#ifndef MONARC_OBJFILE_LINES_H
#define MONARC_OBJFILE_LINES_H

#include "objfile/private.h"

struct lines;

void lines_free(struct lines *l); /* NULL is fine */

#endif
