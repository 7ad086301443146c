/* The parts of units of debug information, from the bottom up: rows of line programs, tables of
 * them, a map of intervals, the functions of a unit. Private to this room.
 *
 * libdw reads entries; line programs are read by our own code. Where a file contradicts itself, the
 * answers are BFD's, because addr2line is what people compare with.
 *
 *     unit's entry --DW_AT_stmt_list--> line program --> rows --> line table (sequences of rows)
 *                  --children---------> functions with ranges --> spans --> interval map */
#ifndef MONARC_OBJFILE_DEBUG_INFO_H
#define MONARC_OBJFILE_DEBUG_INFO_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "objfile/private.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* --- line programs: lines.c ------------------------------------------------------------------- */

/* One unit's line-number program, run row by row: what DWARF calls the line number state machine.
 */

/* The sections a program is read from. */
struct line_sections {
    struct bytes line;
    struct bytes line_str, str; /* empty, or ending with a NUL */
    bool big_endian;
    uint16_t bfd_version; /* before 2.44, BFD starts the file register of DWARF 5 at 0, not 1 */
    bool keeps_discriminators;
};

/* A file as a line program names it. */
struct line_file {
    const char *name; /* NULL: in a form we do not read */
    uint64_t dir;
};

/* What the state machine emits: from this address on, code is of this line. */
struct line_row {
    uint64_t address;
    uint32_t line; /* 0: no line */
    uint32_t file; /* for line_program_path() */
};

/* A program, with its header and its registers. Copying one copies its state. */
struct line_program {
    const struct line_sections *sections;
    uint64_t bytes; /* of .debug_line, from the offset on */
    uint16_t version;
    uint8_t offset_size; /* 4 or 8 */
    uint8_t min_instruction_bytes, max_operations;
    int8_t line_base;
    uint8_t line_range, opcode_base;
    const uint8_t *operands; /* of standard opcode i at [i - 1] */
    VEC(const char *) dirs;
    VEC(struct line_file) files;
    struct cursor code;

    /* The state machine's registers. */
    struct line_row row;
    uint64_t operation;
    uint32_t discriminator;     /* of the next row */
    uint32_t row_discriminator; /* of the row that was made last */
};

/* False where no program of DWARF 2 to 5 stands at that offset of .debug_line. The program points
 * into the sections; close it either way. */
MUST_CHECK bool line_program_open(struct line_program *p, const struct line_sections *sections,
                                  uint64_t offset);
void line_program_close(struct line_program *p);

enum line_event { LINE_ROW, LINE_SEQUENCE_END, LINE_STOP };

/* The path of a file, joined as BFD does it: a relative name is prefixed with its directory, and a
 * relative directory with `comp_dir` (may be NULL). NULL for an unknown file. */
const char *line_program_path(const struct line_program *p, uint32_t file, const char *comp_dir,
                              struct arena *a);

/* --- line tables: lines.c --------------------------------------------------------------------- */

/* One unit's rows, in memory and ordered for lookup. */

/* Rows whose addresses ascend, up to an end that the program gives. */
struct line_sequence {
    uint64_t low, high;
    size_t first, len; /* its rows */
};

struct line_rows {
    struct line_row *at;
    size_t len, cap;
};

struct line_table {
    bool is_known;               /* has been read before */
    bool is_decoded;             /* rows and sequences are here */
    struct line_program program; /* run to its end; kept for its files */
    const char *comp_dir;
    struct line_rows rows;               /* 16 bytes each, ascending within a sequence */
    VEC(struct line_sequence) sequences; /* ascending, not overlapping */
    VEC(const char *) paths;             /* by file number, joined on first use */
    VEC(struct keyed) discriminators;    /* by address of a row; those that are not 0 */
};

/* Reads a table that is zeroed or forgotten, into the room of `rows` if it has any. Empty where
 * there is no program at that offset. */
void line_table_read(struct line_table *t, const struct line_sections *sections, uint64_t offset,
                     const char *comp_dir);
void line_table_forget(struct line_table *t); /* gives the rows back, keeps the paths */
void line_table_deinit(struct line_table *t);

/* The last row at or below an address within a sequence, or NULL. */
const struct line_row *line_table_find(const struct line_table *t, uint64_t address);

/* Index of the first sequence that ends beyond an address; sequences.len: there is none. */
size_t line_table_sequence_from(const struct line_table *t, uint64_t address);

/* Which of several blocks of its line a row is of: the compiler numbers them. 0 for the first, and
 * unless the sections say that discriminators are kept. Callers pass rows in the order of their
 * addresses: *behind is how many discriminators are at or below the first one's, and moves on. */
size_t line_table_discriminators_until(const struct line_table *t, uint64_t address);
uint32_t line_table_discriminator(const struct line_table *t, const struct line_row *row,
                                  size_t *behind);

/* The path of a row's file, or NULL; strings that have to be made live in `a`. */
const char *line_table_path(struct line_table *t, uint32_t file, struct arena *a);

/* --- interval maps: scopes.c ------------------------------------------------------------------ */

