/* Reads and writes gcno files of every version. The bytes: docs/formats/gcno.md.
 *
 * A function is its FUNCTION record and what follows up to the next one. What its records say is
 * checked when the function ends: ends of arcs within its blocks, lines of blocks that it has. A
 * function that fails has a defect, which is kept beside it, and the others stay usable. Records of
 * unknown tags are passed over by their length. Texts point into the bytes read.
 *
 * Runs of lines are put in the order of blocks where they were not, so that all that comes after
 * can walk over them once. A number of blocks beyond what the arcs can connect is refused, because
 * memory goes by it. Written are the records in the order in which the compilers have them: what
 * was read and not changed comes out byte for byte. Linear in the file.
 *
 *     header | text folder from gcc 9 on | word `unexecuted blocks` from gcc 8 on
 *     FUNCTION    ident, checksum, [of the graph], text name, [artificial], text file, line,
 *                 [column, last line, [last column]]
 *     BLOCKS      number, or before gcc 8 a word of flags for each
 *     ARCS        block, { target, flags }
 *     LINES       block, { line | 0, text file }, 0, no text
 *     CONDITIONS  { block, terms }                          gcc 14
 *     PATHS       number                                    gcc 15
 *
 * What is in brackets depends on the dialect. */
#include "coverage/format/format.h"

#include "base/map.h"
#include "coverage/format/arcfile.h"

#include <inttypes.h>

/* --- reading --------------------------------------------------------------------------------- */

/* State of one file; of the open function only what its later records need. */
struct gcno_reading {
    struct arcfile file;
    struct notes *out;
    struct intern names; /* of files */
    uint32_t last_file;
    uint32_t carried_file; /* that lines without a file belong to (gcc 3.4) */
    bool is_open;          /* within a function */
    bool is_runs_sorted;
    bool as_gnu; /* a foreign record ends the function */
    bool is_past_foreign;
};

/* Tags form a tree: the bits below a parent's lowest one say which child it is, and a child of a
 * function has its lowest bit eight below that. */
static bool gcno_is_of_function(uint32_t tag)
{
    uint32_t below = GCOV_TAG_FUNCTION ^ (GCOV_TAG_FUNCTION - 1);
    return (tag ^ (tag - 1)) == below >> 8 && !((tag ^ GCOV_TAG_FUNCTION) & ~below);
}

/* The index of a file name; consecutive names are mostly the same. Comparing with the last one
 * costs less than a hash of a long path. */
static uint32_t gcno_file_index(struct gcno_reading *r, const char *name)
{
    struct notes *n = r->out;
    if (r->last_file < n->files.len && !strcmp(n->files.at[r->last_file], name))
        return r->last_file;
    r->last_file = intern_kept(&r->names, name, strlen(name));
    if (r->last_file == n->files.len)
        vec_push(&n->files, name);
    return r->last_file;
}

static struct notes_function *gcno_current(struct gcno_reading *r)
{
    return &r->out->functions.at[r->out->functions.len - 1];
}

static void gcno_note_defect(struct gcno_reading *r, enum arcs_defect what)
{
    if (!gcno_current(r)->defect)
        gcno_current(r)->defect = (uint8_t)what;
}

/* Runs of a block may stand apart; a stable insertion would be quadratic, so count and place.
 * Stable: within a block runs keep the order of the file. O(blocks + runs). */
static void gcno_sort_runs(struct gcno_reading *r, struct notes_function *f)
{
    struct notes_run *runs = r->out->runs.at + f->first_run;
    uint32_t *place = memory_zeroed((size_t)f->blocks + 1, sizeof *place);
    struct notes_run *sorted = memory_resized(NULL, (size_t)f->runs * sizeof *sorted);
    for (uint32_t i = 0; i < f->runs; i++)
        place[runs[i].block + 1]++;
    for (uint32_t b = 0; b < f->blocks; b++)
        place[b + 1] += place[b];
    for (uint32_t i = 0; i < f->runs; i++)
        sorted[place[runs[i].block]++] = runs[i];
    memcpy(runs, sorted, (size_t)f->runs * sizeof *sorted);
    memory_free(sorted);
    memory_free(place);
}

/* Checks the function that has just ended. Each block but entry and exit has an arc; a count beyond
 * what arcs can connect is a lie that would cost memory. A function with a defect keeps its name
 * and place, and has no arcs, runs or conditions. */
