/* Where code comes from: source line, function and the calls that were inlined there; of one
 * address, and of all code in the order of addresses.
 *
 * Puts together what units, line tables and functions say; reads nothing itself. Where debug
 * information knows no function, or in a language whose names it does not spell as the symbol table
 * does, the symbol table is asked, as in BFD.
 *
 * A walk visits stretches of code with one line of one function:
 *
 *     units      |--------------- a ---------------|------- b ---
 *     rows       | 10     | 11   | 10 | 12         |
 *     functions  |---- f --------|- g ----|- f ----|
 *     places     | f 10   | f 11 |g 10|g12| f 12   | ...
 *
 * Units are read when the walk reaches them and may be forgotten afterwards, so it takes no more
 * memory for a large program than for its largest unit. Answers are those of object_frames(): where
 * units overlap, a first pass over all line tables decides whose code it is. Neighbours that say
 * the same are joined before they are visited. */
#include "objfile/private.h"

#include "base/sort.h"
#include "objfile/debug_info.h"

#include <dwarf.h>
#include <string.h>

/* What says lines in place of DWARF: an excerpt, or Go's own table; or NULL. */
static const struct excerpt *told_places(struct object *o)
{
    return o->excerpt ? o->excerpt : go_places(o);
}

/* --- one address ------------------------------------------------------------------------------ */

/* The first unit that has a row for the address; see units_find(). */
bool object_line(struct object *o, uint64_t address, const char **file, uint32_t *line)
{
    const struct excerpt *told = told_places(o);
    if (told)
        return excerpt_line(told, address, file, line);
    *file = NULL;
    *line = 0;
    struct line_table *table;
    const struct line_row *row;
    if (units_find(units_of(o), address, &table, &row) == NO_UNIT)
        return false;
    *file = line_table_path(table, row->file, &o->arena);
    *line = *file ? row->line : 0;
    return *file;
}

/* Most units of C have lines of one file only where nothing is inlined from headers: then the
 * table's header says it. */
const char *object_file(struct object *o, uint64_t address)
{
    const char *file;
    uint32_t line;
    const struct excerpt *told = told_places(o);
    if (told)
        return excerpt_line(told, address, &file, &line) ? file : NULL;
    struct units *u = units_of(o);
    uint32_t unit = unit_around(u, address, 0);
    file = unit == NO_UNIT ? NULL : unit_sole_path(u, unit, &o->arena);
    if (!file)
        object_line(o, address, &file, &line);
    return file;
}

/* The name a function goes by: its linkage name, else the symbol where it starts, if it is one
 * of its own, else its name in the source, else NULL. */
static const char *frame_function(struct object *o, struct scopes *s, uint32_t scope)
{
    struct scope *named = &s->scopes.at[scope];
    scope_name(s, scope);
    if (named->is_linkage)
        return named->name;
    named->is_linkage = true; /* read once */
    const struct object_symbol *symbol =
        named->is_inlined && !o->bfd_version ? NULL : nearest_symbol(o, named->low);
    if (symbol && symbol->address == named->low)
        named->name = symbol->name;
    return named->name;
}

/* From the innermost scope outwards: a frame's place is the call in it, so the file and line of
 * each come from the scope before. */
