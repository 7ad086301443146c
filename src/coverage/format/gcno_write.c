/* Writes gcno files of every version: the records in the order in which the compilers have them. */
#include "coverage/format/arcfile_write.h"
#include "coverage/format/gcno.h"

struct gcno_writing {
    struct writer *w;
    const struct notes *notes;
    const struct gcov_dialect *dialect;
    bool has_bytes;
    uint32_t file; /* last named within the function (gcc 3.4) */
};

static const char *file_name(const struct notes *n, uint32_t file)
{
    return file < n->files.len ? n->files.at[file] : NULL;
}

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

static void write_blocks(struct gcno_writing *g, const struct notes_function *f)
{
    size_t start = arcfile_start_record(g->w, GCOV_TAG_BLOCKS);
    if (g->dialect->has_columns)
        writer_u32(g->w, f->blocks);
    for (uint32_t b = 0; b < f->blocks && !g->dialect->has_columns; b++) {
        size_t i = (size_t)f->first_block + b;
        writer_u32(g->w, i < g->notes->block_flags.len ? g->notes->block_flags.at[i] : 0);
    }
    arcfile_end_record(g->w, start, g->has_bytes);
}

/* A record for each stretch of arcs from one block, as they stand. */
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

static void write_conditions(struct gcno_writing *g, const struct notes_function *f)
{
    if (!f->has_conditions)
        return;
    size_t start = arcfile_start_record(g->w, GCOV_TAG_CONDITIONS);
    for (uint32_t i = 0; i < f->conditions; i++) {
        writer_u32(g->w, g->notes->conditions.at[f->first_condition + i].block);
        writer_u32(g->w, g->notes->conditions.at[f->first_condition + i].terms);
    }
    arcfile_end_record(g->w, start, g->has_bytes);
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

static void write_paths(struct gcno_writing *g, const struct notes_function *f)
{
    if (!f->has_paths)
        return;
    size_t start = arcfile_start_record(g->w, GCOV_TAG_PATHS);
    writer_u32(g->w, f->paths);
    arcfile_end_record(g->w, start, g->has_bytes);
}

static bool is_writable(const struct notes *n, struct err *e)
{
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        uint8_t defect = f->defect;
        for (uint32_t r = 0; r < f->runs && !defect; r++)
            if (n->runs.at[f->first_run + r].file == (uint32_t)NO_INDEX) /* bbg can state that */
                defect = DEFECT_NO_FILE;
        if (defect)
            return err_set(e, "function %zu of the notes is damaged: %s", i,
                           arcs_defect_text(defect));
    }
    return true;
}

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
        write_blocks(&g, f);
        write_arcs(&g, f);
        write_lines(&g, f);
        write_conditions(&g, f);
        write_paths(&g, f);
    }
    for (int i = 0; i < (n->origin.is_llvm ? 2 : 0); i++)
        writer_u32(w, 0);
    return true;
}
