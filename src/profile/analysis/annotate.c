/* Annotated source: which lines of which files are shown, their text, and the machine code of each.
 *
 * 1. A row is hot if its share of the samples reaches a limit, with what it called. Where one line
 * or function was requested, its rows are; where nothing was sampled, those with counts. If no row
 * is hot, the first ten are.
 * 2. Files with hot rows are read, and their hot lines shown with some lines around; regions that
 * touch are one. Lines past the end of a file that has changed are shown without text.
 * 3. The stretches of code of the lines that are shown are disassembled in the order of addresses,
 * with one disassembler for each object, and then sorted to their lines. Samples of an instruction
 * are its part of the pieces that it lies in, by bytes.
 *
 * What is not shown is summed up in `omitted`. Cost: reading the files that are shown;
 * disassembling the code of functions with samples. Machines that capstone does not know have no
 * code: why_no_code. */
#include "profile/analysis/source_lines.h"

#include "base/sort.h"
#include "objfile/object.h"

#include <string.h>

enum { FEW_LINES = 10 }; /* shown where none is hot by the rules */

/* An annotated source while it is made. */
struct annotation {
    struct annotated *out;
    const struct source_lines *s;
    const struct source_input *in;
    const struct annotate_rules *rules;
    struct arena *arena;
    bool *is_hot;      /* by row */
    uint32_t *line_of; /* by row: in out->lines, or NO_ROW */
};

/* --- what is hot ----------------------------------------------------------------------------- */

static bool annotate_has_data(const struct source_row *r)
{
    return r->self > 0 || r->total > 0 || r->calls || (r->has_count && r->executions);
}

static int annotate_by_self(uint32_t left, uint32_t right, const void *context)
{
    const struct source_row *rows = context;
    return rows[left].self != rows[right].self ? rows[left].self < rows[right].self ? 1 : -1 : 0;
}