size_t object_frames(struct object *o, uint64_t address, struct object_frame *frames, size_t most)
{
    const struct excerpt *told = told_places(o);
    if (told)
        return excerpt_frames(told, address, frames, most);
    struct units *u = units_of(o);
    struct object_frame frame = {0};
    struct line_table *table;
    const struct line_row *row;
    uint32_t unit = units_find(u, address, &table, &row);
    size_t len = 0;
    uint32_t scope = NO_SCOPE;
    struct scopes *s = NULL;
    if (unit != NO_UNIT) {
        frame.file = line_table_path(table, row->file, &o->arena);
        frame.line = frame.file ? row->line : 0;
        s = unit_scopes(u, unit);
        scope = scopes_at(s, address);
    }
    for (; scope != NO_SCOPE && s->scopes.at[scope].is_inlined && len < most; len++) {
        uint32_t file;
        frame.function = frame_function(o, s, scope);
        frames[len] = frame;
        frame = (struct object_frame){0};
        if (scope_call(s, scope, &file, &frame.line))
            frame.file = line_table_path(table, file, &o->arena);
        scope = s->scopes.at[scope].parent;
    }
    const struct object_symbol *symbol = scope == NO_SCOPE ? nearest_symbol(o, address) : NULL;
    frame.function = scope != NO_SCOPE ? frame_function(o, s, scope) : symbol ? symbol->name : NULL;
    if (len < most && (frame.function || frame.file))
        frames[len++] = frame;
    return len;
}

/* Of an excerpt no units are known. */
bool object_may_inline(struct object *o, uint64_t address)
{
    struct line_table *table;
    const struct line_row *row;
    if (told_places(o))
        return true;
    uint32_t unit = units_find(units_of(o), address, &table, &row);
    return unit != NO_UNIT && unit_may_inline(units_of(o), unit);
}

/* --- all code --------------------------------------------------------------------------------- */

struct spans {
    struct span *at;
    size_t len, cap;
};

/* The function the walk is in: [start, end) is one segment of a unit's functions. */
struct here {
    uint64_t start, end;
    size_t segment;
    uint32_t scope;
    const char *function;
};

/* A walk over code: where it is, and the place that may still grow. */
struct walk {
    struct object *o;
    struct units *u;
    struct here here;
    struct object_place place; /* not yet visited: what follows may belong to it */
    bool tells_inlinings, tells_rows;
    object_visitor *visit;
    void *context;
};

/* Texts are mostly the same pointer. */
static bool walk_same_text(const char *left, const char *right)
{
    return left == right || (left && right && !strcmp(left, right));
}

/* Visits the place that is complete, if there is one. */
static void walk_flush(struct walk *w)
{
    if (w->place.start < w->place.end)
        w->visit(&w->place, w->context);
    w->place.end = w->place.start;
}

/* Joins a stretch to the one before it, or visits that one and begins anew. */
static void walk_add_place(struct walk *w, const struct object_place *next)
{
    struct object_place *p = &w->place;
    if (!w->tells_rows && p->start < p->end && p->end == next->start && p->line == next->line &&
        (!w->tells_inlinings || p->inlining == next->inlining) &&
        walk_same_text(p->file, next->file) && walk_same_text(p->function, next->function)) {
        p->end = next->end;
        return;
    }
    walk_flush(w);
    *p = *next;
}

/* Code of one line that is in no function of the debug information: symbols divide it. */
static void walk_add_unscoped(struct walk *w, struct object_place *p, uint64_t end)
{
    while (p->start < end) {
        const struct object_symbol *symbol = nearest_symbol(w->o, p->start);
        uint64_t next = nearest_after(w->o, p->start);
        p->function = symbol ? symbol->name : NULL;
        p->inlining = NO_SCOPE;
        p->end = next < end ? next : end;
        walk_add_place(w, p);
        p->start = p->end;
    }
}

