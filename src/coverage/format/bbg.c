/* Reads and writes bbg files, and holds what they share with da files. */
#include "coverage/format/bbg.h"

#include "base/map.h"

#include <inttypes.h>

enum { HEADER_BYTES = 8 };

const char *bbg_string(struct cursor *in)
{
    uint32_t len = cursor_u32(in);
    uint64_t field = ((uint64_t)len + 4) & ~UINT64_C(3);
    const uint8_t *text = field <= cursor_left(in) ? cursor_take(in, field) : NULL;
    for (uint64_t i = len; text && i < field; i++)
        if (text[i])
            text = NULL;
    if (!text)
        in->failed = true;
    return (const char *)text;
}

void bbg_write_string(struct writer *w, const char *text)
{
    static const char PADDING[4];
    size_t len = text ? strlen(text) : 0;
    writer_u32(w, (uint32_t)len);
    writer_bytes(w, text, len);
    writer_bytes(w, PADDING, 4 - len % 4);
}

static uint16_t version_number(uint32_t version)
{
    const unsigned c[3] = {version & 255, version >> 8 & 255, version >> 16 & 255};
    for (int i = 0; i < 3; i++)
        if (c[i] < '0' || c[i] > '9')
            return 0;
    return (uint16_t)((c[0] - '0') * 100 + (c[1] - '0') * 10 + (c[2] - '0'));
}

bool bbg_open(struct cursor *in, enum bbg_magic magic, struct cover_origin *origin, struct err *e)
{
    const char *kind = magic == BBG_MAGIC ? "bbg" : "da";
    if (cursor_left(in) < HEADER_BYTES)
        return err_in(e, in->name, "%zu bytes are too few for a %s file", cursor_left(in), kind);
    if (cursor_left(in) > UINT32_MAX)
        return err_in(e, in->name, "%zu bytes are more than any compiler writes", cursor_left(in));
    if (bytes_u32(in->at, false) != magic)
        return err_in(e, in->name,
                      bytes_u32(in->at, true) == magic ? "is a %s file in the wrong byte order"
                                                       : "is no %s file",
                      kind);
    in->at += 4;
    uint32_t version = cursor_u32(in);
    if (!version_number(version))
        return err_in(e, in->name, "version word 0x%08" PRIx32 " is no compiler's", version);
    *origin = (struct cover_origin){.family = COVER_RFC,
                                    .has_byte_lengths = true,
                                    .version = version,
                                    .number = version_number(version)};
    return true;
}

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

struct bbg_reading {
    struct notes *out;
    struct map names;
    uint32_t arc_records, line_records; /* of the function: numbers of the blocks */
    uint32_t file;                      /* remembered from block to block */
    bool is_open;
};

static struct cover_function *current(struct bbg_reading *r)
{
    return &r->out->functions.at[r->out->functions.len - 1];
}

static void doubt(struct bbg_reading *r, enum cover_doubt what)
{
    if (!current(r)->doubt)
        current(r)->doubt = (uint8_t)what;
}

static uint32_t file_index(struct bbg_reading *r, const char *name)
{
    struct notes *n = r->out;
    for (uint64_t hash = cover_ident(name);; hash += UINT64_C(1) << 32) {
        bool is_new;
        uint32_t index = *map_at(&r->names, hash, strlen(name), (uint32_t)n->files.len, &is_new);
        if (is_new)
            vec_push(&n->files, name);
        if (is_new || !strcmp(n->files.at[index], name))
            return index;
    }
}

static void check_arcs(struct bbg_reading *r, struct cover_function *f)
{
    const struct cover_arc *arcs = r->out->arcs.at + f->first_arc;
    for (uint32_t i = 0; i < f->arcs; i++) {
        f->instrumented += !(arcs[i].flags & COVER_ON_TREE);
        if (arcs[i].target >= f->blocks)
            doubt(r, COVER_BAD_BLOCK);
    }
    f->is_arcs_sorted = true;
}

