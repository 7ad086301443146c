/* Reads gcno files of every version. The bytes: docs/formats/gcno.md.
 *
 * What a function's records say is checked when the function ends, so that one bad function leaves
 * the others usable. Records of unknown tags are passed over by their length. */
#include "coverage/format/gcno.h"

#include "base/intern.h"
#include "coverage/format/arcfile.h"

#include <inttypes.h>

struct gcno_reading {
    struct arcfile file;
    struct notes *out;
    struct intern names; /* of files */
    uint32_t last_file;
    uint32_t carried_file; /* that lines without a file belong to (gcc 3.4) */
    bool is_open;          /* within a function */
    bool is_runs_sorted;
};

/* The index of a file name; consecutive names are mostly the same. */
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

/* Runs of a block may stand apart; a stable insertion would be quadratic, so count and place. */
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

static void gcno_check_blocks(struct gcno_reading *r, struct notes_function *f)
{
    const struct notes *n = r->out;
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
}

/* Checks the function that has just ended. Each block but entry and exit has an arc; a count beyond
 * what arcs can connect is a lie that would cost memory. */
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
    gcno_check_blocks(r, f);
    if (f->defect) /* nothing can be done with what is there */
        f->arcs = f->runs = f->conditions = 0;
    else if (!r->is_runs_sorted)
        gcno_sort_runs(r, f);
    f->exit = r->file.dialect->has_exit_second ? 1 : f->blocks - 1;
    f->first_block = (uint32_t)n->blocks;
    n->blocks += f->blocks;
}

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

static void gcno_read_block_flags(struct gcno_reading *r, struct cursor *in, uint32_t blocks)
{
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

static void gcno_read_blocks(struct gcno_reading *r, struct cursor *in)
{
    struct notes_function *f = gcno_current(r);
    if (f->blocks)
        gcno_note_defect(r, DEFECT_BAD_RECORD);
    else if (r->file.dialect->has_columns)
        f->blocks = cursor_u32(in);
    else
        gcno_read_block_flags(r, in, f->blocks = (uint32_t)(cursor_left(in) / 4));
    if (in->failed)
        gcno_note_defect(r, DEFECT_BAD_RECORD);
}

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

/* A word 0 and a text change the file; with no text they end the list. */
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

static void gcno_read_conditions(struct gcno_reading *r, struct cursor *in)
{
    gcno_current(r)->has_conditions = true;
    while (cursor_left(in) >= 8) {
        uint32_t block = cursor_u32(in);
        struct notes_condition condition = {block, cursor_u32(in)};
        vec_push(&r->out->conditions, condition);
    }
    if (cursor_left(in))
        gcno_note_defect(r, DEFECT_BAD_RECORD);
}

static void gcno_read_record(struct gcno_reading *r, struct arcfile_record *record)
{
    if (record->tag == GCOV_TAG_FUNCTION) {
        gcno_end_function(r);
        gcno_read_function(r, record);
        return;
    }
    if (!r->is_open) {
        r->out->unknown_records++;
        return;
    }
    switch (record->tag) {
    case GCOV_TAG_BLOCKS: gcno_read_blocks(r, &record->in); break;
    case GCOV_TAG_ARCS: gcno_read_arcs(r, &record->in); break;
    case GCOV_TAG_LINES: gcno_read_lines(r, &record->in); break;
    case GCOV_TAG_CONDITIONS: gcno_read_conditions(r, &record->in); break;
    case GCOV_TAG_PATHS:
        gcno_current(r)->paths = cursor_u32(&record->in);
        gcno_current(r)->has_paths = !record->in.failed;
        break;
    default: r->out->unknown_records++;
    }
}

static bool gcno_read_header(struct gcno_reading *r, struct err *e)
{
    struct cursor *in = &r->file.in;
    if (r->file.dialect->has_directory)
        r->out->directory = arcfile_text(in, r->file.origin.has_byte_lengths);
    if (r->file.dialect->has_columns)
        r->out->has_unexecuted = cursor_u32(in);
    return !in->failed || err_at(e, in, "the header of this gcno file is cut off");
}

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

bool gcno_read(struct bytes in, const char *name, struct notes *out, struct err *e)
{
    struct gcno_reading r = {.out = out, .last_file = UINT32_MAX};
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
