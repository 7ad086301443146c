/* What units of debug information are made of, from the bottom up: rows of line programs, tables of
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
#include "base/vec.h"

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
    bool as_bfd; /* the file register of DWARF 5 starts at 0, not 1 */
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
};

/* False where no program of DWARF 2 to 5 stands at that offset of .debug_line. The program points
 * into the sections; close it either way. */
MUST_CHECK bool line_program_open(struct line_program *p, const struct line_sections *sections,
                                  uint64_t offset);
void line_program_close(struct line_program *p);

enum line_event { LINE_ROW, LINE_SEQUENCE_END, LINE_STOP };

/* The next row, the end of a sequence (row->address is one past its last byte), or the end of the
 * program, which is also what nonsense leads to. */
enum line_event line_program_next(struct line_program *p, struct line_row *row);

/* As many rows as special opcodes make without anything else in between, but at most `most`, into
 * the places behind `last`, a row that the program made before; of rows at one address the last one
 * stays. Returns how many places were filled; 0 may also mean that line_program_next() has to go
 * on. For speed alone: it makes no difference to the rows. */
size_t line_program_run(struct line_program *p, struct line_row *last, size_t most);

/* The path of a file, joined as BFD does it: a relative name is prefixed with its directory, and a
 * relative directory with `comp_dir` (may be NULL). NULL for an unknown file. */
const char *line_program_path(const struct line_program *p, uint32_t file, const char *comp_dir,
                              struct arena *a);

/* --- line tables: lines.c --------------------------------------------------------------------- */

/* One unit's rows, in memory and ordered for lookup. */

/* Rows whose addresses ascend, up to an end that the program tells. */
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
    VEC(const char *) paths;             /* by file number, joined when first asked for */
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

/* The path of a row's file, or NULL; strings that have to be made live in `a`. */
const char *line_table_path(struct line_table *t, uint32_t file, struct arena *a);

/* --- interval maps: interval_map.c ------------------------------------------------------------ */

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

/* --- functions of a unit: scopes.c ------------------------------------------------------------ */

/* Inlined ones included, and which of them an address is in. */

enum { NO_SCOPE = NO_SPAN };

/* A function with code, or an inlined instance of one. */
struct scope {
    Dwarf_Die die;
    const char *name;
    uint64_t low;                  /* where its first range starts */
    uint32_t parent;               /* the function this one stands in; NO_SCOPE: none */
    uint32_t call_file, call_line; /* of a split unit, which has no `die` */
    bool is_inlined;
    bool is_linkage; /* the name is one of the symbol table, so far as the language tells */
    bool is_named;   /* name and is_linkage are known: scope_name() */
};

/* All functions of a unit, and which of them holds an address. */
struct scopes {
    VEC(struct scope) scopes;
    struct interval_map cover;
    bool has_plain_names; /* the language does not mangle names */
};

struct scope_spans {
    struct span *at;
    size_t len, cap;
};

/* Adds a range to the scope whose spans start at `first`. As BFD: a range that touches one the
 * function has already is joined to it. */
void scope_spans_add(struct scope_spans *spans, size_t first, uint64_t low, uint64_t high,
                     uint32_t scope);

/* Of DW_TAG_... and DW_LANG_...: whether functions may stand below such an entry; whether BFD takes
 * names of the language for those of the symbol table. */
bool scope_may_hold_functions(int tag);
bool scope_has_plain_names(int language);

/* `unit` is a unit's first entry; split units are read elsewhere (split.h). With
 * `as_bfd` a range list given by index (DW_FORM_rnglistx) is not followed. */
void scopes_init(struct scopes *s, Dwarf_Die *unit, bool as_bfd);
void scopes_deinit(struct scopes *s);

/* The innermost function around an address: the one with the smallest range. */
static inline uint32_t scopes_at(const struct scopes *s, uint64_t address)
{
    return interval_map_at(&s->cover, address);
}

/* Linkage name, else the name in the source, else NULL. Lives as long as the debug information. */
const char *scope_name(struct scopes *s, uint32_t scope);

/* Where an inlined function was called from; false where that is not said. */
bool scope_call(const struct scopes *s, uint32_t scope, uint32_t *file, uint32_t *line);

#endif