/* Every block has its record of arcs and its record of lines: fewer mean that the file was cut. */
static void end_function(struct bbg_reading *r)
{
    if (!r->is_open)
        return;
    struct notes *n = r->out;
    struct cover_function *f = current(r);
    r->is_open = false;
    f->arcs = (uint32_t)n->arcs.len - f->first_arc;
    f->runs = (uint32_t)n->runs.len - f->first_run;
    if (r->arc_records > f->blocks || r->line_records > f->blocks)
        doubt(r, COVER_BAD_BLOCK);
    else if (!f->blocks || r->arc_records < f->blocks || r->line_records < f->blocks)
        doubt(r, COVER_CUT);
    check_arcs(r, f);
    if (f->doubt)
        f->arcs = f->runs = 0;
    if (f->runs)
        f->file = n->runs.at[f->first_run].file;
    for (uint32_t i = 0; i < f->runs && !f->start_line; i++)
        if (n->runs.at[f->first_run + i].lines)
            f->start_line = n->lines.at[n->runs.at[f->first_run + i].first];
    f->exit = f->blocks - 1;
    f->first_block = (uint32_t)n->blocks;
    n->blocks += f->blocks;
}

static void read_function(struct bbg_reading *r, struct cursor *in, uint64_t offset)
{
    struct cover_function f = {.offset = offset, .file = COVER_NONE};
    f.name = bbg_string(in);
    f.lineno_checksum = cursor_u32(in);
    f.doubt = in->failed ? COVER_BAD_RECORD : COVER_SURE;
    f.ident = in->failed ? 0 : cover_ident(f.name);
    f.first_arc = (uint32_t)r->out->arcs.len;
    f.first_run = (uint32_t)r->out->runs.len;
    vec_push(&r->out->functions, f);
    r->is_open = true;
    r->arc_records = r->line_records = 0;
    r->file = COVER_NONE;
}

static void read_blocks(struct bbg_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    if (current(r)->blocks || cursor_left(in) % 4)
        doubt(r, COVER_BAD_RECORD);
    uint32_t blocks = (uint32_t)(cursor_left(in) / 4);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t flags = cursor_u32(in);
        while (flags && n->block_flags.len < n->blocks + i)
            vec_push(&n->block_flags, 0);
        if (flags)
            vec_push(&n->block_flags, flags);
    }
    current(r)->blocks = blocks;
}

static void read_arcs(struct bbg_reading *r, struct cursor *in)
{
    uint32_t source = r->arc_records++;
    if (cursor_left(in) % 8)
        doubt(r, COVER_BAD_RECORD);
    while (cursor_left(in) >= 8) {
        struct cover_arc arc = {.source = source, .target = cursor_u32(in)};
        arc.flags = cursor_u32(in);
        vec_push(&r->out->arcs, arc);
    }
}

static void read_lines(struct bbg_reading *r, struct cursor *in)
{
    struct notes *n = r->out;
    struct cover_run run = {r->line_records++, r->file, (uint32_t)n->lines.len, 0};
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
        r->file = *name ? file_index(r, name) : (uint32_t)COVER_NONE;
        run = (struct cover_run){run.block, r->file, (uint32_t)n->lines.len, 0};
        is_named = true;
    }
    if (run.lines || is_named)
        vec_push(&n->runs, run);
    if (in->failed)
        doubt(r, COVER_BAD_RECORD);
}

static void read_record(struct bbg_reading *r, uint32_t tag, struct cursor *in, uint64_t offset)
{
    if (tag == BBG_FUNCTION) {
        end_function(r);
        read_function(r, in, offset);
        return;
    }
    if (!r->is_open)
        tag = 0;
    switch (tag) {
    case BBG_BLOCKS: read_blocks(r, in); break;
    case BBG_ARCS: read_arcs(r, in); break;
    case BBG_LINES: read_lines(r, in); break;
    default: r->out->unknown_records++;
    }
}

bool bbg_probe(struct bytes in)
{
    return in.len >= 4 && bytes_u32(in.at, false) == BBG_MAGIC;
}