static void gcno_end_function(struct gcno_reading *r)
{
    if (!r->is_open)
        return;
    r->is_open = false;
    struct notes *n = r->out;
    struct notes_function *f = gcno_current(r);
    f->arcs = (uint32_t)n->arcs.len - f->first_arc;
    f->runs = (uint32_t)n->runs.len - f->first_run;
    f->conditions = (uint32_t)n->conditions.len - f->first_condition;
    if (f->blocks > 2 * (uint64_t)f->arcs + 2) {
        gcno_note_defect(r, f->defect ? DEFECT_NONE : DEFECT_BLOCK_COUNT);
        f->blocks = 0;
    }
    uint32_t last = 0;
    bool is_good = true;
    f->is_arcs_sorted = true;
    for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++) {
        const struct notes_arc *arc = &n->arcs.at[i];
        is_good &= arc->source < f->blocks && arc->target < f->blocks;
        f->is_arcs_sorted &= arc->source >= last;
        last = arc->source;
        f->instrumented += !(arc->flags & NOTES_ARC_ON_TREE);
    }
    for (uint32_t i = f->first_run; i < f->first_run + f->runs; i++)
        is_good &= n->runs.at[i].block < f->blocks;
    for (uint32_t i = f->first_condition; i < f->first_condition + f->conditions; i++)
        is_good &= n->conditions.at[i].block < f->blocks;
    if (!is_good)
        gcno_note_defect(r, DEFECT_BAD_BLOCK);

    if (f->defect) /* nothing can be done with what is there */
        f->arcs = f->runs = f->conditions = 0;
    else if (!r->is_runs_sorted)
        gcno_sort_runs(r, f);
    f->exit = r->file.dialect->has_exit_second ? 1 : f->blocks - 1;
    f->first_block = (uint32_t)n->blocks;
    n->blocks += f->blocks;
}

/* Fields that a version does not have are 0. The texts stay in the bytes that were read. */
static void gcno_read_function(struct gcno_reading *r, struct arcfile_record *record)
{
    const struct gcov_dialect *dialect = r->file.dialect;
    bool has_bytes = r->file.origin.has_byte_lengths;
    struct cursor *in = &record->in;
    struct notes *n = r->out;
    struct notes_function f = {.offset = record->offset};
    f.ident = cursor_u32(in);
    f.lineno_checksum = cursor_u32(in);
    f.cfg_checksum = dialect->has_cfg_checksum ? cursor_u32(in) : 0;
    f.name = arcfile_text(in, has_bytes);
    f.is_artificial = dialect->has_columns && cursor_u32(in);
    const char *source = arcfile_text(in, has_bytes);
    f.start_line = cursor_u32(in);
    f.start_column = dialect->has_columns ? cursor_u32(in) : 0;
    f.end_line = dialect->has_columns ? cursor_u32(in) : 0;
    f.end_column = dialect->has_directory ? cursor_u32(in) : 0;
    f.file = source && !in->failed ? gcno_file_index(r, source) : (uint32_t)NO_INDEX;
    f.defect = in->failed ? DEFECT_BAD_RECORD : DEFECT_NONE;
    f.first_arc = (uint32_t)n->arcs.len;
    f.first_run = (uint32_t)n->runs.len;
    f.first_condition = (uint32_t)n->conditions.len;
    vec_push(&n->functions, f);
    r->carried_file = f.file;
    r->is_open = r->is_runs_sorted = true;
}

/* A second BLOCKS record is a defect. Flags are kept up to the last that is not 0. */
static void gcno_read_blocks(struct gcno_reading *r, struct cursor *in)
{
    struct notes_function *f = gcno_current(r);
    if (f->blocks)
        gcno_note_defect(r, DEFECT_BAD_RECORD);
    else if (r->file.dialect->has_columns)
        f->blocks = cursor_u32(in);
    else {
        uint32_t blocks = f->blocks = (uint32_t)(cursor_left(in) / 4);
        struct notes *n = r->out;
        for (uint32_t i = 0; i < blocks; i++) {
            uint32_t flags = cursor_u32(in);
            if (!flags)
                continue;
            while (n->block_flags.len < n->blocks + i)
                vec_push(&n->block_flags, 0);
            vec_push(&n->block_flags, flags);
        }
    }

    if (in->failed)
        gcno_note_defect(r, DEFECT_BAD_RECORD);
}

