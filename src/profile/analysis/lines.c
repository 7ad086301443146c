/* The line profile, in four steps.
 *
 * 1. Pieces: the code in which anything was measured is cut at every change of place, a place being
 * a function, file and line. One walk through the debug information of each object.
 *
 *        code      | main:10 | main:11 | get:3 (inlined) | main:11 | (no line) |
 *        pieces    [    0    ][    1    ][       2        ][   3    ][    4     ]
 *
 * 2. Events: samples are booked on pieces as on functions, by bytes; calls on the piece that makes
 * them, and on the one in which the callee begins. Lines that are on stacks have events, too, so
 * that they have rows; without stacks, inlined code has one for each line that it was inlined at.
 * 3. Rows: events sorted by place, those of one place added up; of inlined code one sum for each
 * chain of lines that it was inlined along. Totals are measured on the stacks, by row.
 * 4. The rows that the rules want, in their order; the others are summed up.
 *
 * Debug information of code in which nothing was measured is not read, so a profile of a large
 * program costs by what was measured, not by the program's size. */
#include "profile/analysis/tables.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "profile/analysis/attribution.h"
#include "profile/analysis/recording/stack_lines.h"

#include <math.h>
#include <string.h>

enum { MOST_FRAMES = 64 };

/* --- files ----------------------------------------------------------------------------------- */

/* One string a file, however its path is written and wherever it comes from. */
struct tidy_paths {
    struct map number; /* of a path, by pointer */
    VEC(const char *) tidy;
    struct arena *arena;
};

/* A leading `./` stays: reproducible builds have it in place of a folder, and maps name it. */
static const char *lines_tidied(const char *path, struct arena *a)
{
    if (!strstr(path, "//") && !strstr(path, "/."))
        return path;
    if (strncmp(path, "./", 2))
        return path_tidy(path, a);
    return arena_printf(a, "./%s", path_tidy(path + 2, a));
}

/* The tidied path of `path`, the same string for the same one. */
static const char *lines_tidy_path(struct tidy_paths *t, const char *path)
{
    bool is_new;
    if (!path)
        return NULL;
    uint32_t number = map_index(&t->number, map_pointer(path), 0, t->tidy.len, &is_new);
    if (is_new)
        vec_push(&t->tidy, lines_tidied(path, t->arena));
    return t->tidy.at[number];
}

/* --- pieces of code -------------------------------------------------------------------------- */

/* Code of one place: of one function, file and line. */
struct code_piece {
    uint64_t start, last; /* addresses as in the functions' table */
    const char *name;     /* linkage name of the function that the line is in */
    const char *file;     /* NULL: code without a line */
    uint32_t line, object;
    uint32_t function; /* of code without a line: its own; else 0 */
};

/* The pieces so far, and where the walk stands. */
struct pieces {
    const struct lines_input *in;
    VEC(struct code_piece) all; /* by address */
    uint32_t object;
    uint64_t base;     /* place - link address, of the object */
    uint32_t function; /* the one that code without line is in */
    uint64_t reached;  /* place up to which the range is filled */
};

/* Code up to `end` that has no line, function by function. */
static void lines_fill(struct pieces *p, uint64_t end)
{
    const struct functions *f = p->in->functions;
    while (p->reached < end) {
        while (p->function < f->index.len && f->at[p->function].last < p->reached)
            p->function++;
        if (p->function == f->index.len || f->at[p->function].start >= end)
            break;
        const struct function *in = &f->at[p->function];
        uint64_t low = in->start > p->reached ? in->start : p->reached;
        uint64_t last = in->last < end - 1 ? in->last : end - 1;
        vec_push(&p->all, ((struct code_piece){.start = low,
                                               .last = last,
                                               .name = in->name,
                                               .object = in->object,
                                               .function = p->function}));
        p->reached = last + 1;
    }
    p->reached = end > p->reached ? end : p->reached;
}

