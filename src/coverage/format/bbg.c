/* Reads and writes bbg files, the notes of the proposal of 2002. The bytes: docs/formats/bbg.md.
 *
 * The file is records of a tag and a length in bytes, always little-endian. A function is a record
 * of its name and checksum, then blocks, arcs and lines; arcs are grouped by the block that they
 * leave, lines by block with strings for the files. As in gcno.c a function is checked when it
 * ends, and one with a defect leaves the others usable.
 *
 * Files of gcc before 3.4 have the same name and no magic; they are handed on to bb.c.
 *
 *     header      "gbbg" | version
 *     FUNCTION    string name | checksum
 *     BLOCKS      flags of each block
 *     ARCS        { target | flags }          a record for each block, in order, empty ones too
 *     LINES       { line | 0 string file }    likewise
 *     "gcno"      ours: what a gcno has besides, of the file and of each function
 *     string      length | characters | 1 to 4 NULs up to a word
 *
 * Cost: linear; names stay in the bytes. Files of 4 GiB and more are refused: lengths are 32 bits.
 */
#include "coverage/format/format.h"

#include "base/map.h"
#include "coverage/format/arcfile.h"

#include <inttypes.h>

/* --- strings --------------------------------------------------------------------------------- */

void bbg_write_string(struct writer *w, const char *text)
{
    static const char PADDING[4];
    size_t len = text ? strlen(text) : 0;
    writer_u32(w, (uint32_t)len);
    writer_bytes(w, text, len);
    writer_bytes(w, PADDING, 4 - len % 4);
}

enum { HEADER_BYTES = 8 };

uint32_t bbg_read_native(struct cursor *in, struct arcs_native *native)
{
    native->version = cursor_u32(in);
    native->stamp = cursor_u32(in);
    native->checksum = cursor_u32(in);
    uint32_t flags = cursor_u32(in);
    native->big_endian = flags & BBG_NATIVE_BIG_ENDIAN;
    native->lacks_checksum = flags & BBG_NATIVE_NO_CHECKSUM;
    return flags;
}

void bbg_write_native(struct writer *w, const struct arcs_native *native, uint32_t flags)
{
    writer_u32(w, native->version);
    writer_u32(w, native->stamp);
    writer_u32(w, native->checksum);
    writer_u32(w, flags | (native->big_endian ? BBG_NATIVE_BIG_ENDIAN : 0) |
                      (native->lacks_checksum ? BBG_NATIVE_NO_CHECKSUM : 0));
}

static bool bbg_is_digit(unsigned c)
{
    return c >= '0' && c <= '9';
}

/* Characters in the order of the file: "304e" is '3' in the lowest byte. Letters go on from 10. */
uint16_t bbg_version_number(uint32_t version)
{
    const unsigned major = version & 255, tens = version >> 8 & 255, ones = version >> 16 & 255;
    bool is_letter = major >= 'A' && major <= 'Z';
    if ((!bbg_is_digit(major) && !is_letter) || !bbg_is_digit(tens) || !bbg_is_digit(ones))
        return 0;
    return (uint16_t)((is_letter ? major - 'A' + 10 : major - '0') * 100 + (tens - '0') * 10 +
                      (ones - '0'));
}

/* Numbers that have no place in four characters become those of the first implementation. */
uint32_t bbg_version_word(uint16_t number, char phase)
{
    uint32_t word = gcov_proposal_version(number, phase);
    return word ? word : (uint32_t)BBG_VERSION;
}

/* Only da's magic can show a wrong byte order: bbg's reads alike in both. */
bool bbg_open(struct cursor *in, enum bbg_magic magic, struct arcs_origin *origin, struct err *e)
{
    const char *kind = magic == BBG_MAGIC ? "bbg" : "da";
    if (!arcs_size_is_possible(in->name, cursor_left(in), HEADER_BYTES, kind, e))
        return false;
    if (bytes_u32(in->at, false) != magic)
        return err_in(e, in->name,
                      bytes_u32(in->at, true) == magic ? "is a %s file in the wrong byte order"
                                                       : "is not a %s file",
                      kind);
    in->at += 4;
    uint32_t version = cursor_u32(in);
    if (!bbg_version_number(version))
        return err_in(e, in->name, "version word 0x%08" PRIx32 " is not that of a compiler",
                      version);
    *origin = (struct arcs_origin){.family = ARCS_RFC,
                                   .has_byte_lengths = true,
                                   .version = version,
                                   .number = bbg_version_number(version)};
    return true;
}