/* Code of one line: functions divide it. */
static void walk_add_line(struct walk *w, struct scopes *s, struct object_place *p, uint64_t end)
{
    uint64_t row = p->start;
    while (p->start < end) {
        if (p->start < w->here.start || p->start >= w->here.end) {
            /* Moves on to the segment with an address beyond the current one. */
            uint64_t address = p->start;
            struct here *h = &w->here;
            const struct segment *segments = s->cover.segments.at;
            size_t len = s->cover.segments.len;
            bool is_next = h->segment + 1 < len && address >= segments[h->segment + 1].start &&
                           (h->segment + 2 == len || address < segments[h->segment + 2].start);
            h->segment = is_next ? h->segment + 1 : interval_map_find(&s->cover, address);
            bool is_before_all = h->segment == SIZE_MAX;
            h->start = is_before_all ? 0 : segments[h->segment].start;
            h->end = h->segment + 1 < len ? segments[h->segment + 1].start : UINT64_MAX;
            h->scope = is_before_all ? NO_SCOPE : segments[h->segment].id;
            h->function = h->scope == NO_SCOPE ? NULL : frame_function(w->o, s, h->scope);
        }
        if (w->here.scope == NO_SCOPE && s->is_partial && p->start == row) {
            /* Code of a function within one that was left out, perhaps: padding, in contrast, has
             * no row of its own. Places that are not visited yet have numbers that mean nothing
             * from now on. */
            walk_flush(w);
            unit_all_scopes(w->u, p->unit);
            w->here = (struct here){.segment = SIZE_MAX - 1};
            continue;
        }
        uint64_t next = w->here.end < end ? w->here.end : end;
        if (w->here.scope == NO_SCOPE) {
            walk_add_unscoped(w, p, next);
            continue;
        }
        p->function = w->here.function;
        p->inlining = w->here.scope;
        p->end = next;
        walk_add_place(w, p);
        p->start = next;
    }
}

