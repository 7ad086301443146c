/* The compilation units of a program, found by address. Private to this room.
 *
 * All that is read of a unit is read when an address falls into it, and may be forgotten.
 *
 *     address -> ranges (sorted) -> unit -> table (its rows)      -> file and line
 *                                        -> scopes (its functions) -> function and inlining */
#ifndef MONARC_OBJFILE_UNITS_H
#define MONARC_OBJFILE_UNITS_H

#include "base/map.h"
#include "objfile/debug_info.h"
#include "objfile/private.h"

/* --- units: units.c --------------------------------------------------------------------------- */

/* A compilation unit, or a bare line table without one. */
struct unit {
    Dwarf_Die die;
    const char *comp_dir;
    uint64_t program; /* offset in .debug_line */
    struct scopes scopes;
    bool has_scopes, had_scopes;
    const char *sole_path; /* unit_sole_path() */
    bool has_sole_path;
};

/* A stretch of code of a unit, as the index has it. */
struct unit_range {
    uint64_t low, high;
    uint64_t reach; /* the greatest high up to here, in index order */
    uint32_t unit;
};

/* All debug information of an object: an index of units, and what was read of them. */
struct units {
    Dwarf *dwarf; /* NULL: no debug information */
    struct object *object;
    struct line_sections sections;
    struct bytes addresses, address_ranges; /* .debug_addr and .debug_ranges */
    VEC(struct unit) units;
    VEC(struct unit_range) ranges; /* by low, then by unit */
    VEC(struct line_table) tables;
    VEC(struct line_rows) spare; /* room of tables that were forgotten, for the next ones */
    struct map table_of;         /* (offset in .debug_line, 0) to index of table */
    /* Of all units together: held, read a second time, and as many as are held at most. */
    size_t rows_held, rows_again, rows_most;
    size_t scopes_held, scopes_again, scopes_most;
    /* More than these would mean that units share lists only to waste our time. */
    size_t ranges_most;
    uint64_t program_bytes_left;
    struct interval_map cover; /* which unit counts where; made by the first walk over the code */
    bool has_cover;
};

/* Reads the index on the first call. Never NULL. */
struct units *units_of(struct object *o);
void units_free(struct units *u); /* NULL is fine */

/* The line table of a unit, decoded when it is not in memory. Valid until the next call: tables
 * that were not asked for lately make room for others. */
struct line_table *unit_table(struct units *u, uint32_t unit);

/* The path of a unit whose line table names one file only, or NULL: read from the table's header,
 * without its rows. Strings that have to be made live in `a`. */
const char *unit_sole_path(struct units *u, uint32_t unit, struct arena *a);

/* The functions of a unit, read when they are not in memory. Valid until the next call likewise. */
struct scopes *unit_scopes(struct units *u, uint32_t unit);

/* The first unit, from number `from` on, with a range around the address; the first unit that has a
 * row for an address; or NO_UNIT. *table is valid until the next unit_table(). */
enum { NO_UNIT = UINT32_MAX };
uint32_t unit_around(const struct units *u, uint64_t address, uint32_t from);
uint32_t units_find(struct units *u, uint64_t address, struct line_table **table,
                    const struct line_row **row);

/* --- names: places.c -------------------------------------------------------------------------- */

/* The name a function goes by: its linkage name, else the symbol where it starts, else its name in
 * the source, else NULL. */
const char *frame_function(struct object *o, struct scopes *s, uint32_t scope);

#endif