/* Where it is cut, the cursor stays on the record, or after its header, and its offset shows the
 * caller that the file was not read to the end. */
bool bbg_next(struct cursor *in, uint32_t *tag, struct cursor *record, struct err *e)
{
    if (!cursor_left(in))
        return false;
    if (cursor_left(in) < 8)
        return err_at(e, in, "%zu bytes are too few for a record", cursor_left(in));
    struct cursor where = *in;
    *tag = cursor_u32(in);
    uint32_t length = cursor_u32(in);
    if (length > cursor_left(in))
        return err_at(e, &where,
                      "the record with tag %" PRIu32 " claims %" PRIu32 " bytes, %zu remain", *tag,
                      length, cursor_left(in));
    *record = *in;
    record->end = in->at + length;
    in->at += length;
    return true;
}

/* ---- reading notes */

/* `arc_records` and `line_records` count those of the open function; the block is not in the
 * record. */
struct bbg_reading {
    struct notes *out;
    struct intern names;                /* of files */
    uint32_t arc_records, line_records; /* of the function: numbers of the blocks */
    uint32_t file;                      /* remembered from block to block */
    bool is_open;
};

/* The function whose records are being read; the caller has seen that one is open. */
static struct notes_function *bbg_current(struct bbg_reading *r)
{
    return &r->out->functions.at[r->out->functions.len - 1];
}

/* The first reason stays: what follows is mostly its consequence. */
static void bbg_note_defect(struct bbg_reading *r, enum arcs_defect what)
{
    if (!bbg_current(r)->defect)
        bbg_current(r)->defect = (uint8_t)what;
}

/* Each name once, in the order in which they first stand in the file. */
static uint32_t bbg_file_index(struct bbg_reading *r, const char *name)
{
    struct notes *n = r->out;
    uint32_t index = intern_kept(&r->names, name, strlen(name));
    if (index == n->files.len)
        vec_push(&n->files, name);
    return index;
}

/* Blocks of a function that was a gcno's get the numbers back that they had there, as gcov lists
 * them in that order; block `b` of the file is then this one. */
static uint32_t bbg_block(const struct notes_function *f, uint32_t b)
{
    return b == f->blocks - 1 ? f->exit : b + (b >= f->exit);
}

/* And the other way round. */
static uint32_t bbg_block_number(const struct notes_function *f, uint32_t block)
{
    return block == f->exit ? f->blocks - 1 : block - (block > f->exit);
}

/* Every block has its record of arcs and its record of lines: fewer mean that the file was cut.
 * What is bad has no arcs and no runs any more, so that no index out of its blocks is ever used. */
static void bbg_end_function(struct bbg_reading *r)
{
    if (!r->is_open)
        return;
    struct notes *n = r->out;
    struct notes_function *f = bbg_current(r);
    r->is_open = false;
    f->arcs = (uint32_t)n->arcs.len - f->first_arc;
    f->runs = (uint32_t)n->runs.len - f->first_run;
    if (r->arc_records > f->blocks || r->line_records > f->blocks)
        bbg_note_defect(r, DEFECT_BAD_BLOCK);
    else if (!f->blocks || r->arc_records < f->blocks || r->line_records < f->blocks)
        bbg_note_defect(r, DEFECT_CUT);
    const struct notes_arc *arcs = r->out->arcs.at + f->first_arc;
    for (uint32_t i = 0; i < f->arcs; i++) {
        f->instrumented += !(arcs[i].flags & NOTES_ARC_ON_TREE);
        if (arcs[i].target >= f->blocks)
            bbg_note_defect(r, DEFECT_BAD_BLOCK);
    }
    f->is_arcs_sorted = true;

    if (f->defect)
        f->arcs = f->runs = 0;
    if (f->runs && !f->has_native)
        f->file = n->runs.at[f->first_run].file;
    for (uint32_t i = 0; i < f->runs && !f->has_native && !f->start_line; i++)
        if (n->runs.at[f->first_run + i].lines)
            f->start_line = n->lines.at[n->runs.at[f->first_run + i].first];
    f->exit = f->blocks - 1;
    if (f->has_native && !f->defect && f->blocks > 1 &&
        dialect_of_word(n->origin.native.version)->has_exit_second) {
        struct err stays_last;
        (void)!notes_move_exit(n, f, 1, &stays_last);
    }
    f->first_block = (uint32_t)n->blocks;
    n->blocks += f->blocks;
}