/* What of a place lies before `end`. */
static void lines_add_place(struct pieces *p, const struct object_place *place, uint64_t end)
{
    uint64_t start = place->start + p->base, place_end = place->end + p->base;
    end = place_end < end ? place_end : end;
    if (!place->line || end <= p->reached)
        return;
    if (start > p->reached)
        lines_fill(p, start);
    const struct functions *f = p->in->functions;
    while (p->function < f->index.len && f->at[p->function].last < p->reached)
        p->function++;
    const char *own = p->function < f->index.len ? f->at[p->function].name : "?";
    vec_push(&p->all, ((struct code_piece){.start = p->reached,
                                           .last = end - 1,
                                           .name = place->function ? place->function : own,
                                           .file = place->file,
                                           .line = place->line,
                                           .object = p->object}));
    p->reached = end;
}

struct place_list {
    VEC(struct object_place) all;
};

static void lines_keep_place(const struct object_place *place, void *context)
{
    struct place_list *list = context;
    vec_push(&list->all, *place);
}

/* Cuts the measured code of one object into pieces. */
static void lines_walk_object(struct pieces *p, const struct measured *ranges)
{
    struct place_list places = {0};
    size_t next = 0;
    /* All places of code in the ranges, in one walk. */
    struct object *o = p->in->objects[p->object];
    struct arena scratch = {0};
    size_t len = ranges->ranges.len;
    struct object_range *linked = ARENA_NEW(&scratch, struct object_range, len);
    for (size_t i = 0; i < len; i++)
        linked[i] = (struct object_range){ranges->ranges.at[i].low - p->base,
                                          ranges->ranges.at[i].high - p->base};
    if (o && p->in->has_inlines)
        object_each_inlining_within(o, linked, len, lines_keep_place, &places);
    else if (o)
        object_each_place_within(o, linked, len, lines_keep_place, &places);
    arena_deinit(&scratch);
    for (size_t i = 0; i < ranges->ranges.len; i++) {
        uint64_t end = ranges->ranges.at[i].high;
        p->reached = ranges->ranges.at[i].low;
        while (next < places.all.len && places.all.at[next].end + p->base <= p->reached)
            next++;
        for (size_t k = next; k < places.all.len && places.all.at[k].start + p->base < end; k++)
            lines_add_place(p, &places.all.at[k], end);
        lines_fill(p, end);
    }
    vec_free(&places.all);
}

/* --- what was measured there ----------------------------------------------------------------- */

enum event_kind { EVENT_SELF, EVENT_INLINED, EVENT_CALLS, EVENT_ENTERED, EVENT_ON_STACK };

/* Something to be booked on a place. */
struct event {
    const char *function, *file; /* file: NULL where there is no line */
    uint32_t line, object;
    uint32_t own; /* where there is no line: the function, of which several may have one name */
    enum event_kind kind;
    uint32_t chain_len;
    const struct object_frame *chain;
    uint64_t address, count; /* of a line on stacks: its number among those */
    double samples;
};

struct events {
    const struct lines_input *in;
    const struct code_piece *pieces;
    const struct address_index *index; /* of the pieces */
    struct arena *arena;
    struct tidy_paths paths;
    VEC(struct event) all;
};

/* An event on the place of a piece. */
static struct event lines_event_of(struct events *e, const struct code_piece *piece,
                                   enum event_kind kind)
{
    return (struct event){.function = piece->name,
                          .file = lines_tidy_path(&e->paths, piece->file),
                          .line = piece->line,
                          .object = piece->object,
                          .own = piece->function,
                          .kind = kind,
                          .address = piece->start};
}