/* Marks the rows that are hot. */
static void annotate_find_hot(struct annotation *m)
{
    const struct summary *summary = m->out->summary;
    bool has_self = false, any = false;
    m->is_hot = ARENA_NEW(m->arena, bool, m->s->rows.len);
    for (size_t i = 0; i < m->s->rows.len; i++)
        has_self |= m->s->rows.at[i].self > 0 || m->s->rows.at[i].total > 0;
    for (size_t i = 0; i < m->s->rows.len; i++) {
        const struct source_row *r = &m->s->rows.at[i];
        double most = r->total > r->self ? r->total : r->self;
        bool is_share = most > 0 && 100 * summary_share(summary, most) >= m->rules->min_percent;
        m->is_hot[i] = m->rules->only_line     ? r->line == m->rules->only_line
                       : m->rules->is_function ? r->is_target || annotate_has_data(r)
                       : has_self              ? is_share
                                               : annotate_has_data(r);
        any |= m->is_hot[i];
    }
    if (!any && !m->rules->only_line) {
        /* None is hot enough: the first few. */
        struct arena scratch = {0};
        uint32_t len = (uint32_t)m->s->rows.len;
        uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
        for (uint32_t i = 0; i < len; i++)
            order[i] = i;
        sort_u32(order, len, annotate_by_self, m->s->rows.at);
        for (uint32_t i = 0; i < len && i < FEW_LINES && m->s->rows.at[order[i]].self > 0; i++)
            m->is_hot[order[i]] = true;
        arena_deinit(&scratch);
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

/* A walk down one file. */
struct column {
    struct annotation *m;
    struct annotated_file *file;
    const struct source_row *rows; /* of the file */
    uint32_t len, next;            /* next: the first row not yet passed */
    uint32_t first_row;
    uint64_t last; /* line shown last, or 0 */
};

/* Appends a line of the file, with its row, if it has one. */
static void annotate_show_line(struct column *c, uint64_t number)
{
    struct annotated *out = c->m->out;
    while (c->next < c->len && c->rows[c->next].line < number)
        c->next++;
    bool has_row = c->next < c->len && c->rows[c->next].line == number;
    struct annotated_line line = {.line = number,
                                  .row = has_row ? c->first_row + c->next : NO_ROW,
                                  .text = source_line(&c->file->text, number),
                                  .begins_region = number != c->last + 1};
    line.has_text = line.text.at != NULL;
    if (has_row) {
        line.is_hot = c->m->is_hot[line.row];
        c->m->line_of[line.row] = (uint32_t)out->lines.len;
    }
    c->last = number;
    vec_push(&out->lines, line);
}

/* Lines from..to, as far as they were not shown and the file has them; rows beyond its end are
 * shown as well. */
static void annotate_show_lines(struct column *c, uint64_t from, uint64_t to)
{
    uint64_t end = c->file->has_lines;
    from = from > c->last ? from : c->last + 1;
    for (uint64_t n = from; n <= to && n <= end; n++)
        annotate_show_line(c, n);
}

/* The end of the function that begins with this row, if all of it is wanted: its last row.
 * Rows of a function stand together in its file, but those of code that was inlined into it may lie
 * between; `scope` distinguishes them. */
static uint64_t annotate_last_line_of(const struct column *c, uint32_t row)
{
    uint64_t last = c->rows[row].line;
    if (!c->m->rules->is_function || !c->rows[row].is_target)
        return last;
    for (uint32_t i = row; i < c->len; i++)
        if (c->rows[i].is_target && c->rows[i].scope == c->rows[row].scope)
            last = c->rows[i].line;
    return last;
}

static bool annotate_is_shown(const struct annotation *m, const struct source_listed_file *f)
{
    bool is_any = false;
    for (uint32_t i = f->first; i < f->first + f->rows; i++)
        is_any |= m->is_hot[i] || (m->rules->shows_all && annotate_has_data(&m->s->rows.at[i]));
    return is_any;
}

/* Finds and reads a file; where that fails, says why. */
static void annotate_read_text(struct annotation *m, struct annotated_file *file,
                               const struct source_search *search)
{
    const struct source_listed_file *f = &m->s->files.at[file->file];
    struct object *o = m->in->objects[f->object];
    struct err why;
    file->path = source_find(search, f->recorded);
    if (!file->path) {
        file->why = "not found";
        return;
    }
    if (!source_text_read(&file->text, file->path, &why)) {
        file->why = arena_copy(m->arena, why.line, strlen(why.line));
        file->is_lost = why.system != 0;
        return;
    }
    source_text_index(&file->text);
    file->has_lines = file->text.lines;
    file->is_newer = o && file->text.changed > object_facts(o)->changed && object_facts(o)->changed;
}

/* Books what of a file is not shown. */
static void annotate_omit(struct annotated *out, const struct annotation *m,
                          const struct source_listed_file *f)
{
    bool is_whole = true;
    for (uint32_t i = f->first; i < f->first + f->rows; i++) {
        const struct source_row *r = &m->s->rows.at[i];
        is_whole &= m->line_of[i] == NO_ROW;
        if (!annotate_has_data(r) || m->line_of[i] != NO_ROW)
            continue;
        out->omitted.lines++;
        out->omitted.self += r->self;
    }
    out->omitted.files += is_whole;
}

/* Shows what the rules want of a file: all of it, or its hot lines with some around. Files without
 * such lines are not read at all. */
static void annotate_show_file(struct annotation *m, uint32_t file,
                               const struct source_search *search)
{
    struct annotated *out = m->out;
    const struct source_listed_file *f = &m->s->files.at[file];
    if (!annotate_is_shown(m, f))
        return;
    struct annotated_file shown = {.file = file, .first = (uint32_t)out->lines.len};
    annotate_read_text(m, &shown, search);
    shown.asks_line = m->s->rows.at[f->first + f->rows - 1].line;
    struct column c = {.m = m,
                       .file = &shown,
                       .rows = m->s->rows.at + f->first,
                       .len = f->rows,
                       .first_row = f->first};
    if (m->rules->shows_all) {
        annotate_show_lines(&c, 1, c.file->has_lines);
        for (uint32_t i = 0; i < c.len; i++)
            if (c.rows[i].line > c.last)
                annotate_show_line(&c, c.rows[i].line);
    } else {
        for (uint32_t i = 0; i < c.len; i++) {
            if (!c.m->is_hot[c.first_row + i])
                continue;
            uint64_t line = c.rows[i].line, context = c.m->rules->context;
            uint64_t last = line > c.last ? annotate_last_line_of(&c, i) : line;
            annotate_show_lines(&c, line > context ? line - context : 0, last);
            if (line > c.last)
                annotate_show_line(&c, line); /* past the end of the file, or there is no text */
            annotate_show_lines(&c, last, last + context);
        }
    }
    shown.lines = (uint32_t)out->lines.len - shown.first;
    vec_push(&out->files, shown);
}

/* --- code ------------------------------------------------------------------------------------ */

/* A walk over the stretches, in the order of addresses, with one disassembler an object. */
struct listing {
    struct annotation *m;
    struct disassembler **of; /* by object */
    bool *is_tried;
    size_t piece, block;
    uint64_t end; /* of the instruction before */
    uint32_t last_row;
};

/* Samples in [start, end), by bytes of the pieces there. Calls ask for ascending addresses. */
static double annotate_samples_within(struct listing *l, uint64_t start, uint64_t end)
{
    const struct source_lines *s = l->m->s;
    double sum = 0;
    while (l->piece < s->pieces.len && s->pieces.at[l->piece].high <= start)
        l->piece++;
    for (size_t i = l->piece; i < s->pieces.len && s->pieces.at[i].low < end; i++) {
        const struct sampled_piece *p = &s->pieces.at[i];
        uint64_t low = p->low > start ? p->low : start, high = p->high < end ? p->high : end;
        if (high > low)
            sum += p->samples * (double)(high - low) / (double)(p->high - p->low);
    }
    return sum;
}

/* Notes the block that begins in [start, end). Calls ask for ascending addresses. */
static void annotate_note_block(struct listing *l, uint64_t start, uint64_t end,
                                struct annotated_instruction *i)
{
    const struct source_lines *s = l->m->s;
    while (l->block < s->blocks.len && s->blocks.at[l->block].address < start)
        l->block++;
    if (l->block == s->blocks.len || s->blocks.at[l->block].address >= end)
        return;
    i->has_block = true;
    i->executions = s->blocks.at[l->block].count;
}

/* Disassembles a stretch. */
static void annotate_list_stretch(struct listing *l, const struct source_stretch *s)
{
    struct annotated *out = l->m->out;
    const struct functions *f = l->m->in->functions;
    uint32_t object = f->at[s->function].object;
    struct object *o = l->m->in->objects[object];
    const char *why = "its file is missing";
    if (!l->is_tried[object] && o)
        l->of[object] = disassembler_open(o, l->m->rules->is_intel, &why);
    if (!l->is_tried[object] && !l->of[object])
        out->why_no_code = why;
    l->is_tried[object] = true;
    struct disassembler *d = l->of[object];
    uint64_t base = f->objects ? f->objects[object].base : 0;
    struct instruction i;
    if (!d)
        return;
    disassembler_compressed(d, function_is_compressed(f, s->function, l->m->in->objects[object]));
    for (uint64_t at = s->start; disassemble(d, at - base, s->end - base, &i); at += i.bytes) {
        uint32_t target = i.has_target ? functions_find(f, i.target + base) : NO_FUNCTION;
        struct annotated_instruction shown = {
            .address = i.address,
            .text = arena_copy(l->m->arena, i.text, strlen(i.text)),
            .target = target == NO_FUNCTION ? NULL : names_get(l->m->in->names, target),
            .target_offset = target == NO_FUNCTION ? 0 : i.target + base - f->at[target].start,
            .self = annotate_samples_within(l, at, at + i.bytes),
            .function = s->function,
            .is_after_gap = at != l->end || s->row != l->last_row};
        annotate_note_block(l, at, at + i.bytes, &shown);
        l->end = at + i.bytes;
        l->last_row = s->row;
        vec_push(&out->instructions, shown);
    }
}

/* Code of functions without samples is not listed, unless requested. */
static bool annotate_is_listed(const struct annotation *m, const struct source_stretch *s)
{
    uint32_t line = m->line_of[s->row];
    if (line == NO_ROW)
        return false;
    return m->rules->only_line || m->rules->is_function || m->in->time->self[s->function] > 0;
}

/* Instructions stand in `instructions` line by line, those of a line by address. */
static void annotate_list_code(struct annotation *m)
{
    struct annotated *out = m->out;
    struct listing l = {.m = m, .end = 0, .last_row = NO_ROW};
    uint32_t objects = 1;
    for (uint32_t i = 0; i < m->in->functions->len; i++)
        if (m->in->functions->at[i].object >= objects)
            objects = m->in->functions->at[i].object + 1;
    l.of = ARENA_NEW(m->arena, struct disassembler *, objects);
    l.is_tried = ARENA_NEW(m->arena, bool, objects);
    /* Stretches come by address, lines by number: instructions are listed in the one order and then
     * sorted into the other, which keeps those of a line by address. */
    VEC(struct keyed) order = {0};
    for (size_t k = 0; k < m->s->stretches.len; k++) {
        const struct source_stretch *s = &m->s->stretches.at[k];
        if (!annotate_is_listed(m, s))
            continue;
        size_t from = out->instructions.len;
        annotate_list_stretch(&l, s);
        for (size_t i = from; i < out->instructions.len; i++)
            vec_push(&order, ((struct keyed){m->line_of[s->row], (uint32_t)i}));
    }
    sort_keyed(order.at, order.len);
    struct annotated_instruction *copy =
        ARENA_NEW(m->arena, struct annotated_instruction, order.len);
    for (size_t i = 0; i < order.len; i++) {
        struct annotated_line *line = &out->lines.at[order.at[i].key];
        copy[i] = out->instructions.at[order.at[i].item];
        line->first = line->instructions++ ? line->first : (uint32_t)i;
    }
    if (order.len)
        memcpy(out->instructions.at, copy, order.len * sizeof *copy);
    for (uint32_t i = 0; i < objects; i++)
        disassembler_close(l.of[i]);
    vec_free(&order);
}

void annotate_make(struct annotated *t, const struct source_lines *s, const struct summary *summary,
                   const struct source_input *in, const struct source_search *search,
                   const struct annotate_rules *rules, struct arena *a)
{
    *t = (struct annotated){.summary = summary, .source = s, .has_code = rules->has_code};
    struct annotation m = {.out = t, .s = s, .in = in, .rules = rules, .arena = a};
    m.line_of = ARENA_NEW(a, uint32_t, s->rows.len);
    for (size_t i = 0; i < s->rows.len; i++)
        m.line_of[i] = NO_ROW;
    annotate_find_hot(&m);
    for (uint32_t i = 0; i < s->files.len; i++)
        annotate_show_file(&m, i, search);
    for (uint32_t i = 0; i < s->files.len; i++)
        annotate_omit(t, &m, &s->files.at[i]);
    if (rules->has_code)
        annotate_list_code(&m);
}

void annotate_deinit(struct annotated *t)
{
    for (size_t i = 0; i < t->files.len; i++)
        source_text_deinit(&t->files.at[i].text);
    vec_free(&t->files);
    vec_free(&t->lines);
    vec_free(&t->instructions);
}
