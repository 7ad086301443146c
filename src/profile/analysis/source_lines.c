/* What was measured, line by line: one walk over the code of all functions that matter, in the
 * order of addresses, meeting samples and blocks on the way.
 *
 * Pieces of bins, blocks and places of the line table are all sorted by address, so that each is
 * read once. Between two places there may be code without a line: the walk advances to the start of
 * the next one, books what lies before it on no line, then to its end, and books that on its row:
 *
 *     places     [ line 4  ]     [ line 5 ][ line 4 ]
 *     reached    ^         ^     ^         ^        ^
 *     booked on      4      none     5         4
 *
 * What a function adds to a row is tallied per function first, because counts that run on from one
 * block to the next line are no blocks of that line: a row with blocks of its own takes none of
 * them.
 *
 * Tidied paths distinguish files. Cost: the line tables of functions with samples, calls or blocks;
 * a map entry for each row. */
#include "profile/analysis/source_lines.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "profile/analysis/recording/stack_lines.h"
#include "source/source.h"

#include <math.h>
#include <string.h>

/* What one function adds to one row: its blocks there, or else what runs on into it. */
struct tally {
    uint32_t row, blocks;
    uint64_t executions, least, most;
    uint64_t running; /* the most of what runs on */
    bool runs_on;
};

/* The walk, from function to function. */
struct walk {
    struct source_lines *out;
    const struct source_input *in;
    struct arena *arena;
    struct path_numbers paths;
    VEC(uint32_t) file_of_path;
    struct path_numbers tidy; /* one number a file */
    struct map row_of;        /* (file, line) */
    struct map answers;       /* by pointer of a name: is it the requested function? */
    struct map extent_of;     /* by pointers of a name and of a file's */
    bool found_function, found_file;
    bool has_zeros; /* of blocks: those that were never executed were recorded, too */

    /* In the function that is being walked. */
    uint32_t function;
    uint64_t base; /* address in the table - link address */
    bool is_wanted;
    size_t piece, block; /* the next of each */
    size_t blocks_end;
    uint64_t reached; /* the end of the last place: between two there may be code without line */
    bool is_instrumented, has_running;
    uint64_t running; /* count of the last block */
    struct map tally_of;
    VEC(struct tally) tallies;
};

/* --- what was requested ----------------------------------------------------------------------- */

/* Whether the function was requested, by the names that people give it; remembered by pointer,
 * since line tables repeat few names often. */
static bool source_is_wanted(struct walk *w, const char *linkage_name)
{
    bool is_new;
    if (!w->in->only_function)
        return true;
    if (!linkage_name)
        return false;
    uint32_t *answer = map_at(&w->answers, map_pointer(linkage_name), 0, 0, &is_new);
    if (is_new)
        *answer = function_is_called(linkage_name, w->in->only_function);
    return *answer;
}

/* Whether the file was requested: by the end of its path, as it is written or tidied. */
static bool source_file_is_wanted(const struct walk *w, const char *recorded, const char *tidy)
{
    const char *wanted = w->in->only_file;
    if (!wanted)
        return true;
    const char *names[] = {recorded, tidy};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(names[i]), end = strlen(wanted);
        if (end <= len && !strcmp(names[i] + len - end, wanted) &&
            (end == len || wanted[0] == '/' || names[i][len - end - 1] == '/'))
            return true;
    }
    return false;
}

/* --- files and rows -------------------------------------------------------------------------- */

enum { UNWANTED_FILE = UINT32_MAX };

/* The file of a path. Two ways to write one path are one file. */
static uint32_t source_file_number(struct walk *w, const char *path)
{
    uint32_t number = path_number(&w->paths, path);
    if (number < w->file_of_path.len)
        return w->file_of_path.at[number];
    char *tidy = path_tidy(path, w->arena);
    uint32_t file = UNWANTED_FILE;
    if (source_file_is_wanted(w, path, tidy)) {
        w->found_file = true;
        file = path_number(&w->tidy, tidy);
        if (file == w->out->files.len)
            vec_push(&w->out->files,
                     ((struct source_listed_file){
                         .recorded = path, .object = w->in->functions->at[w->function].object}));
    }
    vec_push(&w->file_of_path, file);
    return file;
}