/* Books a piece's samples on the lines that its code was inlined at, on each one once. */
static void lines_add_inlined(struct events *e, const struct code_piece *piece, double samples,
                              const struct object_frame *frames, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        bool is_again = !frames[i].file || !frames[i].line || !frames[i].function;
        for (size_t k = 0; k < i && !is_again; k++) {
            const struct object_frame *a = &frames[k];
            const struct object_frame *b = &frames[i];
            is_again = a->line == b->line && a->function && b->function && a->file && b->file &&
                       !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
        }
        if (is_again)
            continue;
        struct event event = lines_event_of(e, piece, EVENT_INLINED);
        event.function = frames[i].function;
        event.file = frames[i].file;
        event.line = frames[i].line;
        event.samples = samples;
        vec_push(&e->all, event);
    }
}

/* Books the samples of a piece. */
static void lines_add_samples(struct events *e, uint32_t number, double samples)
{
    const struct code_piece *piece = &e->pieces[number];
    struct event event = lines_event_of(e, piece, EVENT_SELF);
    struct object *o = e->in->objects[piece->object];
    event.samples = samples;
    if (e->in->has_inlines && o && piece->file) {
        struct object_frame frames[MOST_FRAMES];
        const struct functions *f = e->in->functions;
        uint64_t base = f->objects ? f->objects[piece->object].base : 0;
        size_t len = object_frames(o, piece->start - base, frames, MOST_FRAMES);
        for (size_t i = 0; i < len; i++)
            frames[i].file = lines_tidy_path(&e->paths, frames[i].file);
        if (len > 1) {
            struct object_frame *chain = ARENA_NEW(e->arena, struct object_frame, len - 1);
            memcpy(chain, frames + 1, (len - 1) * sizeof *chain);
            event.chain = chain;
            event.chain_len = (uint32_t)(len - 1);
        }
        if (!e->in->stacks)
            lines_add_inlined(e, piece, samples, frames, len);
    }
    vec_push(&e->all, event);
}

/* Books calls on the piece that holds an address. */
static void lines_add_calls(struct events *e, uint64_t address, enum event_kind kind,
                            uint64_t count)
{
    uint32_t piece = address_index_find(e->index, address);
    if (piece == NO_RANGE_THERE || !count)
        return;
    struct event event = lines_event_of(e, &e->pieces[piece], kind);
    event.count = count;
    vec_push(&e->all, event);
}

/* --- rows ------------------------------------------------------------------------------------ */

static int lines_compare_texts(const char *left, const char *right)
{
    if (left == right || !left || !right)
        return (left != NULL) - (right != NULL);
    return strcmp(left, right);
}

/* By file, line, function, object; code without a file first, and there functions of one name are
 * two. */
static int lines_compare_places(const struct event *l, const struct event *r)
{
    int by = lines_compare_texts(l->file, r->file);
    if (!by && l->line != r->line)
        by = l->line < r->line ? -1 : 1;
    if (!by)
        by = strcmp(l->function, r->function);
    if (!by && l->object != r->object)
        by = l->object < r->object ? -1 : 1;
    if (!by && l->own != r->own)
        by = l->own < r->own ? -1 : 1;
    return by;
}

/* By frames from the innermost; a chain before those that go on from it. */
static int lines_compare_chains(const struct event *l, const struct event *r)
{
    for (uint32_t i = 0; i < l->chain_len && i < r->chain_len; i++) {
        const struct object_frame *a = &l->chain[i], *b = &r->chain[i];
        int by = lines_compare_texts(a->function, b->function);
        by = by ? by : lines_compare_texts(a->file, b->file);
        if (!by && a->line != b->line)
            by = a->line < b->line ? -1 : 1;
        if (by)
            return by;
    }
    return (l->chain_len > r->chain_len) - (l->chain_len < r->chain_len);
}

/* Events of one place together, and of those the samples of one chain. */
static int lines_by_place(uint32_t left, uint32_t right, const void *context)
{
    const struct event *l = (const struct event *)context + left;
    const struct event *r = (const struct event *)context + right;
    int by = lines_compare_places(l, r);
    if (!by && l->kind != r->kind)
        by = l->kind < r->kind ? -1 : 1;
    return by ? by : lines_compare_chains(l, r);
}

