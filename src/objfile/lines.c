/* Line programs, and tables of their rows.
 *
 * A program is DWARF's way to write a table in a few bytes a row: a state machine with an address,
 * a line and a file, whose opcodes move them and emit rows. Most rows are special opcodes, which
 * move address and line at once; those are run in a loop of their own.
 *
 * Written by hand because libdw decodes a unit's whole table into large rows before the first
 * question, and because its assertions are no way to meet a hostile file. Columns, discriminators
 * and statement marks are passed over.
 *
 * A table has the rows of one unit ordered for lookup. Where it contradicts itself, it is read as
 * BFD reads it, because addr2line is what people compare with: of several rows at one address the
 * last counts; of overlapping sequences the one that starts first does, and what another has beyond
 * it.
 *
 * Specification: DWARF 5, section 6.2, and the same section of DWARF 2, 3 and 4. The header:
 *
 *     unit_length  version  [5: address_size segment_size]  header_length  min_inst_length
 *     [4,5: max_ops]  default_is_stmt  line_base  line_range  opcode_base  operand counts...
 *     directories, files (2-4: strings up to an empty one; 5: described by formats)  program */
#include "objfile/debug_info.h"

#include "base/sort.h"
#include "base/bytes.h"

#include <dwarf.h>
#include <string.h>

/* --- programs --------------------------------------------------------------------------------- */

/* An offset of 32- or 64-bit DWARF. */
static uint64_t lineprogram_read_offset(struct cursor *c, uint8_t size)
{
    return size == 4 ? cursor_u32(c) : cursor_u64(c);
}

/* A string inside the program, or "" past its end. */
static const char *lineprogram_read_string(struct cursor *c)
{
    const uint8_t *end = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;
    if (c->failed || !end) {
        c->failed = true;
        return "";
    }
    return (const char *)cursor_take(c, (size_t)(end - c->at) + 1);
}

/* A string of another section, or NULL. */
static const char *lineprogram_string_at(struct bytes strings, uint64_t offset)
{
    return offset < strings.len ? (const char *)strings.at + offset : NULL;
}

/* One field of a DWARF 5 directory or file entry. */
struct field {
    const char *text;
    uint64_t number;
};

/* Forms that directory and file entries may have. False: another, whose length is not known. */
static bool lineprogram_read_field(struct line_program *p, struct cursor *c, uint64_t form,
                                   struct field *out)
{
    *out = (struct field){0};
    switch (form) {
    case DW_FORM_string: out->text = lineprogram_read_string(c); break;
    case DW_FORM_line_strp:
        out->text = lineprogram_string_at(p->sections->line_str,
                                          lineprogram_read_offset(c, p->offset_size));
        break;
    case DW_FORM_strp:
        out->text =
            lineprogram_string_at(p->sections->str, lineprogram_read_offset(c, p->offset_size));
        break;
    case DW_FORM_udata: out->number = cursor_uleb(c); break;
    case DW_FORM_data1: out->number = cursor_u8(c); break;
    case DW_FORM_data2: out->number = cursor_u16(c); break;
    case DW_FORM_data4: out->number = cursor_u32(c); break;
    case DW_FORM_data8: out->number = cursor_u64(c); break;
    case DW_FORM_data16: cursor_take(c, 16); break;
    case DW_FORM_block: {
        uint64_t len = cursor_uleb(c);
        cursor_take(c, len < cursor_left(c) ? (size_t)len : cursor_left(c));
        break;
    }
    default: return false;
    }
    return !c->failed;
}

/* The entries of a DWARF 5 table: a format (pairs of content and form), a count, the entries. Every
 * entry takes at least one byte, so the loop is bounded by the section. */
