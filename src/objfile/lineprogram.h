/* One unit's line-number program, run row by row: what DWARF calls the line number state machine.
 * Private to this room. */
#ifndef MONARC_OBJFILE_LINEPROGRAM_H
#define MONARC_OBJFILE_LINEPROGRAM_H

#include "base/cursor.h"
#include "base/err.h"
#include "base/vec.h"

/* The sections a program is read from. */
struct line_sections {
    struct bytes line;
    struct bytes line_str, str; /* empty, or ending with a NUL */
    bool big_endian;
    bool as_bfd; /* the file register of DWARF 5 starts at 0, not 1 */
};

struct line_file {
    const char *name; /* NULL: in a form we do not read */
    uint64_t dir;
};

struct line_row {
    uint64_t address;
    uint32_t line; /* 0: no line */
    uint32_t file; /* for line_program_path() */
};

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

#endif
