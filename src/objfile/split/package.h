/* The index of a package of split units (.dwp). Private to this room. */
#ifndef MONARC_OBJFILE_SPLIT_PACKAGE_H
#define MONARC_OBJFILE_SPLIT_PACKAGE_H

#include "base/cursor.h"

/* Sections of a split file, or one unit's shares of them. */
struct split_sections {
    struct bytes info, abbrev, str, str_offsets, rnglists;
};

/* Cuts *s, the sections of the package, down to what the unit with that id has in them. `index` is
 * .debug_cu_index. False where it has no such unit, or is damaged. */
bool split_package_find(struct bytes index, bool big_endian, uint64_t id, struct split_sections *s);

#endif