static int lines_by_samples(const void *left, const void *right)
{
    const struct line_chain *l = left, *r = right;
    return (l->self < r->self) - (l->self > r->self);
}

/* Rows while events are added up. */
struct row_maker {
    struct lines_table *table;
    const struct event *events;
    const uint32_t *order;
    uint32_t *row_of; /* per piece, if it has samples; else NO_RANGE_THERE */
    struct arena *arena;
    VEC(struct line_chain) chains; /* of the row that is being made */
};

/* Adds an event to its row, and samples to the chain they came along. `before`: the row's event
 * before. */
static void lines_book(struct row_maker *m, struct lines_row *row, const struct event *e,
                       const struct event *before)
{
    struct function *f = &m->table->functions.at[row->function];
    f->start = e->address < f->start ? e->address : f->start;
    row->total += e->samples;
    row->self += e->kind == EVENT_SELF ? e->samples : 0;
    row->calls += e->kind == EVENT_CALLS ? e->count : 0;
    row->entered += e->kind == EVENT_ENTERED ? e->count : 0;
    if (e->kind != EVENT_SELF)
        return;
    if (before && before->kind == EVENT_SELF && !lines_compare_chains(before, e))
        m->chains.at[m->chains.len - 1].self += e->samples;
    else
        vec_push(&m->chains, ((struct line_chain){e->chain, e->chain_len, e->samples}));
}

/* Gives a finished row its chains, unless all of its code stands in its own function. */
static void lines_keep_chains(struct row_maker *m, struct lines_row *row)
{
    bool is_plain = m->chains.len == 1 && !m->chains.at[0].len;
    if (m->table->has_inlines && m->chains.len && !is_plain) {
        struct line_chain *chains = ARENA_NEW(m->arena, struct line_chain, m->chains.len);
        memcpy(chains, m->chains.at, m->chains.len * sizeof *chains);
        qsort(chains, m->chains.len, sizeof *chains, lines_by_samples);
        row->chains = chains;
        row->chains_len = (uint32_t)m->chains.len;
    }
    m->chains.len = 0;
}

static int lines_by_text(uint32_t left, uint32_t right, const void *context)
{
    const char *const *texts = context;
    return lines_compare_texts(texts[left], texts[right]);
}

/* The order of lines_by_place(). Files are few: with their ranks as numbers, events are sorted by
 * file and line in linear time, and only those of one line are compared. */
static void lines_order_places(uint32_t *order, const struct event *events, uint32_t len)
{
    struct arena scratch = {0};
    struct map numbers = {0};
    VEC(const char *) files = {0};
    uint32_t *file_of = ARENA_NEW(&scratch, uint32_t, len);
    for (uint32_t i = 0; i < len; i++) {
        bool is_new;
        file_of[i] = map_index(&numbers, (uintptr_t)events[i].file, 0, files.len, &is_new);
        if (is_new)
            vec_push(&files, events[i].file);
    }
    uint32_t *by_text = ARENA_NEW(&scratch, uint32_t, files.len);
    uint32_t *rank = ARENA_NEW(&scratch, uint32_t, files.len);
    for (uint32_t i = 0; i < files.len; i++)
        by_text[i] = i;
    sort_u32(by_text, files.len, lines_by_text, files.at);
    for (uint32_t i = 1; i < files.len; i++) {
        bool is_same = !lines_compare_texts(files.at[by_text[i - 1]], files.at[by_text[i]]);
        rank[by_text[i]] = rank[by_text[i - 1]] + !is_same;
    }
    struct keyed *sorted = ARENA_NEW(&scratch, struct keyed, len);
    for (uint32_t i = 0; i < len; i++)
        sorted[i] = (struct keyed){(uint64_t)rank[file_of[i]] << 32 | events[i].line, i};
    sort_keyed(sorted, len);
    sort_equals(sorted, len, lines_by_place, events);
    for (uint32_t i = 0; i < len; i++)
        order[i] = sorted[i].item;
    vec_free(&files);
    map_deinit(&numbers);
    arena_deinit(&scratch);
}

