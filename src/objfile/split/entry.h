/* Entries of one split unit: what `-gsplit-dwarf` leaves in a .dwo file, or in a .dwp package that
 * was made of several. Private to this room.
 *
 * elfutils before 0.191 knows no packages and before 0.189 no zstd, so this reader is our own. It
 * reads of an entry what a function is described by, and passes over the rest. */
#ifndef MONARC_OBJFILE_SPLIT_ENTRY_H
#define MONARC_OBJFILE_SPLIT_ENTRY_H

#include "base/cursor.h"
#include "base/vec.h"

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

struct split_abbrev {
    uint64_t code, tag;
    size_t attributes; /* where their list starts */
    bool has_children;
};

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

#endif
