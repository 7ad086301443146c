/* Units that `-gsplit-dwarf` split off: what is left of one in the program, where the rest is, its
 * entries, its functions. Private to this room.
 *
 * elfutils before 0.191 knows no packages and before 0.189 no zstd, so this reader is our own. It
 * reads of an entry what a function is described by, and passes over the rest.
 *
 *     skeleton (in the program) --id--> package or .dwo file --> split unit --> entries --> scopes
 *
 * Order of use: split_skeleton_read(), split_find(), split_scopes_init(). Units point into the
 * files' sections, which struct split_files keeps open for as long as the object. */
#ifndef MONARC_OBJFILE_SPLIT_H
#define MONARC_OBJFILE_SPLIT_H

#include "base/bytes.h"
#include "base/vec.h"
#include "objfile/private.h"
#include "objfile/debug_info.h"

#include <elfutils/libdw.h>

/* --- entries: split_entry.c ------------------------------------------------------------------- */

/* Of one unit in a .dwo file, or in a .dwp package that was made of several. */

/* All of it is in memory of others: the file's, the program's. */
struct split_unit {
    struct bytes info;                  /* the unit, from its header to its end */
    struct bytes abbrevs;               /* from the unit's table on */
    struct bytes strings;               /* the last byte is a NUL */
    struct bytes string_offsets, lists; /* str_offsets and rnglists, headers included */
    struct bytes addresses, ranges;     /* the program's, from the unit's own base on */
    uint64_t low;                       /* what ranges are relative to */
    uint64_t id;
    size_t first; /* where the first entry is */
    uint16_t version;
    uint8_t offset_size, address_size;
    bool big_endian, has_id;
};

/* Takes the header of the unit at the start of *info off, and *info on to the next unit. False
 * where it is damaged, or of a kind that has no functions. The caller has set what is not in it. */
bool split_unit_open(struct split_unit *u, struct bytes *info, bool big_endian);

/* One kind of entry: its tag, and where the list of its attributes starts in the table. */
struct split_abbrev {
    uint64_t code, tag;
    size_t attributes; /* where their list starts */
    bool has_children;
};

/* Reads entries of one unit. It must not outlive the unit. */
struct split_reader {
    const struct split_unit *unit;
    VEC(struct split_abbrev) abbrevs; /* by code */
    uint64_t work_left;               /* attributes: more would mean that they waste our time */
};

/* What one entry says. Texts live as long as the file; offsets are from the unit's start. */
struct split_entry {
    uint64_t tag, code; /* code 0: the end of a list of children */
    uint64_t low, high, ranges, origin, sibling, id;
    const char *name, *linkage_name;
    uint32_t call_file, call_line, language;
    bool has_children, has_low, has_high, has_ranges, has_id;
    bool high_is_size, ranges_is_index;
};

/* Reads the unit's table of abbreviations. A damaged table ends where it is damaged. */
void split_reader_init(struct split_reader *r, const struct split_unit *u);
void split_reader_deinit(struct split_reader *r);

/* Reads the entry at c; false where the unit ends or makes no sense. */
bool split_entry_read(struct split_reader *r, struct cursor *c, struct split_entry *out);

/* A cursor over the unit, at an offset; at its end where the offset is beyond it. */
struct cursor split_cursor(const struct split_unit *u, uint64_t offset);

/* One number of a table, `index` times its size from `base` on; false beyond its end. */
bool split_table_at(struct bytes table, size_t base, uint64_t index, uint8_t size, bool big_endian,
                    uint64_t *out);

/* The bytes of the header that string offsets and range lists have from DWARF 5 on. */
size_t split_table_header(const struct split_unit *u, struct bytes table, size_t wanted);

/* --- finding units: split_find.c -------------------------------------------------------------- */

/* Sections of a split file, or one unit's shares of them. */
struct split_sections {
    struct bytes info, abbrev, str, str_offsets, rnglists;
};

/* Cuts *s, the sections of the package, down to what the unit with that id has in them. `index` is
 * .debug_cu_index. False where it has no such unit, or is damaged. */
bool split_package_find(struct bytes index, bool big_endian, uint64_t id, struct split_sections *s);

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

/* Whether the unit was split off; then what it says, with `addresses` and `ranges` cut down from
 * the program's whole sections. */
bool split_skeleton_read(Dwarf_Die *unit, struct bytes addresses, struct bytes ranges,
                         struct split_skeleton *out);

/* --- functions and their ranges: split_functions.c -------------------------------------------- */

/* With `as_bfd` a range list given by index is not followed. */
void split_scopes_init(struct scopes *s, const struct split_unit *u, bool as_bfd);

/* The id of a DWARF 4 unit is in its first entry. */
bool split_unit_id(const struct split_unit *u, uint64_t *id);

#endif