/* The hot loop of the reader: bounds are checked once, for the whole record. */
static void gcno_read_arcs(struct gcno_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    uint32_t source = cursor_u32(in);
    if (in->failed)
        return gcno_note_defect(r, DEFECT_BAD_RECORD);
    size_t arcs = cursor_left(in) / 8;
    vec_reserve(&n->arcs, n->arcs.len + arcs);
    struct notes_arc *arc = n->arcs.at + n->arcs.len;
    const uint8_t *at = in->at;
    for (size_t i = 0; i < arcs; i++, at += 8)
        arc[i] = (struct notes_arc){source, bytes_u32(at, in->big_endian),
                                    bytes_u32(at + 4, in->big_endian)};
    n->arcs.len += arcs;
}

/* A word 0 and a text change the file; with no text they end the list. Each change of file begins a
 * run. gcc 3.4 to 4.6 name a file once and carry it from record to record of a function. */
static void gcno_read_lines(struct gcno_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    uint32_t block = cursor_u32(in), file = r->carried_file;
    struct notes_run run = {.block = block, .file = file, .first = (uint32_t)n->lines.len};
    bool is_run = false;
    for (;;) {
        uint32_t line = cursor_u32(in);
        if (line) {
            vec_push(&n->lines, line);
            run.lines++;
            is_run = true;
            continue;
        }
        const char *name = in->failed ? NULL : arcfile_text(in, r->file.origin.has_byte_lengths);
        if (is_run) {
            if (run.file == (uint32_t)NO_INDEX)
                gcno_note_defect(r, DEFECT_NO_FILE);
            r->is_runs_sorted &= n->runs.len == gcno_current(r)->first_run ||
                                 n->runs.at[n->runs.len - 1].block <= block;
            vec_push(&n->runs, run);
        }
        if (!name)
            break;
        r->carried_file = gcno_file_index(r, name);
        run = (struct notes_run){
            .block = block, .file = r->carried_file, .first = (uint32_t)n->lines.len};
        is_run = true;
    }
    if (in->failed)
        gcno_note_defect(r, DEFECT_BAD_RECORD);
}

/* Records before the first function are none that is known. */
static void gcno_read_record(struct gcno_reading *r, struct arcfile_record *record)
{
    if (record->tag == GCOV_TAG_FUNCTION) {
        gcno_end_function(r);
        gcno_read_function(r, record);
        r->is_past_foreign = false;
        return;
    }
    r->is_past_foreign |= r->as_gnu && !gcno_is_of_function(record->tag);
    if (!r->is_open || r->is_past_foreign) {
        r->out->unknown_records++;
        return;
    }
    switch (record->tag) {
    case GCOV_TAG_BLOCKS: gcno_read_blocks(r, &record->in); break;
    case GCOV_TAG_ARCS: gcno_read_arcs(r, &record->in); break;
    case GCOV_TAG_LINES: gcno_read_lines(r, &record->in); break;
    case GCOV_TAG_CONDITIONS:
        gcno_current(r)->has_conditions = true;
        while (cursor_left(&record->in) >= 8) {
            uint32_t block = cursor_u32(&record->in);
            struct notes_condition condition = {block, cursor_u32(&record->in)};
            vec_push(&r->out->conditions, condition);
        }
        if (cursor_left(&record->in))
            gcno_note_defect(r, DEFECT_BAD_RECORD);
        break;
    case GCOV_TAG_PATHS:
        gcno_current(r)->paths = cursor_u32(&record->in);
        gcno_current(r)->has_paths = !record->in.failed;
        break;
    default: r->out->unknown_records++;
    }
}

/* What stands between the header that gcda has too and the first record. */
static bool gcno_read_header(struct gcno_reading *r, struct err *e)
{
    struct cursor *in = &r->file.in;
    if (r->file.dialect->has_directory)
        r->out->directory = arcfile_text(in, r->file.origin.has_byte_lengths);
    if (r->file.dialect->has_columns)
        r->out->has_unexecuted = cursor_u32(in);
    return !in->failed || err_at(e, in, "the header of this gcno file is cut off");
}