/* A name that cannot be read makes a function with a defect, so that what follows has an owner. */
static void bbg_read_function(struct bbg_reading *r, struct cursor *in, uint64_t offset)
{
    struct notes_function f = {.offset = offset, .file = NO_INDEX};
    f.name = bbg_string(in);
    f.lineno_checksum = cursor_u32(in);
    f.defect = in->failed ? DEFECT_BAD_RECORD : DEFECT_NONE;
    f.ident = in->failed ? 0 : name_ident(f.name);
    f.first_arc = (uint32_t)r->out->arcs.len;
    f.first_run = (uint32_t)r->out->runs.len;
    vec_push(&r->out->functions, f);
    r->is_open = true;
    r->arc_records = r->line_records = 0;
    r->file = NO_INDEX;
}

/* Flags are mostly 0: their list is filled up to the last that is not, and may be empty. */
static void bbg_read_blocks(struct bbg_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    if (bbg_current(r)->blocks || cursor_left(in) % 4)
        bbg_note_defect(r, DEFECT_BAD_RECORD);
    uint32_t blocks = (uint32_t)(cursor_left(in) / 4);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t flags = cursor_u32(in);
        while (flags && n->block_flags.len < n->blocks + i)
            vec_push(&n->block_flags, 0);
        if (flags)
            vec_push(&n->block_flags, flags);
    }
    bbg_current(r)->blocks = blocks;
}

/* A run a file. A file that is named without lines is a run of none, which the writer writes again.
 */
static void bbg_read_lines(struct bbg_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    struct notes_run run = {r->line_records++, r->file, (uint32_t)n->lines.len, 0};
    bool is_named = false;
    while (cursor_left(in)) {
        uint32_t line = cursor_u32(in);
        if (line) {
            vec_push(&n->lines, line);
            run.lines++;
            continue;
        }
        const char *name = bbg_string(in);
        if (in->failed)
            break;
        if (run.lines || is_named)
            vec_push(&n->runs, run);
        r->file = *name ? bbg_file_index(r, name) : (uint32_t)NO_INDEX;
        run = (struct notes_run){run.block, r->file, (uint32_t)n->lines.len, 0};
        is_named = true;
    }
    if (run.lines || is_named)
        vec_push(&n->runs, run);
    if (in->failed)
        bbg_note_defect(r, DEFECT_BAD_RECORD);
}

/* What the proposal has no place for: of the file before its functions, of a function after its
 * FUNCTION. One that is cut, or of an unknown compiler, has nothing. */
static void bbg_read_gcno(struct bbg_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    if (!r->is_open) {
        struct arcs_native native;
        uint32_t flags = bbg_read_native(in, &native);
        const char *directory = flags & BBG_NATIVE_DIRECTORY ? bbg_string(in) : NULL;
        if (in->failed || n->functions.len || !dialect_of_word(native.version)) {
            n->unknown_records++;
            return;
        }
        n->origin.native = native;
        n->has_unexecuted = flags & BBG_NATIVE_UNEXECUTED;
        n->directory = directory;
        return;
    }
    struct notes_function *f = bbg_current(r);
    struct notes_function told = *f;
    told.native.ident = cursor_u32(in);
    told.native.lineno_checksum = cursor_u32(in);
    told.native.cfg_checksum = cursor_u32(in);
    told.is_artificial = cursor_u32(in) & 1;
    const char *source = bbg_string(in);
    told.start_line = cursor_u32(in);
    told.start_column = cursor_u32(in);
    told.end_line = cursor_u32(in);
    told.end_column = cursor_u32(in);
    told.has_native = n->origin.native.version && !in->failed;
    if (!told.has_native || f->has_native || f->blocks || r->arc_records || r->line_records) {
        n->unknown_records++;
        return;
    }
    told.file = *source ? bbg_file_index(r, source) : (uint32_t)NO_INDEX;
    *f = told;
}

