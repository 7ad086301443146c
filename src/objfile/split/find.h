/* Where a split unit is: in a package beside the program, or in a .dwo file. Private to this room.
 */
#ifndef MONARC_OBJFILE_SPLIT_FIND_H
#define MONARC_OBJFILE_SPLIT_FIND_H

#include "objfile/private.h"
#include "objfile/split/entry.h"
#include "objfile/split/package.h"

/* What the unit that stayed in the program says of the one that was split off. */
struct split_skeleton {
    uint64_t id;
    const char *name, *folder; /* of the .dwo file, and what it is relative to; NULL: unknown */
    struct bytes addresses, ranges; /* the program's, from the unit's base on */
    uint64_t low;
};

/* The unit with that id. False where it is not found, or found and cannot be read (which
 * object_debug_refused() then says). What *out points to lives as long as the object. */
bool split_find(struct object *o, const struct split_skeleton *skeleton, struct split_unit *out);

/* The sections of a split file, and of a package its index; empty where there are none. */
void split_sections_read(struct image *image, struct split_sections *s, struct bytes *index);

void split_files_free(struct split_files *files); /* NULL is fine */

#endif