/* Rows of all places, in the order of places. */
static void lines_make_rows(struct lines_table *t, const struct events *e, uint32_t *row_of,
                            uint32_t *row_on_stack, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t len = (uint32_t)e->all.len, *order = ARENA_NEW(&scratch, uint32_t, len);
    lines_order_places(order, e->all.at, len);
    t->rows = ARENA_NEW(a, struct lines_row, len);
    t->functions = (struct functions){.at = ARENA_NEW(a, struct function, len),
                                      .is_located = true,
                                      .objects = e->in->functions->objects};
    struct row_maker m = {
        .table = t, .events = e->all.at, .order = order, .row_of = row_of, .arena = a};
    struct lines_row *row = NULL;
    const struct event *before = NULL;
    for (uint32_t i = 0; i < len; i++) {
        const struct event *event = &e->all.at[order[i]];
        /* A place that is new ends the row before. */
        if (!before || lines_compare_places(before, event)) {
            if (row)
                lines_keep_chains(&m, row);
            uint32_t number = t->functions.len++;
            t->functions.at[number] = (struct function){.start = event->address,
                                                        .last = event->address,
                                                        .name = event->function,
                                                        .file = event->file,
                                                        .line = event->file ? event->line : 0,
                                                        .symbol = number,
                                                        .object = event->object,
                                                        .is_function = true};
            t->rows[number] = (struct lines_row){
                .function = number, .is_profiler = function_is_profiler(&t->functions, number)};
            row = &t->rows[number];
            before = NULL;
        }
        lines_book(&m, row, event, before);
        if (event->kind == EVENT_SELF)
            row_of[address_index_find(e->index, event->address)] = row->function;
        else if (event->kind == EVENT_ON_STACK)
            row_on_stack[event->count] = row->function;
        before = event;
    }
    if (row)
        lines_keep_chains(&m, row);
    t->len = t->functions.len;
    vec_free(&m.chains);
    arena_deinit(&scratch);
}

/* --- which rows, and in which order ---------------------------------------------------------- */

static uint64_t lines_calls_of(const struct lines_row *r)
{
    return r->calls > r->entered ? r->calls : r->entered;
}

static int lines_by_name(uint32_t left, uint32_t right, const void *context)
{
    struct lines_table *t = (struct lines_table *)context;
    return strcmp(names_get(&t->names, t->rows[left].function),
                  names_get(&t->names, t->rows[right].function));
}

static bool lines_passes(struct lines_table *t, const struct lines_row *r,
                         const struct view_rules *rules, struct object *const *objects)
{
    double share = summary_share(t->summary, t->has_totals ? r->total : r->self);
    return 100 * share >= rules->min_percent &&
           (!rules->filter->only_own || function_is_own(&t->functions, r->function, objects)) &&
           filter_admits(rules->filter, &t->names, r->function);
}