/* Ends of ranges that are cut to one another. */
static uint64_t walk_later(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static uint64_t walk_earlier(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/* The rows of one sequence within [low, high). */
static void walk_rows(struct walk *w, struct line_table *t, struct scopes *s, uint32_t unit,
                      const struct line_sequence *sequence, uint64_t low, uint64_t high)
{
    low = walk_later(low, sequence->low);
    high = walk_earlier(high, sequence->high);
    const struct line_row *row = line_table_find(t, low);
    const struct line_row *end = t->rows.at + sequence->first + sequence->len;
    struct object_place p = {.unit = unit};
    size_t behind = w->tells_rows && row ? line_table_discriminators_until(t, row->address) : 0;
    for (const struct line_row *last = NULL; row && row < end && row->address < high; row++) {
        uint64_t row_end = row + 1 < end ? walk_earlier(row[1].address, high) : high;
        if (!last || last->file != row->file)
            p.file = line_table_path(t, row->file, &w->o->arena);
        last = row;
        p.start = walk_later(row->address, low);
        p.line = row->line;
        if (w->tells_rows)
            p.discriminator = line_table_discriminator(t, row, &behind);
        if (p.file)
            walk_add_line(w, s, &p, row_end);
    }
}

/* The code of one unit in [low, high), sequence by sequence. */
static void walk_unit(struct walk *w, uint32_t unit, uint64_t low, uint64_t high)
{
    struct line_table *t = unit_table(w->u, unit);
    size_t first = line_table_sequence_from(t, low);
    if (first == t->sequences.len || t->sequences.at[first].low >= high)
        return;
    struct scopes *s = unit_scopes(w->u, unit);
    w->here = (struct here){.segment = SIZE_MAX - 1}; /* nowhere */
    for (size_t i = first; i < t->sequences.len && t->sequences.at[i].low < high; i++)
        walk_rows(w, t, s, unit, &t->sequences.at[i], low, high);
}

/* Which unit counts where: the first one that has lines there. Where no units overlap, ranges say
 * it all; else each is cut down to what its unit has lines for, unit by unit, so that each line
 * table is read once. */
static struct interval_map walk_cover_of_units(struct units *u)
{
    bool do_overlap = false;
    for (size_t i = 1; i < u->ranges.len && !do_overlap; i++)
        do_overlap = u->ranges.at[i].low < u->ranges.at[i - 1].reach;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, do_overlap ? u->ranges.len : 0);
    for (size_t i = 0; i < u->ranges.len && do_overlap; i++)
        order[i] = (struct keyed){u->ranges.at[i].unit, (uint32_t)i};
    sort_keyed(order, do_overlap ? u->ranges.len : 0);
    struct spans spans = {0};
    for (size_t i = 0; i < u->ranges.len; i++) {
        const struct unit_range *r = &u->ranges.at[do_overlap ? order[i].item : i];
        if (!do_overlap) {
            vec_push(&spans, (struct span){r->low, r->high, 0, r->unit});
            continue;
        }
        const struct line_table *t = unit_table(u, r->unit);
        for (size_t k = line_table_sequence_from(t, r->low);
             k < t->sequences.len && t->sequences.at[k].low < r->high; k++)
            vec_push(&spans, (struct span){.low = walk_later(r->low, t->sequences.at[k].low),
                                           .high = walk_earlier(r->high, t->sequences.at[k].high),
                                           .rank = r->unit,
                                           .id = r->unit});
    }
    arena_deinit(&scratch);
    struct interval_map cover;
    interval_map_init(&cover, spans.at, spans.len);
    vec_free(&spans);
    return cover;
}

/* The places of an excerpt in the ranges, each as an inlining of its own. */
static void walk_excerpt(struct walk *w, const struct excerpt *x, const struct object_range *ranges,
                         size_t len)
{
    for (size_t i = 0; i < len; i++) {
        size_t at = excerpt_place_from(x, ranges[i].low);
        for (; at < x->places_len && x->places[at].start < ranges[i].high; at++) {
            const struct excerpt_read_place *from = &x->places[at];
            struct object_place p = {.start = walk_later(from->start, ranges[i].low),
                                     .end = walk_earlier(from->end, ranges[i].high),
                                     .function = x->scopes[from->scope - 1].name,
                                     .file = from->file,
                                     .line = from->line,
                                     .inlining = (uint32_t)at};
            walk_add_place(w, &p);
        }
    }
    walk_flush(w);
}

/* From the first unit on that lies in the ranges; each unit's lines are decoded once. */
static void walk_ranges(struct walk *w, const struct object_range *ranges, size_t len)
{
    const struct excerpt *told = told_places(w->o);
    if (told) {
        walk_excerpt(w, told, ranges, len);
        return;
    }
    w->u = units_of(w->o);
    if (!w->u->has_cover)
        w->u->cover = walk_cover_of_units(w->u);
    w->u->has_cover = true;
    const struct interval_map *cover = &w->u->cover;
    size_t from = len ? interval_map_find(cover, ranges[0].low) : 0, next = 0;
    for (size_t i = from == SIZE_MAX ? 0 : from; i + 1 < cover->segments.len && next < len; i++) {
        /* What of this stretch of one unit lies in the ranges, of which all before `next` are
         * passed. */
        const struct segment *s = &cover->segments.at[i];
        uint64_t end = s[1].start;
        while (next < len && ranges[next].high <= s->start)
            next++;
        for (size_t k = next; k < len && ranges[k].low < end && s->id != NO_SPAN; k++)
            walk_unit(w, s->id, walk_later(ranges[k].low, s->start),
                      walk_earlier(ranges[k].high, end));
    }
    walk_flush(w);
}

/* The three differ in which neighbours are joined: equal ones, equal ones of one inlining, none. */
void object_each_place_within(struct object *o, const struct object_range *ranges, size_t len,
                              object_visitor *visit, void *context)
{
    struct walk w = {.o = o, .visit = visit, .context = context};
    walk_ranges(&w, ranges, len);
}

/* Needed to distinguish copies of one inlined function. */
void object_each_inlining_within(struct object *o, const struct object_range *ranges, size_t len,
                                 object_visitor *visit, void *context)
{
    struct walk w = {.o = o, .visit = visit, .context = context, .tells_inlinings = true};
    walk_ranges(&w, ranges, len);
}

void object_each_row_within(struct object *o, const struct object_range *ranges, size_t len,
                            object_visitor *visit, void *context)
{
    struct walk w = {.o = o, .visit = visit, .context = context, .tells_rows = true};
    walk_ranges(&w, ranges, len);
}

void object_each_place(struct object *o, uint64_t low, uint64_t high, object_visitor *visit,
                       void *context)
{
    object_each_place_within(o, &(struct object_range){low, high}, 1, visit, context);
}

/* --- positions -------------------------------------------------------------------------------- */

/* Frames beyond these are of no use to a compiler, which inlines no deeper. */
enum { MOST_POSITION_FRAMES = 64 };

/* The visitor of rows that makes positions of them. */
struct positions {
    struct object *o;
    object_position_chooser *choose; /* NULL: all rows */
    object_position_visitor *visit;
    void *context;
};

/* Compilers know functions by linkage names, and those that have none by their own name, without
 * what is around them (owners.c). */
static const char *position_function(const char *name)
{
    const char *own = name;
    int depth = 0;
    for (const char *at = name; at && *at; at++) {
        depth += (strchr("<({", *at) != NULL) - (strchr(">)}", *at) && at > name && at[-1] != '-');
        if (!depth && at[0] == ':' && at[1] == ':' && at[2])
            own = at + 2;
    }
    return own;
}

/* From the innermost function outwards: each call's place is in the function around it. The tables
 * are those of the unit that the walk is in, and so in memory. */
static void positions_visit_row(const struct object_place *place, void *context)
{
    const struct positions *p = context;
    if (p->choose && !p->choose(place->start, place->end, p->context))
        return;
    struct units *u = units_of(p->o);
    struct object_position_frame frames[MOST_POSITION_FRAMES];
    struct object_position_frame frame = {
        .file = place->file, .line = place->line, .discriminator = place->discriminator};
    struct object_position position = {.start = place->start, .end = place->end, .frames = frames};
    struct scopes *s = place->inlining == NO_SCOPE ? NULL : unit_scopes(u, place->unit);
    uint32_t scope = place->inlining;
    while (s && scope != NO_SCOPE && position.len < MOST_POSITION_FRAMES) {
        bool is_inlined = s->scopes.at[scope].is_inlined;
        frame.function = position_function(frame_function(p->o, s, scope));
        frame.declared = scope_declared(s, scope);
        frames[position.len++] = frame;
        if (!is_inlined)
            break;
        uint32_t file;
        frame = (struct object_position_frame){0};
        if (scope_call(s, scope, &file, &frame.line))
            frame.file = line_table_path(unit_table(u, place->unit), file, &p->o->arena);
        frame.discriminator = scope_call_discriminator(s, scope);
        scope = s->scopes.at[scope].parent;
        position.is_cut = scope == NO_SCOPE || position.len == MOST_POSITION_FRAMES;
    }
    if (!s) {
        frame.function = place->function;
        frames[position.len++] = frame;
    }
    p->visit(&position, p->context);
}

void object_each_position_within(struct object *o, const struct object_range *ranges, size_t len,
                                 object_position_chooser *choose, object_position_visitor *visit,
                                 void *context)
{
    struct positions p = {o, choose, visit, context};
    if (o->excerpt)
        return;
    /* Most functions of a large program were never sampled. */
    struct wanted_code wanted = {ranges, len};
    units_keep_discriminators(units_of(o));
    units_want(units_of(o), &wanted);
    object_each_row_within(o, ranges, len, positions_visit_row, &p);
    units_want(units_of(o), NULL);
}

const char *object_producer(struct object *o, uint64_t address)
{
    Dwarf_Attribute found;
    if (o->excerpt)
        return NULL;
    struct units *u = units_of(o);
    uint32_t unit = unit_around(u, address, 0);
    Dwarf_Die *die = unit == NO_UNIT ? NULL : &u->units.at[unit].die;
    return die && die->cu && dwarf_attr(die, DW_AT_producer, &found) ? dwarf_formstring(&found)
                                                                     : NULL;
}
