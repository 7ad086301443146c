/* Unwind tables: which description (FDE) covers an address, and what its header (CIE) says.
 * Private to this room. */
#ifndef MONARC_UNWIND_TABLES_H
#define MONARC_UNWIND_TABLES_H

#include "base/cursor.h"
#include "unwind/rule.h"
#include "unwind/unwind.h"

/* `.eh_frame` or `.debug_frame`: entries of the same kind, told apart by how they name their CIE.
 */
struct frame_section {
    struct bytes bytes;
    uint64_t address;
    bool is_debug;
};

/* Common information entry. */
struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    struct bytes program;
    uint8_t pointer_encoding;
    uint8_t address_bytes;
    bool has_data;        /* augmentation z */
    bool is_signal_frame; /* augmentation S */
};

/* Frame description entry: what holds in [start, end). */
struct fde {
    struct cie cie;
    uint64_t start, end;
    struct bytes program;
    uint32_t offset; /* in its section */
    bool is_debug;
};

/* What encoded pointers count from. */
struct encoding_bases {
    uint64_t section, text, data, function;
    uint8_t address_bytes;
};

/* The table of `.eh_frame_hdr`, pairs of (start, address of the FDE) by start. */
struct header_table {
    struct bytes entries;
    uint64_t address; /* of `entries` */
    uint64_t data;    /* base of DW_EH_PE_datarel: the address of the header */
    size_t len;       /* 0: there is no table to go by */
    uint8_t encoding, width;
};

/* Made by reading a whole section, when it is first needed. */
struct index_entry {
    uint64_t start;
    uint32_t offset;
};

struct frame_index {
    struct index_entry *at;
    size_t len, cap;
    bool is_built;
};

struct unwind_tables {
    struct unwind_sections s;
    struct frame_section eh, debug;
    struct frame_index eh_index, debug_index; /* .eh_frame: only without a header table */
    struct header_table header;
    struct rule_cache cache;
};

/* Reads one pointer as DW_EH_PE_... says; sets in->failed for what cannot be read. The cursor is
 * over the section from its beginning. */
uint64_t encoded_read(struct cursor *in, uint8_t encoding, const struct encoding_bases *bases);

/* Bytes that a pointer of that encoding takes; 0: it depends. */
uint8_t encoded_width(uint8_t encoding, uint8_t address_bytes);

/* The entry at an offset; false: it is no FDE, or damaged. *next is where the next entry begins,
 * or 0 at the end of the section. */
bool fde_read(const struct unwind_tables *t, const struct frame_section *f, uint64_t offset,
              struct fde *out, uint64_t *next);

/* The FDE that covers a link address. */
bool fde_find(struct unwind_tables *t, uint64_t address, struct fde *out);

/* header.c: makes use of `.eh_frame_hdr` if it is what it should be. */
void header_open(struct unwind_tables *t);

/* What the FDE of an address is, by the header's table. */
enum header_answer { HEADER_FOUND, HEADER_NONE, HEADER_LIES };
enum header_answer header_find(const struct unwind_tables *t, uint64_t address, struct fde *out);

/* frame_index.c */
bool index_find(struct unwind_tables *t, const struct frame_section *f, struct frame_index *index,
                uint64_t address, struct fde *out);

#endif