/* The row of a place, or NO_ROW: not wanted. */
static uint32_t source_row_of(struct walk *w, const char *file_path, uint32_t line,
                              const char *scope)
{
    if (w->in->only_own &&
        !function_line_is_own(w->in->functions, w->function, w->in->objects, file_path))
        return NO_ROW;
    uint32_t file = source_file_number(w, file_path);
    if (file == UNWANTED_FILE)
        return NO_ROW;
    bool is_new;
    uint32_t row = map_index(&w->row_of, file, line, w->out->rows.len, &is_new);
    if (is_new)
        vec_push(&w->out->rows,
                 ((struct source_row){
                     .file = file, .line = line, .function = w->function, .scope = scope}));
    return row;
}

/* --- samples and blocks ---------------------------------------------------------------------- */

/* A piece_visitor: keeps the pieces that are in functions. */
static void source_keep_piece(const struct sampled_piece *piece, void *context)
{
    struct walk *w = context;
    if (piece->function == NO_FUNCTION)
        w->out->elsewhere.unattributed += piece->samples;
    else
        vec_push(&w->out->pieces, *piece);
}

/* By address, each address once. */
static void source_gather_blocks(struct walk *w)
{
    struct source_lines *s = w->out;
    const struct profile *p = w->in->profile;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, p->blocks.len);
    for (size_t i = 0; i < p->blocks.len; i++)
        order[i] = (struct keyed){p->blocks.at[i].address, (uint32_t)i};
    sort_keyed(order, p->blocks.len);
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct block *b = &p->blocks.at[order[i].item];
        struct source_block *last = s->blocks.len ? &s->blocks.at[s->blocks.len - 1] : NULL;
        if (last && last->address == b->address)
            last->count = add_saturating(last->count, b->count);
        else
            vec_push(&s->blocks,
                     ((struct source_block){b->address, b->count,
                                            functions_find(w->in->functions, b->address), NO_ROW}));
    }
    for (size_t i = 0; i < s->blocks.len; i++)
        w->has_zeros |= !s->blocks.at[i].count;
    s->has_blocks = s->blocks.len;
    arena_deinit(&scratch);
}

/* Books what lies before `end` on a row, or on none: pieces are cut there.
 * Pieces that reach beyond `end` stay for what follows: `piece` moves only past what was
 * reached. */
static void source_take_samples(struct walk *w, uint64_t end, uint32_t row, bool is_shown)
{
    struct source_lines *s = w->out;
    while (w->piece < s->pieces.len && s->pieces.at[w->piece].high <= w->reached)
        w->piece++;
    for (size_t i = w->piece; i < s->pieces.len && s->pieces.at[i].low < end; i++) {
        struct sampled_piece *p = &s->pieces.at[i];
        uint64_t high = p->high < end ? p->high : end;
        uint64_t low = p->low > w->reached ? p->low : w->reached;
        double part =
            high > low ? p->samples * (double)(high - low) / (double)(p->high - p->low) : 0;
        if (row != NO_ROW)
            s->rows.at[row].self += part;
        else if (is_shown)
            s->elsewhere.no_line += part;
        else
            s->elsewhere.not_shown += part;
    }
}

/* What the walked function adds to a row. */
static struct tally *source_tally_of(struct walk *w, uint32_t row)
{
    bool is_new;
    uint32_t tally = map_index(&w->tally_of, row, 0, w->tallies.len, &is_new);
    if (is_new)
        vec_push(&w->tallies, ((struct tally){.row = row}));
    return &w->tallies.at[tally];
}

/* Books the blocks before `end` on a row. A line without a block that is reached from the block
 * before it was executed as often, if every block was recorded. */
static void source_take_blocks(struct walk *w, uint64_t end, uint32_t row, bool is_shown)
{
    struct source_lines *s = w->out;
    if (!w->is_instrumented)
        return;
    bool is_known = w->has_running;
    uint64_t running = w->running;
    struct tally *t = row == NO_ROW ? NULL : source_tally_of(w, row);
    for (; w->block < w->blocks_end && s->blocks.at[w->block].address < end; w->block++) {
        struct source_block *b = &s->blocks.at[w->block];
        w->has_running = true;
        w->running = b->count;
        b->row = row;
        if (!t) {
            s->elsewhere.blocks_no_line += is_shown;
            continue;
        }
        t->executions = add_saturating(t->executions, b->count);
        t->least = !t->blocks || b->count < t->least ? b->count : t->least;
        t->most = b->count > t->most ? b->count : t->most;
        t->blocks++;
    }
    if (t && is_known && w->has_zeros) {
        t->runs_on = true;
        t->running = running > t->running ? running : t->running;
    }
}