static bool lineprogram_read_entries(struct line_program *p, struct cursor *c, bool are_files)
{
    uint8_t formats = cursor_u8(c);
    struct cursor format = *c;
    for (unsigned i = 0; i < formats; i++) {
        cursor_uleb(c);
        cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    if (c->failed || (!formats && count) || count > cursor_left(c))
        return false;
    for (uint64_t n = 0; n < count; n++) {
        struct cursor f = format;
        struct line_file file = {0};
        const uint8_t *start = c->at;
        for (unsigned i = 0; i < formats; i++) {
            uint64_t content = cursor_uleb(&f), form = cursor_uleb(&f);
            struct field field;
            if (!lineprogram_read_field(p, c, form, &field))
                return false;
            if (content == DW_LNCT_path)
                file.name = field.text;
            else if (content == DW_LNCT_directory_index)
                file.dir = field.number;
        }
        if (c->at == start)
            return false;
        if (are_files)
            vec_push(&p->files, file);
        else
            vec_push(&p->dirs, file.name);
    }
    return true;
}

/* A file of DWARF 2 to 4: name, directory, time, length. An empty name ends the table. */
static struct line_file lineprogram_read_file(struct cursor *c)
{
    struct line_file file = {.name = lineprogram_read_string(c)};
    if (*file.name) {
        file.dir = cursor_uleb(c);
        cursor_uleb(c); /* time of change */
        cursor_uleb(c); /* length */
    }
    return file;
}

/* Leaves `c` at the directory table and p->code bounded to the program. */
static bool lineprogram_read_header(struct line_program *p, struct cursor *c)
{
    uint64_t length = cursor_u32(c);
    p->offset_size = length == 0xffffffff ? 8 : 4;
    if (p->offset_size == 8)
        length = cursor_u64(c);
    if (c->failed || length > cursor_left(c))
        return false;
    c->end = c->at + length;
    p->bytes = length;
    p->version = cursor_u16(c);
    if (p->version < 2 || p->version > 5)
        return false;
    if (p->version == 5)
        cursor_take(c, 2);
    uint64_t header_length = lineprogram_read_offset(c, p->offset_size);
    if (c->failed || header_length > cursor_left(c))
        return false;
    p->code = *c;
    cursor_take(&p->code, (size_t)header_length);
    p->min_instruction_bytes = cursor_u8(c);
    p->max_operations = p->version >= 4 ? cursor_u8(c) : 1;
    cursor_u8(c); /* default_is_stmt */
    p->line_base = (int8_t)cursor_u8(c);
    p->line_range = cursor_u8(c);
    p->opcode_base = cursor_u8(c);
    p->operands = cursor_take(c, p->opcode_base ? p->opcode_base - 1u : 0);
    return !c->failed && p->opcode_base && p->line_range && p->max_operations;
}

/* The registers at the beginning of a sequence. */
static void lineprogram_reset(struct line_program *p)
{
    uint16_t bfd = p->sections->bfd_version;
    p->row = (struct line_row){.line = 1, .file = bfd && bfd < 244 && p->version == 5 ? 0 : 1};
    p->operation = 0;
    p->discriminator = 0;
}

/* Tables of directories and files are read at once, for paths; rows are not. */
bool line_program_open(struct line_program *p, const struct line_sections *sections,
                       uint64_t offset)
{
    *p = (struct line_program){.sections = sections};
    if (offset >= sections->line.len)
        return false;
    struct cursor c = cursor_over(sections->line, ".debug_line");
    c.big_endian = sections->big_endian;
    cursor_take(&c, (size_t)offset);
    if (!lineprogram_read_header(p, &c))
        return false;
    lineprogram_reset(p);
    if (p->version == 5)
        return lineprogram_read_entries(p, &c, false) && lineprogram_read_entries(p, &c, true);
    /* Before, both tables count from 1; entry 0 is the compilation directory, and no file. */
    vec_push(&p->dirs, NULL);
    vec_push(&p->files, (struct line_file){0});
    for (const char *dir; *(dir = lineprogram_read_string(&c));)
        vec_push(&p->dirs, dir);
    for (struct line_file file; *(file = lineprogram_read_file(&c)).name;)
        vec_push(&p->files, file);
    return !c.failed;
}

/* The sections stay as they are. */
void line_program_close(struct line_program *p)
{
    vec_free(&p->dirs);
    vec_free(&p->files);
}

/* By operations, which are instructions but on VLIW machines, where several are in one. */
static void lineprogram_advance(struct line_program *p, uint64_t operations)
{
    if (p->max_operations == 1) {
        p->row.address += operations * p->min_instruction_bytes;
        return;
    }
    operations += p->operation;
    p->row.address += operations / p->max_operations * p->min_instruction_bytes;
    p->operation = operations % p->max_operations;
}

/* True at the end of a sequence. An extended opcode says its own length, so that one that is not
 * known is passed over. */
static bool lineprogram_run_extended(struct line_program *p)
{
    uint64_t len = cursor_uleb(&p->code);
    if (p->code.failed || !len || len > cursor_left(&p->code)) {
        p->code.failed = true;
        return false;
    }
    struct cursor c = p->code;
    c.end = c.at + len;
    cursor_take(&p->code, (size_t)len);
    switch (cursor_u8(&c)) {
    case DW_LNE_end_sequence: return true;
    case DW_LNE_set_address:
        c.failed |= cursor_left(&c) != 2 && cursor_left(&c) != 4 && cursor_left(&c) != 8;
        p->row.address = cursor_left(&c) == 2   ? cursor_u16(&c)
                         : cursor_left(&c) == 4 ? cursor_u32(&c)
                                                : cursor_u64(&c);
        p->operation = 0;
        break;
    case DW_LNE_set_discriminator: {
        uint64_t value = cursor_uleb(&c);
        p->discriminator = value < UINT32_MAX ? (uint32_t)value : 0;
        break;
    }
    case DW_LNE_define_file: {
        struct line_file file = lineprogram_read_file(&c);
        if (!c.failed)
            vec_push(&p->files, file);
        break;
    }
    default: break;
    }
    return false;
}

/* A row takes the discriminator that precedes it. */
static void lineprogram_take_discriminator(struct line_program *p)
{
    p->row_discriminator = p->discriminator;
    p->discriminator = 0;
}

/* The next row, the end of a sequence (row->address is one past its last byte), or the end of
 * the program, which is also what nonsense leads to. Special opcodes first: they are most of a
 * program. Vendors' standard opcodes are passed over by the number of operands that the header
 * gives for them. */
static enum line_event line_program_next(struct line_program *p, struct line_row *row)
{
    while (cursor_left(&p->code) && !p->code.failed) {
        uint8_t opcode = cursor_u8(&p->code);
        if (opcode >= p->opcode_base) {
            uint8_t adjusted = (uint8_t)(opcode - p->opcode_base);
            lineprogram_advance(p, adjusted / p->line_range);
            p->row.line += (uint32_t)(p->line_base + adjusted % p->line_range);
            *row = p->row;
            lineprogram_take_discriminator(p);
            return LINE_ROW;
        }
        if (opcode == DW_LNS_copy) {
            *row = p->row;
            lineprogram_take_discriminator(p);
            return LINE_ROW;
        }
        if (opcode == 0 && lineprogram_run_extended(p)) {
            *row = p->row;
            lineprogram_reset(p);
            return LINE_SEQUENCE_END;
        }
        if (opcode != 0) {
            /* Standard opcodes other than DW_LNS_copy. */
            switch (opcode) {
            case DW_LNS_advance_pc: lineprogram_advance(p, cursor_uleb(&p->code)); break;
            case DW_LNS_advance_line: p->row.line += (uint32_t)cursor_sleb(&p->code); break;
            case DW_LNS_set_file: {
                uint64_t file = cursor_uleb(&p->code);
                p->row.file = file < UINT32_MAX ? (uint32_t)file : UINT32_MAX;
                break;
            }
            case DW_LNS_const_add_pc:
                lineprogram_advance(p, (255u - p->opcode_base) / p->line_range);
                break;
            case DW_LNS_fixed_advance_pc:
                p->row.address += cursor_u16(&p->code);
                p->operation = 0;
                break;
            default:
                for (unsigned i = p->operands[opcode - 1]; i; i--)
                    cursor_uleb(&p->code);
            }
        }
    }
    return LINE_STOP;
}

/* As many rows as special opcodes make without anything else in between, but at most `most`,
 * into the places after `last`, the previous row of the program; of rows at one address the last
 * one stays. Returns how many places were filled; 0 may also mean that line_program_next() has
 * to go on. For speed alone: it makes no difference to the rows. Works on copies of the
 * registers and writes them back at the end, so that the loop has them in the machine's
 * registers. */
static size_t line_program_run(struct line_program *p, struct line_row *last, size_t most)
{
    struct line_row *at = last, row = p->row;
    if (p->max_operations != 1 || p->code.failed || row.address < last->address)
        return 0;
    const uint8_t *code = p->code.at, *end = p->code.end;
    while (code < end && (size_t)(at - last) < most) {
        if (*code < p->opcode_base) {
            /* DW_LNS_negate_stmt, and DW_LNS_set_column with an operand of one byte: most of what
             * stands between the rows that compilers write. */
            if (code[0] == DW_LNS_negate_stmt && !p->operands[DW_LNS_negate_stmt - 1]) {
                code++;
                continue;
            }
            if (code[0] != DW_LNS_set_column || !(p->opcode_base > DW_LNS_set_column) ||
                !(p->operands[DW_LNS_set_column - 1] == 1) || !(p->code.end - code > 1) ||
                code[1] >= 0x80)
                break;
            code += 2;
            continue;
        }
        unsigned adjusted = *code - (unsigned)p->opcode_base;
        unsigned step = adjusted / p->line_range * p->min_instruction_bytes;
        if (row.address + step < row.address)
            break;
        row.address += step;
        row.line += (uint32_t)(p->line_base + (int)(adjusted % p->line_range));
        at += row.address != at->address;
        *at = row;
        code++;
    }
    p->code.at = code;
    p->row = row;
    return (size_t)(at - last);
}

/* COMP_DIR/DIR/NAME: a part is prepended only while the rest is relative. */
const char *line_program_path(const struct line_program *p, uint32_t file, const char *comp_dir,
                              struct arena *a)
{
    const char *name = file < p->files.len ? p->files.at[file].name : NULL;
    if (!name || name[0] == '/')
        return name;
    uint64_t index = p->files.at[file].dir;
    const char *dir = index < p->dirs.len ? p->dirs.at[index] : NULL;
    if (dir && (dir[0] == '/' || !comp_dir))
        return arena_printf(a, "%s/%s", dir, name);
    if (!comp_dir)
        return name;
    return dir ? arena_printf(a, "%s/%s/%s", comp_dir, dir, name)
               : arena_printf(a, "%s/%s", comp_dir, name);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* For compilers that step back within a sequence. */
static void sort_rows(struct line_row *rows, size_t len)
{
    if (len > UINT32_MAX)
        return;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct line_row *copy = ARENA_NEW(&scratch, struct line_row, len);
    memcpy(copy, rows, len * sizeof *rows);
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){rows[i].address, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        rows[i] = copy[order[i].item];
    arena_deinit(&scratch);
}

/* Ends the sequence that began at row `first`; empty ones leave no trace. */
static void end_sequence(struct line_table *t, size_t first, bool is_sorted, uint64_t high)
{
    size_t len = t->rows.len - first;
    if (!is_sorted)
        sort_rows(t->rows.at + first, len);
    if (len && t->rows.at[first].address < high)
        vec_push(&t->sequences,
                 (struct line_sequence){
                     .low = t->rows.at[first].address, .high = high, .first = first, .len = len});
    else
        t->rows.len = first;
}

/* The order in which sequences claim addresses. */
static int by_range(uint32_t left, uint32_t right, const void *context)
{
    const struct line_sequence *l = (const struct line_sequence *)context + left;
    const struct line_sequence *r = (const struct line_sequence *)context + right;
    if (l->low != r->low)
        return l->low < r->low ? -1 : 1;
    return (l->high < r->high) - (l->high > r->high); /* the longer one first */
}

/* The last row of an address counts, so that its discriminator takes the place of the one before.
 */
static void keep_discriminator(struct line_table *t, uint64_t address, uint32_t discriminator)
{
    struct keyed *last =
        t->discriminators.len ? &t->discriminators.at[t->discriminators.len - 1] : NULL;
    if (last && last->key == address)
        last->item = discriminator;
    else if (discriminator)
        vec_push(&t->discriminators, (struct keyed){address, discriminator});
}

/* After nonsense the table has what was read before it. */
void line_table_read(struct line_table *t, const struct line_sections *sections, uint64_t offset,
                     const char *comp_dir)
{
    line_program_close(&t->program);
    t->comp_dir = comp_dir;
    t->is_known = t->is_decoded = true;
    if (!line_program_open(&t->program, sections, offset))
        return;
    /* A program that stops inside a sequence gives no end for its last row: that row is lost.
     */
    enum { BYTES_A_ROW = 4 }; /* or fewer, then it grows */
    struct line_row row;
    size_t first = 0;
    bool is_sorted = true;
    enum line_event event;
    vec_reserve(&t->rows, cursor_left(&t->program.code) / BYTES_A_ROW + 1);
    while ((event = line_program_next(&t->program, &row)) != LINE_STOP) {
        if (event == LINE_ROW) {
            struct line_row *last = t->rows.len > first ? &t->rows.at[t->rows.len - 1] : NULL;
            is_sorted &= !last || last->address <= row.address;
            if (last && last->address == row.address)
                *last = row; /* of several at one address the last counts */
            else
                vec_push(&t->rows, row);
            if (sections->keeps_discriminators) {
                keep_discriminator(t, row.address, t->program.row_discriminator);
                /* Rows of special opcodes alone have none, which only matters where they take the
                 * place of this one. */
                size_t kept = t->discriminators.len;
                if (kept && t->discriminators.at[kept - 1].key >= row.address)
                    continue;
            }
            t->rows.len += line_program_run(&t->program, &t->rows.at[t->rows.len - 1],
                                            t->rows.cap - t->rows.len);
            continue;
        }
        end_sequence(t, first, is_sorted, row.address);
        first = t->rows.len;
        is_sorted = true;
    }
    if (t->rows.len > first)
        end_sequence(t, first, is_sorted, t->rows.at[t->rows.len - 1].address);
    /* By start; what overlaps the ones before is cut off, so that an address is in one sequence at
     * most. */
    sort_keyed(t->discriminators.at, t->discriminators.len);
    size_t len = t->sequences.len;
    if (!len || len > UINT32_MAX)
        return;
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    struct line_sequence *copy = ARENA_NEW(&scratch, struct line_sequence, len);
    memcpy(copy, t->sequences.at, len * sizeof *copy);
    for (size_t i = 0; i < len; i++)
        order[i] = (uint32_t)i;
    sort_u32(order, len, by_range, copy);
    uint64_t covered = 0;
    t->sequences.len = 0;
    for (size_t i = 0; i < len; i++) {
        struct line_sequence s = copy[order[i]];
        if (s.high <= covered)
            continue;
        s.low = s.low < covered ? covered : s.low;
        covered = s.high;
        t->sequences.at[t->sequences.len++] = s;
    }
    arena_deinit(&scratch);
}

/* Paths and the program's files are kept: they are small, and callers want the paths again. */
void line_table_forget(struct line_table *t)
{
    vec_free(&t->rows);
    vec_free(&t->sequences);
    vec_free(&t->discriminators);
    t->is_decoded = false;
}

/* The rows of a table that is decoded, and its paths. The strings of paths are the arena's. */
void line_table_deinit(struct line_table *t)
{
    line_table_forget(t);
    line_program_close(&t->program);
    vec_free(&t->paths);
}

/* Sequences do not overlap, so that their ends ascend as well. */
size_t line_table_sequence_from(const struct line_table *t, uint64_t address)
{
    return PARTITION_POINT(t->sequences.len, i, t->sequences.at[i].high <= address);
}

/* Two binary searches: of the sequence, and of the row in it. */
const struct line_row *line_table_find(const struct line_table *t, uint64_t address)
{
    size_t from = line_table_sequence_from(t, address);
    if (from == t->sequences.len || t->sequences.at[from].low > address)
        return NULL;
    const struct line_sequence *s = &t->sequences.at[from];
    const struct line_row *rows = t->rows.at + s->first;
    size_t behind = PARTITION_POINT(s->len, i, rows[i].address <= address);
    return behind ? &rows[behind - 1] : NULL;
}

size_t line_table_discriminators_until(const struct line_table *t, uint64_t address)
{
    return PARTITION_POINT(t->discriminators.len, i, t->discriminators.at[i].key <= address);
}

/* Those of sequences that share an address, as of functions that the linker dropped, are of the
 * last one. */
uint32_t line_table_discriminator(const struct line_table *t, const struct line_row *row,
                                  size_t *behind)
{
    while (*behind < t->discriminators.len && t->discriminators.at[*behind].key <= row->address)
        ++*behind;
    const struct keyed *last = *behind ? &t->discriminators.at[*behind - 1] : NULL;
    return last && last->key == row->address ? last->item : 0;
}

/* Joined once for each file of a table. */
const char *line_table_path(struct line_table *t, uint32_t file, struct arena *a)
{
    if (file >= t->program.files.len)
        return NULL;
    if (!t->paths.len) {
        vec_reserve(&t->paths, t->program.files.len);
        t->paths.len = t->program.files.len;
        memset(t->paths.at, 0, t->paths.len * sizeof *t->paths.at);
    }
    if (!t->paths.at[file])
        t->paths.at[file] = line_program_path(&t->program, file, t->comp_dir, a);
    return t->paths.at[file];
}
