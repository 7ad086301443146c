/* One unit's rows, in memory and ordered for lookup. Private to this room. */
#ifndef MONARC_OBJFILE_LINETABLE_H
#define MONARC_OBJFILE_LINETABLE_H

#include "objfile/lineprogram.h"

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

#endif