/* All that lies in [w->reached, end) of the walked function. */
static void source_advance(struct walk *w, uint64_t end, uint32_t row, bool is_shown)
{
    source_take_samples(w, end, row, is_shown);
    source_take_blocks(w, end, row, is_shown);
    w->reached = end;
}

/* Whether there is anything to book before `end`. */
static bool source_has_something(const struct walk *w, uint64_t end)
{
    const struct source_lines *s = w->out;
    return w->in->keeps_idle || w->in->only_function || w->is_instrumented ||
           (w->piece < s->pieces.len && s->pieces.at[w->piece].low < end);
}

/* Widens the known range of a function's lines. */
static void source_take_extent(struct walk *w, const struct object_place *place)
{
    bool is_new;
    struct source_lines *s = w->out;
    if (!w->in->keeps_extents || !place->function)
        return;
    uint32_t at = map_index(&w->extent_of, map_pointer(place->function), map_pointer(place->file),
                            s->extents.len, &is_new);
    if (is_new)
        vec_push(&s->extents,
                 ((struct source_extent){place->function, place->file, place->line, place->line}));
    struct source_extent *e = &s->extents.at[at];
    e->first = place->line < e->first ? place->line : e->first;
    e->last = place->line > e->last ? place->line : e->last;
}

/* A place of the line table, in the order of addresses; those within the code that was reached are
 * cut. */
static void source_visit_place(const struct object_place *place, void *context)
{
    struct walk *w = context;
    uint64_t start = place->start + w->base, end = place->end + w->base;
    uint64_t last = w->in->functions->at[w->function].last;
    if (!place->file || !place->line || end <= w->reached || start > last)
        return;
    end = end - 1 > last ? last + 1 : end;
    start = start > w->reached ? start : w->reached;
    source_advance(w, start, NO_ROW, w->is_wanted);
    source_take_extent(w, place);
    bool is_asked_for = w->is_wanted || source_is_wanted(w, place->function);
    uint32_t row = NO_ROW;
    if (is_asked_for && source_has_something(w, end)) {
        w->found_function = true;
        row = source_row_of(w, place->file, place->line, place->function);
    }
    if (row != NO_ROW && w->in->only_function && source_is_wanted(w, place->function))
        w->out->rows.at[row].is_target = true;
    if (row != NO_ROW && w->in->keeps_stretches)
        vec_push(&w->out->stretches, ((struct source_stretch){start, end, w->function, row}));
    source_advance(w, end, row, false);
}

/* --- functions ------------------------------------------------------------------------------- */

/* Walks one function; what its places leave is on no line. */
static void source_walk_function(struct walk *w, uint32_t function)
{
    const struct functions *f = w->in->functions;
    const struct function *at = &f->at[function];
    struct object *o = w->in->objects[at->object];
    uint64_t end = at->last < UINT64_MAX ? at->last + 1 : UINT64_MAX;
    w->function = function;
    w->base = f->objects ? f->objects[at->object].base : 0;
    w->is_wanted = source_is_wanted(w, at->name);
    w->found_function |= w->is_wanted;
    w->reached = at->start;
    w->blocks_end = w->block;
    while (w->blocks_end < w->out->blocks.len &&
           w->out->blocks.at[w->blocks_end].address <= at->last)
        w->blocks_end++;
    w->is_instrumented = w->blocks_end > w->block;
    /* The counting call of the first block comes after the code that sets up the frame. */
    w->has_running = w->is_instrumented;
    w->running = w->is_instrumented ? w->out->blocks.at[w->block].count : 0;
    w->out->instrumented += w->is_instrumented;
    /* Calls belong to the line of the function's first instruction. */
    const struct graph_node *n = &w->in->graph->nodes[function];
    uint64_t calls = add_saturating(n->calls, n->self_calls);
    const char *file;
    uint32_t line;
    if (o && w->is_wanted && object_line(o, at->start - w->base, &file, &line) && line) {
        uint32_t row = source_row_of(w, file, line, at->name);
        if (row != NO_ROW) {
            w->out->rows.at[row].calls = add_saturating(w->out->rows.at[row].calls, calls);
            w->out->rows.at[row].has_entry = true;
        }
    }
    if (o)
        object_each_place(o, at->start - w->base, end - w->base, source_visit_place, w);
    source_advance(w, end, NO_ROW, w->is_wanted);
    for (size_t i = 0; i < w->tallies.len; i++) {
        const struct tally *t = &w->tallies.at[i];
        struct source_row *r = &w->out->rows.at[t->row];
        if (!t->blocks && !t->runs_on)
            continue;
        uint64_t least = t->blocks ? t->least : t->running, most = t->blocks ? t->most : t->running;
        r->least = !r->has_count || least < r->least ? least : r->least;
        r->most = most > r->most ? most : r->most;
        r->executions = add_saturating(r->executions, t->blocks ? t->executions : t->running);
        r->blocks += t->blocks;
        r->has_count = true;
    }
    w->tallies.len = 0;
    map_deinit(&w->tally_of);
    w->tally_of = (struct map){0};
}