bool bbg_read(struct bytes in, const char *name, struct notes *out, struct err *e)
{
    struct bbg_reading r = {.out = out};
    struct cursor at = cursor_over(in, name), record;
    uint32_t tag;
    uint64_t offset = HEADER_BYTES;
    if (!bbg_open(&at, BBG_MAGIC, &out->origin, e)) {
        out->failure.what = COVER_CUT;
        return false;
    }
    notes_prepare(out);
    while (offset = cursor_offset(&at), bbg_next(&at, &tag, &record, e))
        read_record(&r, tag, &record, offset);
    bool is_whole = offset == in.len;
    if (!is_whole) {
        out->failure = (struct cover_failure){COVER_CUT, offset};
        if (r.is_open)
            doubt(&r, COVER_CUT);
    }
    end_function(&r);
    map_deinit(&r.names);
    if (is_whole && out->functions.len && current(&r)->doubt == COVER_CUT) {
        out->failure = (struct cover_failure){COVER_CUT, offset};
        is_whole = err_at(e, &at, "the file ends within the function '%s'", current(&r)->name);
    }
    return is_whole;
}

/* ---- writing notes */

static size_t start_record(struct writer *w, enum bbg_tag tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

static void end_record(struct writer *w, size_t start)
{
    uint32_t length = (uint32_t)(w->out.len - start);
    memcpy(w->out.at + start - 4, &length, sizeof length);
}

static void write_blocks(struct writer *w, const struct notes *n, const struct cover_function *f)
{
    size_t start = start_record(w, BBG_BLOCKS);
    for (uint32_t b = 0; b < f->blocks; b++) {
        size_t i = (size_t)f->first_block + b;
        writer_u32(w, i < n->block_flags.len ? n->block_flags.at[i] : 0);
    }
    end_record(w, start);
}

static void write_arcs(struct writer *w, const struct notes *n, const struct cover_function *f)
{
    const struct cover_arc *arcs = n->arcs.at + f->first_arc;
    for (uint32_t b = 0, i = 0; b < f->blocks; b++) {
        size_t start = start_record(w, BBG_ARCS);
        for (; i < f->arcs && arcs[i].source == b; i++) {
            writer_u32(w, arcs[i].target);
            writer_u32(w, arcs[i].flags);
        }
        end_record(w, start);
    }
}

static void write_lines(struct writer *w, const struct notes *n, const struct cover_function *f)
{
    const struct cover_run *runs = n->runs.at + f->first_run;
    uint32_t file = COVER_NONE;
    for (uint32_t b = 0, i = 0; b < f->blocks; b++) {
        size_t start = start_record(w, BBG_LINES);
        for (bool is_first = true; i < f->runs && runs[i].block == b; i++, is_first = false) {
            if (runs[i].file != file || !is_first || !runs[i].lines) {
                writer_u32(w, 0);
                bbg_write_string(w, runs[i].file < n->files.len ? n->files.at[runs[i].file] : "");
            }
            file = runs[i].file;
            for (uint32_t j = 0; j < runs[i].lines; j++)
                writer_u32(w, n->lines.at[runs[i].first + j]);
        }
        end_record(w, start);
    }
}

bool bbg_write(struct writer *w, const struct notes *n, struct err *e)
{
    w->big_endian = false;
    writer_u32(w, BBG_MAGIC);
    writer_u32(w, n->origin.family == COVER_RFC ? n->origin.version : (uint32_t)BBG_VERSION);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct cover_function *f = &n->functions.at[i];
        if (f->doubt)
            return err_set(e, "function %zu of the notes is damaged: %s", i,
                           cover_doubt_text(f->doubt));
        if (!f->is_arcs_sorted || !f->name || f->exit + 1 != f->blocks)
            return err_set(e,
                           "function %zu has no name, or blocks in an order that bbg cannot "
                           "state",
                           i);
        size_t start = start_record(w, BBG_FUNCTION);
        bbg_write_string(w, f->name);
        writer_u32(w, f->lineno_checksum);
        end_record(w, start);
        write_blocks(w, n, f);
        write_arcs(w, n, f);
        write_lines(w, n, f);
    }
    return true;
}