/* A zero tag before the end of the bytes is clang's: gcc ends a gcno without one. */
static bool gcno_read_records(struct gcno_reading *r, struct err *e)
{
    struct arcfile_record record = {0};
    enum arcfile_step step;
    while ((step = arcfile_next(&r->file, &record, e)) == ARCFILE_RECORD)
        gcno_read_record(r, &record);
    if (step == ARCFILE_BROKEN) {
        r->out->failure = (struct arcs_failure){DEFECT_CUT, record.offset};
        if (r->is_open)
            gcno_note_defect(r, DEFECT_CUT);
    } else {
        r->out->origin.is_llvm |= record.offset < (uint64_t)(r->file.in.end - r->file.in.base);
    }
    gcno_end_function(r);
    return step == ARCFILE_END;
}

bool gcno_probe(struct bytes in)
{
    return in.len >= 4 && (bytes_u32(in.at, false) == GCOV_MAGIC_NOTES ||
                           bytes_u32(in.at, true) == GCOV_MAGIC_NOTES);
}

static bool gcno_read_file(struct bytes in, const char *name, bool as_gnu, struct notes *out,
                           struct err *e)
{
    struct gcno_reading r = {.out = out, .last_file = UINT32_MAX, .as_gnu = as_gnu};
    bool ok = arcfile_open(&r.file, GCOV_MAGIC_NOTES, in, name, e);
    if (!ok || !gcno_read_header(&r, e)) {
        out->failure.what = DEFECT_CUT;
        return false;
    }
    out->origin = r.file.origin;
    notes_prepare(out);
    ok = gcno_read_records(&r, e);
    intern_deinit(&r.names);
    return ok;
}

bool gcno_read(struct bytes in, const char *name, struct notes *out, struct err *e)
{
    return gcno_read_file(in, name, false, out, e);
}

bool gcno_read_as_gnu(struct bytes in, const char *name, struct notes *out, struct err *e)
{
    return gcno_read_file(in, name, true, out, e);
}

/* --- writing --------------------------------------------------------------------------------- */

/* State that the parts of the writer share; `has_bytes` is the unit of lengths. */
struct gcno_writing {
    struct writer *w;
    const struct notes *notes;
    const struct gcov_dialect *dialect;
    bool has_bytes;
    uint32_t file; /* last named within the function (gcc 3.4) */
};

/* NULL for NO_INDEX too: no text. */
static const char *file_name(const struct notes *n, uint32_t file)
{
    return file < n->files.len ? n->files.at[file] : NULL;
}

/* The fields of gcno_read_function(), in its order. */
static void write_function(struct gcno_writing *g, const struct notes_function *f)
{
    struct writer *w = g->w;
    size_t start = arcfile_start_record(w, GCOV_TAG_FUNCTION);
    writer_u32(w, f->ident);
    writer_u32(w, f->lineno_checksum);
    if (g->dialect->has_cfg_checksum)
        writer_u32(w, f->cfg_checksum);
    arcfile_write_text(w, f->name, g->has_bytes);
    if (g->dialect->has_columns)
        writer_u32(w, f->is_artificial);
    arcfile_write_text(w, file_name(g->notes, f->file), g->has_bytes);
    writer_u32(w, f->start_line);
    if (g->dialect->has_columns) {
        writer_u32(w, f->start_column);
        writer_u32(w, f->end_line);
    }
    if (g->dialect->has_directory)
        writer_u32(w, f->end_column);
    arcfile_end_record(w, start, g->has_bytes);
}

/* A record for each stretch of arcs from one block, as they stand. Arcs keep the order of the file,
 * which is that of the counters, so that a block may come twice. */
static void write_arcs(struct gcno_writing *g, const struct notes_function *f)
{
    const struct notes_arc *arcs = g->notes->arcs.at + f->first_arc;
    for (uint32_t i = 0; i < f->arcs;) {
        uint32_t source = arcs[i].source;
        size_t start = arcfile_start_record(g->w, GCOV_TAG_ARCS);
        writer_u32(g->w, source);
        for (; i < f->arcs && arcs[i].source == source; i++) {
            writer_u32(g->w, arcs[i].target);
            writer_u32(g->w, arcs[i].flags);
        }
        arcfile_end_record(g->w, start, g->has_bytes);
    }
}