/* From spans that overlap to segments that do not: which span counts where. */

struct span {
    uint64_t low, high; /* [low, high) */
    uint64_t rank;      /* the lowest counts; at the same rank, the higher id */
    uint32_t id;
};

enum { NO_SPAN = UINT32_MAX };

/* Holds from `start` to the start of the next one. The last one of a cover has no id. */
struct segment {
    uint64_t start;
    uint32_t id; /* of the span that counts; NO_SPAN: none does */
};

struct interval_map {
    VEC(struct segment) segments;
};

/* Sorts `spans`; needs no more than twice as many segments as there are spans, and one. */
void interval_map_init(struct interval_map *c, struct span *spans, size_t len);
void interval_map_deinit(struct interval_map *c);

/* Index of the segment that holds an address; SIZE_MAX before the first. */
size_t interval_map_find(const struct interval_map *c, uint64_t address);

/* The id there. */
uint32_t interval_map_at(const struct interval_map *c, uint64_t address);

/* Of <dwarf.h> only since elfutils 0.192: which block of its line calls an inlined function. */
#define ATTRIBUTE_GNU_DISCRIMINATOR 0x2136

/* --- functions of a unit: scopes.c ------------------------------------------------------------ */

/* Inlined ones included, and which of them an address is in. */

enum { NO_SCOPE = NO_SPAN };

/* A function with code, or an inlined instance of one. */
struct scope {
    Dwarf_Die die;
    const char *name;
    uint64_t low;    /* where its first range starts */
    uint32_t parent; /* the function this one stands in; NO_SCOPE: none */
    /* As the name: of a split unit, which has no `die`, from the start; of another one on request,
     * because most are never needed. */
    uint32_t call_file, call_line, call_discriminator, declared;
    bool is_inlined;
    bool is_linkage; /* the name is one of the symbol table, as far as the language shows */
    bool is_named;   /* name, is_linkage and the numbers are known */
};

/* Functions as entries describe them. */
enum scope_fact {
    FACT_LINKAGE_NAME,
    FACT_MIPS_LINKAGE_NAME,
    FACT_NAME,
    FACT_DECLARED,
    FACTS_INHERITED, /* what is not said of an instance is said of its origin */
    FACT_ORIGIN = FACTS_INHERITED,
    FACT_SPECIFICATION,
    FACT_CALL_FILE,
    FACT_CALL_LINE,
    FACT_CALL_DISCRIMINATOR,
    FACTS
};

struct scope_facts {
    Dwarf_Attribute at[FACTS]; /* code 0: not said */
};

/* What a walk will look at: ascending, not overlapping. */
struct wanted_code {
    const struct object_range *at;
    size_t len;
};

/* What encloses entries of C++: a namespace, a class or a function. */
struct owner {
    uint64_t offset;  /* of its entry */
    uint32_t parent;  /* the one around it; UINT32_MAX: none */
    uint32_t lambda;  /* from 1: which lambda of what is around it; 0: it is none */
    uint32_t lambdas; /* how many stand in it */
};

struct owners {
    bool is_read;
    VEC(struct owner) contexts;
    struct map of; /* an entry's place in memory -> contexts */
};

/* The name that the demangler would write for a C++ function that has none but `name` in its entry
 * `die`: after its namespaces, classes and functions. The text lives in `a`. */
const char *owners_name(struct owners *o, Dwarf_Die *die, const char *name, struct arena *a);
void owners_deinit(struct owners *o);

/* All functions of a unit, and which of them holds an address. */
struct scopes {
    VEC(struct scope) scopes;
    struct interval_map cover;
    VEC(struct scope_facts) facts; /* of origins, by the entry's place in memory */
    struct map fact_of;
    bool has_plain_names; /* the language does not mangle names */
    struct arena *texts;  /* of names that have to be made; NULL: bare names stay, as in BFD */
    struct owners owners;
    bool is_partial; /* functions that no caller wanted were left out */
};

struct scope_spans {
    struct span *at;
    size_t len, cap;
};

/* Adds a range to the scope whose spans start at `first`. As BFD: a range that touches one the
 * function has already is joined to it. */
void scope_spans_add(struct scope_spans *spans, size_t first, uint64_t low, uint64_t high,
                     uint32_t scope);

/* Of DW_TAG_... and DW_LANG_...: whether functions with code may stand below such an entry, which
 * itself is in a function or not; whether BFD takes names of the language for those of the symbol
 * table. */
bool scope_may_hold_functions(int tag, bool is_in_function);
bool scope_has_plain_names(int language);

/* `unit` is a unit's first entry; split units are read elsewhere (split_functions.c). With
 * `as_bfd` a range list given by index (DW_FORM_rnglistx) is not followed. With `wanted`, functions
 * with no code in it are left out, with all that is below them, and s->is_partial says that there
 * were some. NULL: all are read. Without `as_bfd` functions of C++ are named with what encloses
 * them, by texts in `a`. */
void scopes_init(struct scopes *s, Dwarf_Die *unit, bool as_bfd, const struct wanted_code *wanted,
                 struct arena *a);