/* Sorts the rows, drops those that the rules do not want, and says how sure the others are. */
static void lines_choose_rows(struct lines_table *t, const struct view_rules *rules,
                              struct object *const *objects)
{
    struct arena scratch = {0};
    uint32_t len = t->len;
    struct keyed *sorted = ARENA_NEW(&scratch, struct keyed, len);
    struct lines_row *rows = t->rows;
    enum view_sort sort = rules->has_sort           ? rules->sort
                          : t->summary->has_samples ? BY_SELF
                                                    : BY_CALLS;
    for (uint32_t i = 0; i < len; i++)
        sorted[i].item = i;
    if (sort == BY_NAME)
        sort_equals(sorted, len, lines_by_name, t);
    /* Ties go to self, calls, then the order of places: the last pass decides. */
    const enum view_sort passes[] = {BY_CALLS, BY_SELF, sort};
    uint64_t *keys = ARENA_NEW(&scratch, uint64_t, len);
    for (size_t p = 0; p < 3 && sort != BY_NAME && (p < 2 || sort != BY_SELF); p++) {
        for (uint32_t i = 0; i < len; i++)
            keys[i] = passes[p] == BY_CALLS   ? ~lines_calls_of(&rows[i])
                      : passes[p] == BY_TOTAL ? sort_descending(rows[i].total)
                                              : sort_descending(rows[i].self);
        sort_by(sorted, len, keys);
    }
    /* Puts the rows in the order of `sorted`, which is used up. There are too many to copy them
     * all. */
    for (uint32_t start = 0; start < len; start++) {
        struct lines_row first = rows[start];
        uint32_t to = start;
        for (uint32_t from = sorted[to].item; from != start; from = sorted[to].item) {
            rows[to] = rows[from];
            sorted[to].item = to;
            to = from;
        }
        rows[to] = first;
        sorted[to].item = to;
    }
    arena_deinit(&scratch);
    /* How sure a row's self time is: by its samples on the stacks, as that of a function. */
    struct summary summary = *t->summary;
    bool has_stacks = t->stacks.self_error != NULL;
    summary.sharing = t->sharing.least ? &t->sharing : NULL;
    summary.measured = has_stacks ? &t->stacks : NULL;
    double running = 0;
    t->len = 0;
    for (uint32_t i = 0; i < len; i++) {
        struct lines_row *r = &t->rows[i];
        t->has_fractions |= r->self != floor(r->self) || r->total != floor(r->total);
        if ((rules->limit && t->len >= rules->limit) || !lines_passes(t, r, rules, objects)) {
            t->omitted.lines++;
            t->omitted.self += r->self;
            continue;
        }
        r->running = running += r->self;
        r->interval = summary_self_interval(&summary, r->function,
                                            has_stacks ? t->stacks.self[r->function] : r->self);
        t->rows[t->len++] = *r;
    }
}

/* --- code without lines ---------------------------------------------------------------------- */

/* Objects of which all code that was measured is without lines. */
static void lines_find_lineless(struct lines_table *t, const struct lines_input *in,
                                struct arena *a)
{
    struct arena scratch = {0};
    bool *has_lines = ARENA_NEW(&scratch, bool, in->objects_len);
    double *without = ARENA_NEW(&scratch, double, in->objects_len);
    for (uint32_t i = 0; i < t->len; i++) {
        const struct function *at = &t->functions.at[t->rows[i].function];
        double self = at->file ? 0 : t->rows[i].self;
        has_lines[at->object] |= at->file != NULL;
        without[at->object] += self;
        t->without_line += self;
    }
    /* Waits have no lines, which needs no message. */
    const char **lineless = ARENA_NEW(a, const char *, in->objects_len);
    const struct function_object *known = in->functions->objects;
    for (uint32_t i = 0; i < in->objects_len; i++)
        if (without[i] > 0 && !has_lines[i] && !(known && known[i].is_recorder) &&
            strcmp(in->object_names[i], "[waiting]"))
            lineless[t->lineless_len++] = in->object_names[i];
    t->lineless = lineless;
    arena_deinit(&scratch);
}

void lines_make(struct lines_table *t, const struct lines_input *in, const struct view_rules *rules,
                struct arena *a)
{
    struct arena scratch = {0};
    struct measured measured;
    struct pieces p = {.in = in};
    *t = (struct lines_table){.summary = in->summary,
                              .has_inlines = in->has_inlines,
                              .has_totals = in->has_inlines || (in->stacks && in->summary->stacks)};
    measured_init(&measured, in->profile, in->functions);
    const struct functions *f = in->functions;
    size_t next = 0; /* of what was measured, by address */
    /* Inlined functions, which are after those with code, have none to be cut. */
    for (uint32_t first = 0, end; first < f->index.len; first = end) {
        struct measured ranges = {0};
        p.object = f->at[first].object;
        p.base = f->objects ? f->objects[p.object].base : 0;
        for (end = first; end < f->index.len && f->at[end].object == p.object;)
            end++;
        /* What of the functions of an object was measured. */
        for (uint32_t i = first; i < end; i++) {
            uint64_t low = f->at[i].start, high = f->at[i].last + 1;
            while (next < measured.ranges.len && measured.ranges.at[next].high <= low)
                ++next;
            for (size_t k = next; k < measured.ranges.len && measured.ranges.at[k].low < high;
                 k++) {
                struct object_range r = measured.ranges.at[k];
                r.low = r.low > low ? r.low : low;
                r.high = r.high < high ? r.high : high;
                vec_push(&ranges.ranges, r);
            }
        }
        lines_walk_object(&p, &ranges);
        measured_deinit(&ranges);
    }
    measured_deinit(&measured);