/* Records of a function outside of one are counted as unknown, like unknown tags. */
static void bbg_read_record(struct bbg_reading *r, uint32_t tag, struct cursor *in, uint64_t offset)
{
    if (tag == BBG_FUNCTION) {
        bbg_end_function(r);
        bbg_read_function(r, in, offset);
        return;
    }
    if (!r->is_open && tag != BBG_LLVM && tag != BBG_GCNO)
        tag = 0;
    switch (tag) {
    case BBG_BLOCKS: bbg_read_blocks(r, in); break;
    case BBG_ARCS: {
        /* Targets are checked at the end, when the number of blocks is known. */
        uint32_t source = r->arc_records++;
        if (cursor_left(in) % 8)
            bbg_note_defect(r, DEFECT_BAD_RECORD);
        while (cursor_left(in) >= 8) {
            struct notes_arc arc = {.source = source, .target = cursor_u32(in)};
            arc.flags = cursor_u32(in);
            vec_push(&r->out->arcs, arc);
        }
        break;
    }
    case BBG_LINES: bbg_read_lines(r, in); break;
    case BBG_LLVM: r->out->origin.is_llvm = true; break;
    case BBG_GCNO: bbg_read_gcno(r, in); break;
    default: r->out->unknown_records++;
    }
}

bool bbg_has_magic(struct bytes in)
{
    return in.len >= 4 && bytes_u32(in.at, false) == BBG_MAGIC;
}

bool bbg_probe(struct bytes in)
{
    return bbg_has_magic(in) || bb_graph_probe(in);
}

/* On failure the whole functions stay, and the open one has a defect. */
bool bbg_read(struct bytes in, const char *name, struct notes *out, struct err *e)
{
    struct bbg_reading r = {.out = out};
    struct cursor at = cursor_over(in, name), record;
    uint32_t tag;
    uint64_t offset = HEADER_BYTES;
    if (!bbg_has_magic(in) && bb_graph_probe(in))
        return bb_graph_read(in, name, out, e);
    if (!bbg_open(&at, BBG_MAGIC, &out->origin, e)) {
        out->failure.what = DEFECT_CUT;
        return false;
    }
    notes_prepare(out);
    while (offset = cursor_offset(&at), bbg_next(&at, &tag, &record, e))
        bbg_read_record(&r, tag, &record, offset);
    bool is_whole = offset == in.len;
    if (!is_whole) {
        out->failure = (struct arcs_failure){DEFECT_CUT, offset};
        if (r.is_open)
            bbg_note_defect(&r, DEFECT_CUT);
    }
    bbg_end_function(&r);
    intern_deinit(&r.names);
    if (is_whole && out->functions.len && bbg_current(&r)->defect == DEFECT_CUT) {
        out->failure = (struct arcs_failure){DEFECT_CUT, offset};
        is_whole = err_at(e, &at, "the file ends within the function '%s'", bbg_current(&r)->name);
    }
    return is_whole;
}

/* ---- writing notes */

