/* What stayed in the program of a unit that was split off. Private to this room. */
#ifndef MONARC_OBJFILE_SPLIT_SKELETON_H
#define MONARC_OBJFILE_SPLIT_SKELETON_H

#include "objfile/split/find.h"

#include <elfutils/libdw.h>

/* Whether the unit was split off; then what it says, with `addresses` and `ranges` cut down from
 * the program's whole sections. */
bool split_skeleton_read(Dwarf_Die *unit, struct bytes addresses, struct bytes ranges,
                         struct split_skeleton *out);

#endif