    /* Samples are booked on pieces as on functions. */
    struct attribution time;
    uint32_t len = (uint32_t)p.all.len;
    struct address_index index = {.at = ARENA_NEW(&scratch, struct indexed_range, len), .len = len};
    for (uint32_t i = 0; i < len; i++)
        index.at[i] = (struct indexed_range){p.all.at[i].start, p.all.at[i].last};
    address_index_build(&index, &scratch);
    attribute_native(&time, in->profile, &index, &scratch);
    struct events events = {
        .in = in, .pieces = p.all.at, .index = &index, .arena = a, .paths.arena = a};
    for (uint32_t i = 0; i < index.len; i++)
        if (time.self[i] != 0)
            lines_add_samples(&events, i, time.self[i]);
    for (size_t i = 0; i < in->profile->arcs.len; i++) {
        const struct arc *arc = &in->profile->arcs.at[i];
        if (arc->from) /* a call was made just before the address it returns to */
            lines_add_calls(&events, arc->from - 1, EVENT_CALLS, arc->count);
        uint32_t callee = functions_find(f, arc->self);
        if (callee != NO_FUNCTION)
            lines_add_calls(&events, f->at[callee].start, EVENT_ENTERED, arc->count);
    }
    struct stack_lines on_stack = {0};
    if (in->stacks)
        stack_lines_find(&on_stack, in->stacks, &scratch);
    /* A line that is on stacks has a row, also where nothing was measured in the line itself. */
    for (size_t i = 0; i < on_stack.all.len; i++) {
        const struct stack_line *line = &on_stack.all.at[i];
        vec_push(&events.all, ((struct event){.function = line->name,
                                              .file = lines_tidy_path(&events.paths, line->file),
                                              .line = line->line,
                                              .object = f->at[line->function].object,
                                              .own = line->file ? 0 : line->function,
                                              .kind = EVENT_ON_STACK,
                                              .address = line->address,
                                              .count = i}));
    }
    uint32_t *row_of = ARENA_NEW(&scratch, uint32_t, index.len);
    uint32_t *row_on_stack = ARENA_NEW(&scratch, uint32_t, on_stack.all.len);
    memset(row_of, -1, index.len * sizeof *row_of);
    lines_make_rows(t, &events, row_of, row_on_stack, a);
    if (in->stacks)
        stack_lines_measure(&t->stacks, &on_stack, row_on_stack, t->functions.len, true, a);
    /* Samples that were placed were rounded: a line has at least its own. */
    for (uint32_t i = 0; in->stacks && i < t->len; i++)
        t->rows[i].total = fmax(t->rows[i].self, t->stacks.inclusive[i]);
    stack_lines_deinit(&on_stack);
    if (!t->summary->measured)
        sharing_find(&t->sharing, in->profile, &index, row_of, t->functions.len, a);
    vec_free(&events.all);
    vec_free(&events.paths.tidy);
    map_deinit(&events.paths.number);
    vec_free(&p.all);
    names_init(&t->names, &t->functions, in->demangle, a);
    lines_find_lineless(t, in, a);
    lines_choose_rows(t, rules, in->objects);
    arena_deinit(&scratch);
}