/* As arcfile_start_record(): where the contents begin. */
static size_t bbg_start_record(struct writer *w, enum bbg_tag tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

/* The length goes into the place that bbg_start_record() left, little-endian as this machine is. */
static void bbg_end_record(struct writer *w, size_t start)
{
    uint32_t length = (uint32_t)(w->out.len - start);
    memcpy(w->out.at + start - 4, &length, sizeof length);
}

/* The records that bbg_read_gcno() reads, if the notes were a gcno's: of the function, or of the
 * file (f is NULL). Lengths are those of what stands between start and end. */
static void bbg_write_gcno(struct writer *w, const struct notes *n, const struct notes_function *f)
{
    uint32_t flags =
        (n->has_unexecuted ? BBG_NATIVE_UNEXECUTED : 0) | (n->directory ? BBG_NATIVE_DIRECTORY : 0);
    if (!n->origin.native.version || (f && !f->has_native))
        return;
    size_t start = bbg_start_record(w, BBG_GCNO);
    if (f) {
        writer_u32(w, f->native.ident);
        writer_u32(w, f->native.lineno_checksum);
        writer_u32(w, f->native.cfg_checksum);
        writer_u32(w, f->is_artificial);
        bbg_write_string(w, f->file < n->files.len ? n->files.at[f->file] : "");
        writer_u32(w, f->start_line);
        writer_u32(w, f->start_column);
        writer_u32(w, f->end_line);
        writer_u32(w, f->end_column);
    } else {
        bbg_write_native(w, &n->origin.native, flags);
        if (n->directory) /* a compiler before gcc 9 does not say */
            bbg_write_string(w, n->directory);
    }
    bbg_end_record(w, start);
}

/* Arcs are sorted by block, so that one index goes through them all. */
static void bbg_write_arcs(struct writer *w, const struct notes *n, const struct notes_function *f)
{
    const struct notes_arc *arcs = n->arcs.at + f->first_arc;
    for (uint32_t b = 0, i = 0; b < f->blocks; b++) {
        size_t start = bbg_start_record(w, BBG_ARCS);
        for (; i < f->arcs && arcs[i].source == bbg_block(f, b); i++) {
            writer_u32(w, bbg_block_number(f, arcs[i].target));
            writer_u32(w, arcs[i].flags);
        }
        bbg_end_record(w, start);
    }
}

/* A file is named where it changes, and where only a name can show that a run begins. */
static void bbg_write_lines(struct writer *w, const struct notes *n, const struct notes_function *f)
{
    uint32_t file = NO_INDEX, len;
    for (uint32_t b = 0; b < f->blocks; b++) {
        size_t start = bbg_start_record(w, BBG_LINES);
        const struct notes_run *runs = notes_runs_of(n, f, bbg_block(f, b), &len);
        for (uint32_t i = 0; i < len; i++) {
            if (runs[i].file != file || i || !runs[i].lines) {
                writer_u32(w, 0);
                bbg_write_string(w, runs[i].file < n->files.len ? n->files.at[runs[i].file] : "");
            }
            file = runs[i].file;
            for (uint32_t j = 0; j < runs[i].lines; j++)
                writer_u32(w, n->lines.at[runs[i].first + j]);
        }
        bbg_end_record(w, start);
    }
}

/* The number of blocks is not in the file but as the length of BLOCKS: hence the exit is the last.
 */
bool bbg_write(struct writer *w, const struct notes *n, struct err *e)
{
    w->big_endian = false;
    writer_u32(w, BBG_MAGIC);
    writer_u32(w, n->origin.family == ARCS_RFC ? n->origin.version : (uint32_t)BBG_VERSION);
    if (n->origin.is_llvm)
        bbg_start_record(w, BBG_LLVM);
    bbg_write_gcno(w, n, NULL);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        if (f->defect)
            return notes_refuse_defect(i, f->defect, e);
        /* Arcs out of an exit block that is not the last would change their place among others. */
        bool has_order = f->is_arcs_sorted && f->name && f->blocks;
        for (uint32_t k = 0; k < f->arcs && f->exit + 1 != f->blocks; k++)
            has_order &= n->arcs.at[f->first_arc + k].source != f->exit;
        if (!has_order)
            return err_set(e,
                           "function %zu has no name, or blocks in an order that bbg cannot "
                           "express",
                           i);
        size_t start = bbg_start_record(w, BBG_FUNCTION);
        bbg_write_string(w, f->name);
        writer_u32(w, f->lineno_checksum);
        bbg_end_record(w, start);
        bbg_write_gcno(w, n, f);
        /* The list of flags ends with the last that is not 0: after it there are zeros. */
        start = bbg_start_record(w, BBG_BLOCKS);
        for (size_t b = f->first_block; b < (size_t)f->first_block + f->blocks; b++)
            writer_u32(w, b < n->block_flags.len ? n->block_flags.at[b] : 0);
        bbg_end_record(w, start);
        bbg_write_arcs(w, n, f);
        bbg_write_lines(w, n, f);
    }
    return true;
}