/* gcc 3.4 to 4.6 name a file where it changes: a run that continues the last one's file is then
 * known by its record, if it is the first there and has lines. */
static void write_run(struct gcno_writing *g, const struct notes_run *run, bool is_first)
{
    bool is_known =
        !g->dialect->has_cfg_checksum && run->file == g->file && is_first && run->lines > 0;
    if (!is_known) {
        writer_u32(g->w, 0);
        arcfile_write_text(g->w, file_name(g->notes, run->file), g->has_bytes);
    }
    g->file = run->file;
    for (uint32_t i = 0; i < run->lines; i++)
        writer_u32(g->w, g->notes->lines.at[run->first + i]);
}

/* A record for each block that has lines, ended by a 0 and an empty text. */
static void write_lines(struct gcno_writing *g, const struct notes_function *f)
{
    const struct notes_run *runs = g->notes->runs.at + f->first_run;
    g->file = NO_INDEX;
    for (uint32_t i = 0; i < f->runs;) {
        uint32_t block = runs[i].block;
        size_t start = arcfile_start_record(g->w, GCOV_TAG_LINES);
        writer_u32(g->w, block);
        for (bool is_first = true; i < f->runs && runs[i].block == block; i++, is_first = false)
            write_run(g, &runs[i], is_first);
        writer_u32(g->w, 0);
        arcfile_write_text(g->w, NULL, g->has_bytes);
        arcfile_end_record(g->w, start, g->has_bytes);
    }
}

/* gcno has no way to say a line of no file; bbg has. */
static bool is_writable(const struct notes *n, struct err *e)
{
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        uint8_t defect = f->defect;
        for (uint32_t r = 0; r < f->runs && !defect; r++)
            if (n->runs.at[f->first_run + r].file == (uint32_t)NO_INDEX) /* bbg can state that */
                defect = DEFECT_NO_FILE;
        if (defect)
            return notes_refuse_defect(i, defect, e);
    }
    return true;
}

/* Blocks, arcs, lines, conditions, paths: the order of the compilers. */
bool gcno_write(struct writer *w, const struct notes *n, struct err *e)
{
    struct gcno_writing g = {.w = w, .notes = n, .has_bytes = n->origin.has_byte_lengths};
    g.dialect = dialect_of_word(n->origin.version);
    if (!g.dialect || n->origin.family != ARCS_GCOV)
        return err_set(e, "these notes have no gcc version to be written as");
    if (!is_writable(n, e))
        return false;
    w->big_endian = n->origin.big_endian;
    arcfile_write_header(w, GCOV_MAGIC_NOTES, &n->origin, g.dialect);
    if (g.dialect->has_directory)
        arcfile_write_text(w, n->directory, g.has_bytes);
    if (g.dialect->has_columns)
        writer_u32(w, n->has_unexecuted);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        write_function(&g, f);
        size_t start = arcfile_start_record(g.w, GCOV_TAG_BLOCKS);
        if (g.dialect->has_columns)
            writer_u32(g.w, f->blocks);
        for (uint32_t b = 0; b < f->blocks && !g.dialect->has_columns; b++) {
            size_t k = (size_t)f->first_block + b;
            writer_u32(g.w, k < g.notes->block_flags.len ? g.notes->block_flags.at[k] : 0);
        }
        arcfile_end_record(g.w, start, g.has_bytes);

        write_arcs(&g, f);
        write_lines(&g, f);
        /* A record of none is written where one was read. */
        if (f->has_conditions) {
            start = arcfile_start_record(g.w, GCOV_TAG_CONDITIONS);
            for (uint32_t k = 0; k < f->conditions; k++) {
                writer_u32(g.w, g.notes->conditions.at[f->first_condition + k].block);
                writer_u32(g.w, g.notes->conditions.at[f->first_condition + k].terms);
            }
            arcfile_end_record(g.w, start, g.has_bytes);
        }
        /* Prime paths: their number alone; the paths follow from the graph. */
        if (f->has_paths) {
            start = arcfile_start_record(g.w, GCOV_TAG_PATHS);
            writer_u32(g.w, f->paths);
            arcfile_end_record(g.w, start, g.has_bytes);
        }
    }
    for (int i = 0; i < (n->origin.is_llvm ? 2 : 0); i++)
        writer_u32(w, 0);
    return true;
}