void scopes_deinit(struct scopes *s);

/* The innermost function around an address: the one with the smallest range. */
static inline uint32_t scopes_at(const struct scopes *s, uint64_t address)
{
    return interval_map_at(&s->cover, address);
}

/* Linkage name, else the name in the source, else NULL. Lives as long as the debug information. */
const char *scope_name(struct scopes *s, uint32_t scope);

/* Where an inlined function was called from; false where that is not said. */
bool scope_call(struct scopes *s, uint32_t scope, uint32_t *file, uint32_t *line);

/* Which block of that line calls it; and the line on which the function is declared. 0: unknown. */
uint32_t scope_call_discriminator(struct scopes *s, uint32_t scope);
uint32_t scope_declared(struct scopes *s, uint32_t scope);

/* ---- The compilation units of a program, found by address.
 *
 * All that is read of a unit is read when an address falls into it, and may be forgotten.
 *
 *     address -> ranges (sorted) -> unit -> table (its rows)      -> file and line
 *                                        -> scopes (its functions) -> function and inlining */

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
    bool has_inlining, may_inline; /* unit_may_inline() */
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
    struct bytes addresses, address_ranges, range_lists; /* .debug_addr, _ranges, _rnglists */
    VEC(struct unit) units;
    VEC(struct unit_range) ranges; /* by low, then by unit */
    VEC(struct line_table) tables;
    VEC(struct line_rows) spare; /* room of tables that were forgotten, for the next ones */
    struct map table_of;         /* (offset in .debug_line, 0) to index of table */
    /* Of all units together: held, read a second time, and as many as are held at most. */
    size_t rows_held, rows_again, rows_most;
    size_t scopes_held, scopes_again, scopes_most;
    const struct wanted_code *wanted; /* NULL: functions are read whatever code they have */
    /* More than these would mean that units share lists only to waste our time. */
    size_t ranges_most;
    uint64_t program_bytes_left;
    struct interval_map cover; /* which unit counts where; made by the first walk over the code */
    bool has_cover;
};

/* Reads the index on the first call. Never NULL. */
struct units *units_of(struct object *o);
void units_free(struct units *u); /* NULL is fine */

/* The line table of a unit, decoded when it is not in memory. Valid until the next call: the least
 * recently used tables make room for others. */
struct line_table *unit_table(struct units *u, uint32_t unit);

/* From now on tables have discriminators; those that were read without are forgotten. */
void units_keep_discriminators(struct units *u);

/* The path of a unit whose line table names one file only, or NULL: read from the table's header,
 * without its rows. Strings that have to be made live in `a`. */
const char *unit_sole_path(struct units *u, uint32_t unit, struct arena *a);

/* The functions of a unit, read when they are not in memory. Valid until the next call likewise. */
struct scopes *unit_scopes(struct units *u, uint32_t unit);

/* Whether functions may be inlined in a unit, by its abbreviations alone: an entry of a kind that
 * they do not have is nowhere in it. True of one that was split off. Found once a unit. */
bool unit_may_inline(struct units *u, uint32_t unit);

/* From now on, functions without code in `wanted` may be left out of those that are read; what was
 * read like that for others is forgotten. NULL: none are left out. */
void units_want(struct units *u, const struct wanted_code *wanted);

/* Reads functions again that were read in part, now all of them. */
struct scopes *unit_all_scopes(struct units *u, uint32_t unit);

/* The first unit, from number `from` on, with a range around the address; the first unit that has a
 * row for an address; or NO_UNIT. *table is valid until the next unit_table(). */
enum { NO_UNIT = UINT32_MAX };
uint32_t unit_around(const struct units *u, uint64_t address, uint32_t from);
uint32_t units_find(struct units *u, uint64_t address, struct line_table **table,
                    const struct line_row **row);

/* --- names: places.c -------------------------------------------------------------------------- */

/* ---- Units that `-gsplit-dwarf` split off: what is left of one in the program, where the rest is,
 * its entries, its functions.
 *
 * elfutils before 0.191 knows no packages and before 0.189 no zstd, so this reader is our own. It
 * reads of an entry what a function is described by, and passes over the rest.
 *
 *     skeleton (in the program) --id--> package or .dwo file --> split unit --> entries --> scopes
 *
 * Order of use: split_skeleton_read(), split_find(), split_scopes_init(). Units point into the
 * files' sections, which struct split_files keeps open for as long as the object. */

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
    uint32_t call_file, call_line, call_discriminator, declared, language;
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

/* The description of a split unit in the unit that stayed in the program. */
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
 * the program's whole sections; `ranges` are lists from DWARF 5 on. */
bool split_skeleton_read(Dwarf_Die *unit, const struct units *u, struct split_skeleton *out);

/* --- functions and their ranges: split_functions.c -------------------------------------------- */

void split_scopes_init(struct scopes *s, const struct split_unit *u);

/* The id of a DWARF 4 unit is in its first entry. */
bool split_unit_id(const struct split_unit *u, uint64_t *id);

#endif