/* Whether there is anything to say of a function. */
static bool source_matters(struct walk *w, uint32_t function)
{
    const struct function *f = &w->in->functions->at[function];
    const struct graph_node *n = &w->in->graph->nodes[function];
    const struct source_lines *s = w->out;
    while (w->block < s->blocks.len && s->blocks.at[w->block].address < f->start)
        w->out->elsewhere.blocks_no_line += !w->in->only_function, w->block++;
    bool has_blocks = w->block < s->blocks.len && s->blocks.at[w->block].address <= f->last;
    uint32_t whole = functions_whole(w->in->functions, function);
    return has_blocks || w->in->time->self[whole] > 0 || n->calls || n->self_calls ||
           (w->in->only_function && source_is_wanted(w, w->in->functions->at[whole].name));
}

/* --- totals ---------------------------------------------------------------------------------- */

/* Lines that only call get rows here; what was not requested gets none. Samples were rounded when
 * they were placed, so a line has at least its own. */
static void source_take_totals(struct walk *w)
{
    struct arena scratch = {0};
    struct source_lines *s = w->out;
    struct stack_lines lines;
    struct stacks times;
    stack_lines_find(&lines, w->in->stacks, &scratch);
    uint32_t *row_of = ARENA_NEW(&scratch, uint32_t, lines.all.len);
    for (size_t i = 0; i < lines.all.len; i++) {
        const struct stack_line *line = &lines.all.at[i];
        uint32_t whole = functions_whole(w->in->functions, line->function);
        row_of[i] = NO_FUNCTION;
        if (!line->file || (!source_is_wanted(w, w->in->functions->at[whole].name) &&
                            !source_is_wanted(w, line->name)))
            continue;
        w->function = line->function;
        w->found_function = true;
        uint32_t row = source_row_of(w, line->file, line->line, line->name);
        if (row == NO_ROW)
            continue;
        row_of[i] = row;
        s->rows.at[row].is_target |= w->in->only_function && source_is_wanted(w, line->name);
    }
    stack_lines_measure(&times, &lines, row_of, (uint32_t)s->rows.len, false, &scratch);
    for (size_t i = 0; i < s->rows.len; i++)
        s->rows.at[i].total = fmax(s->rows.at[i].self, times.inclusive[i]);
    s->has_totals = true;
    stack_lines_deinit(&lines);
    arena_deinit(&scratch);
}

/* --- order ----------------------------------------------------------------------------------- */

/* Most samples first, then most executions, then calls, then by path. */
static int source_by_weight(uint32_t left, uint32_t right, const void *context)
{
    const struct source_listed_file *files = context, *l = &files[left], *r = &files[right];
    if (l->self != r->self)
        return l->self < r->self ? 1 : -1;
    if (l->executions != r->executions)
        return l->executions < r->executions ? 1 : -1;
    if (l->calls != r->calls)
        return l->calls < r->calls ? 1 : -1;
    return strcmp(l->recorded, r->recorded);
}

/* Puts files, then the rows of each, in order, and numbers both anew. */
static void source_put_in_order(struct source_lines *s)
{
    struct arena scratch = {0};
    uint32_t files = (uint32_t)s->files.len, rows = (uint32_t)s->rows.len, first = 0;
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, files),
             *rank = ARENA_NEW(&scratch, uint32_t, files);
    struct source_listed_file *old_files = ARENA_NEW(&scratch, struct source_listed_file, files);
    struct source_row *old_rows = ARENA_NEW(&scratch, struct source_row, rows);
    struct keyed *keys = ARENA_NEW(&scratch, struct keyed, rows);
    uint32_t *row_rank = ARENA_NEW(&scratch, uint32_t, rows);
    for (uint32_t i = 0; i < files; i++)
        order[i] = i, old_files[i] = s->files.at[i];
    sort_u32(order, files, source_by_weight, old_files);
    for (uint32_t i = 0; i < files; first += s->files.at[i++].rows) {
        s->files.at[i] = old_files[order[i]];
        s->files.at[i].first = first;
        rank[order[i]] = i;
    }
    for (uint32_t i = 0; i < rows; i++) {
        old_rows[i] = s->rows.at[i];
        old_rows[i].file = rank[old_rows[i].file];
        keys[i] = (struct keyed){(uint64_t)old_rows[i].file << 32 | old_rows[i].line, i};
    }
    sort_keyed(keys, rows);
    for (uint32_t i = 0; i < rows; i++) {
        s->rows.at[i] = old_rows[keys[i].item];
        row_rank[keys[i].item] = i;
    }
    for (size_t i = 0; i < s->stretches.len; i++)
        s->stretches.at[i].row = row_rank[s->stretches.at[i].row];
    for (size_t i = 0; i < s->blocks.len; i++)
        if (s->blocks.at[i].row != NO_ROW)
            s->blocks.at[i].row = row_rank[s->blocks.at[i].row];
    arena_deinit(&scratch);
}

void source_lines_make(struct source_lines *s, const struct source_input *in, bool *found,
                       struct arena *a)
{
    struct walk w = {.out = s, .in = in, .arena = a};
    attribute_pieces(in->profile, &in->functions->index, source_keep_piece, &w);
    /* Several histograms, or objects, need not come in the order of addresses. */
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, s->pieces.len);
    struct sampled_piece *copy = ARENA_NEW(&scratch, struct sampled_piece, s->pieces.len);
    for (size_t i = 0; i < s->pieces.len; i++) {
        copy[i] = s->pieces.at[i];
        order[i] = (struct keyed){copy[i].low, (uint32_t)i};
    }
    sort_keyed(order, s->pieces.len);
    for (size_t i = 0; i < s->pieces.len; i++)
        s->pieces.at[i] = copy[order[i].item];
    arena_deinit(&scratch);
    source_gather_blocks(&w);
    for (uint32_t i = 0; i < in->functions->len; i++)
        if (source_matters(&w, i))
            source_walk_function(&w, i);
    s->elsewhere.blocks_no_line += in->only_function ? 0 : s->blocks.len - w.block;
    if (in->stacks)
        source_take_totals(&w);
    for (size_t i = 0; i < s->rows.len; i++) {
        struct source_row *r = &s->rows.at[i];
        struct source_listed_file *f = &s->files.at[r->file];
        r->is_inferred = r->has_count && !r->blocks;
        f->self += r->self;
        f->calls = add_saturating(f->calls, r->calls);
        f->executions = add_saturating(f->executions, r->blocks ? r->executions : 0);
        f->rows++;
    }
    source_put_in_order(s);
    *found = (!in->only_function || w.found_function) && (!in->only_file || w.found_file);
    vec_free(&w.file_of_path);
    vec_free(&w.tallies);
    path_numbers_deinit(&w.paths);
    path_numbers_deinit(&w.tidy);
    map_deinit(&w.row_of);
    map_deinit(&w.answers);
    map_deinit(&w.extent_of);
}

void source_lines_deinit(struct source_lines *s)
{
    vec_free(&s->rows);
    vec_free(&s->files);
    vec_free(&s->blocks);
    vec_free(&s->stretches);
    vec_free(&s->extents);
    vec_free(&s->pieces);
}
