/* Counts of lines given addresses in a program. bridge.h has the rules of what goes where.
 *
 *   names of the counts ─► symbols of the program          (definitions)
 *   files of the counts ─► paths of its line tables        (by last component, then by ends)
 *   one walk over all line tables ─► rows on lines with counts, sorted by line and address
 *   each line of each function ─► its rows ─► block records
 *
 * The walk over the line tables is the costly part: ten million rows in a large program, most of
 * them on lines without counts. So whatever a row needs is one look-up by pointer (paths and
 * function names repeat in debug information), and only rows of interest are kept.
 *
 * Names are compared without what makes clones of them (.part.0, .cold), and constructors as one
 * whichever of their bodies it is. A count never gets lost in silence: lines, functions and files
 * that found no place are counted, each with an example. */
#include "bridge/bridge.h"

#include "base/bytes.h"
#include "base/path.h"
#include "base/sort.h"

#include <string.h>

#define NONE UINT32_MAX

/* GNU gprof keeps ten blocks of a line. */
enum { MOST_ENTRIES = 10 };

/* All counts of one line of one file. */
struct group {
    uint32_t first, len; /* counts */
    uint32_t first_row, rows;
};

/* A row of a line table on a line that has counts. */
struct row {
    uint64_t start, end;
    uint32_t group, function, scope; /* scope: number of its name; NONE: of no interest */
};

/* A symbol of a function that has counts. */
struct definition {
    uint32_t bare, function, next; /* next: of the same name */
    uint32_t next_here;            /* of the same function */
    const struct object_symbol *symbol;
};

/* One call of place_counts(). */
struct place {
    const struct placing *in;
    struct profile *out;
    struct placed *report;
    struct arena *arena;

    struct intern bare;    /* names of functions without what makes clones of them */
    VEC(uint32_t) bare_of; /* by name of the counts */
    VEC(uint32_t) kin_of;  /* likewise, placing_unified() */
    VEC(bool) is_placed;   /* by name of the counts: some line of it */
    VEC(bool) is_there;    /* by bare name: the program has code of it */
    struct map scopes;     /* pointer of a name -> bare name or NONE */
    VEC(struct definition) definitions;
    VEC(uint32_t) first_definition; /* by bare name */
    VEC(uint32_t) definition_here;  /* by function */

    struct map by_base;      /* hash of a last component -> file of the counts */
    VEC(uint32_t) next_base; /* chain */
    struct map paths;        /* pointer of a path -> file of the counts or NONE */
    VEC(bool) is_mentioned;  /* by file of the counts */
    VEC(const char *) similar;

    VEC(struct group) groups;
    struct map group_of; /* (file, line) */
    VEC(struct row) rows;
    struct map row_of;     /* (group, bare name) -> the first row in code of that function */
    VEC(bool) has_records; /* by function */
    struct map is_used;    /* (group, function) */
};

/* ---- names of functions */

/* Without .part.0, .constprop.1, .cold and the number of a nested function. */
static size_t placing_bare_length(const char *name)
{
    const char *dot = *name ? strchr(name + 1, '.') : NULL;
    return dot ? (size_t)(dot - name) : strlen(name);
}

/* The number of a name that some count has, or NONE: other functions do not matter. */
static uint32_t placing_bare_number(struct place *p, const char *name)
{
    uint32_t number = intern(&p->bare, name, placing_bare_length(name));
    return number < p->is_there.len ? number : NONE;
}

/* A constructor or destructor has several bodies, _ZN1AC1Ev and _ZN1AC2Ev; where one is inlined,
 * debug information speaks of _ZN1AC4Ev. That the same letters may stand in an identifier does no
 * harm. */
static char *placing_unified(const char *name, size_t len, struct arena *a)
{
    char *text = arena_copy(a, name, len);
    for (size_t i = 2; len > 4 && !strncmp(text, "_Z", 2) && i + 2 < len; i++)
        if ((text[i] == 'C' || text[i] == 'D') && memchr("01235", text[i + 1], 5) &&
            (text[i + 2] == 'E' || text[i + 2] == 'I'))
            text[i + 1] = '4';
    return text;
}

/* Names in the counts come first, so that what is found later has smaller numbers or NONE. */
static void placing_number_names(struct place *p)
{
    const struct intern *names = &p->in->counts->names;
    for (uint32_t i = 0; i < names->texts.len; i++) {
        const char *name = intern_text(names, i);
        size_t len = placing_bare_length(name);
        vec_push(&p->bare_of, intern(&p->bare, name, len));
        vec_push(&p->is_placed, false);
        vec_push(&p->kin_of, intern(&p->bare, placing_unified(name, len, p->arena), len));
    }
    for (size_t i = 0; i < p->bare.texts.len; i++) {
        vec_push(&p->is_there, false);
        vec_push(&p->first_definition, NONE);
    }
}

/* Symbols of functions that have counts, chained by name and by function: aliases make several of
 * one function, static functions of one name several of one name. */
static void placing_find_homes(struct place *p)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(p->in->object, &len, NULL);
    for (size_t i = 0; i < len; i++) {
        const struct object_symbol *s = &symbols[i];
        if (s->type == SYMBOL_OBJECT || s->type == SYMBOL_TLS || s->type == SYMBOL_COMMON)
            continue;
        uint32_t function = functions_find(p->in->functions, s->address);
        uint32_t bare = function == NO_FUNCTION ? NONE : placing_bare_number(p, s->name);
        if (bare == NONE)
            continue;
        p->is_there.at[bare] = true;
        vec_push(&p->definitions, ((struct definition){bare, function, p->first_definition.at[bare],
                                                       p->definition_here.at[function], s}));
        p->first_definition.at[bare] = p->definition_here.at[function] =
            (uint32_t)p->definitions.len - 1;
    }
}

/* The function that debug information says a row is of, inlined ones included. */
static uint32_t placing_scope_number(struct place *p, const char *name)
{
    bool is_new;
    if (!name)
        return NONE;
    uint32_t *known = map_at(&p->scopes, map_pointer(name), 0, NONE, &is_new);
    if (is_new)
        *known = placing_bare_number(p, name);
    return *known;
}

/* ---- files */

static uint64_t placing_base_hash(const char *path)
{
    const char *base = path_base_name(path);
    return hash_bytes(base, strlen(base));
}

/* The file of the counts that a path of the program is; else the first of which one is the end of
 * the other, as old notes do not say where the compiler ran. */
static uint32_t placing_match_file(struct place *p, const char *path)
{
    const struct intern *files = &p->in->counts->files;
    const uint32_t *first = map_find(&p->by_base, placing_base_hash(path), 0);
    uint32_t found = NONE;
    for (uint32_t i = first ? *first : NONE; i != NONE; i = p->next_base.at[i]) {
        const char *wanted = intern_text(files, i);
        if (!strcmp(wanted, path))
            return i;
        if (path_ends_in(path, wanted) || path_ends_in(wanted, path))
            found = i;
        if (!p->similar.at[i] && !strcmp(path_base_name(wanted), path_base_name(path)))
            p->similar.at[i] = path;
    }
    return found;
}

static uint32_t placing_file_number(struct place *p, const char *path)
{
    bool is_new;
    uint32_t *known = map_at(&p->paths, map_pointer(path), 0, NONE, &is_new);
    if (is_new) {
        *known = placing_match_file(p, source_mapped(p->in->maps, path, p->arena));
        if (*known != NONE)
            p->is_mentioned.at[*known] = true;
    }
    return *known;
}

/* ---- the program's rows */

static void placing_visit_row(const struct object_place *place, void *context)
{
    struct place *p = context;
    uint32_t file = place->file && place->line ? placing_file_number(p, place->file) : NONE;
    const uint32_t *group = file == NONE ? NULL : map_find(&p->group_of, file, place->line);
    if (!group)
        return;
    uint32_t scope = placing_scope_number(p, place->function);
    if (scope != NONE)
        p->is_there.at[scope] = true;
    p->groups.at[*group].rows++;
    vec_push(&p->rows, ((struct row){.start = place->start,
                                     .end = place->end,
                                     .group = *group,
                                     .function = functions_find(p->in->functions, place->start),
                                     .scope = scope}));
}

/* By group, then address. */
static void placing_sort_rows(struct place *p)
{
    struct arena scratch = {0};
    uint32_t first = 0, len = (uint32_t)p->rows.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct row *copy = ARENA_NEW(&scratch, struct row, len);
    for (uint32_t i = 0; i < len; i++) {
        copy[i] = p->rows.at[i];
        order[i] = (struct keyed){copy[i].group, i};
    }
    sort_keyed(order, len);
    for (uint32_t i = 0; i < len; i++)
        p->rows.at[i] = copy[order[i].item];
    for (size_t i = 0; i < p->groups.len; first += p->groups.at[i++].rows)
        p->groups.at[i].first_row = first;
    arena_deinit(&scratch);
}

/* ---- choosing */

/* One record. It is noted that the function has some, and which lines it has them of. */
static void placing_put(struct place *p, uint32_t group, uint32_t function, uint64_t address,
                        uint64_t count)
{
    vec_push(&p->out->blocks, ((struct block){address, count}));
    if (function == NO_FUNCTION)
        return;
    p->has_records.at[function] = true;
    map_at(&p->is_used, group, function, 0, NULL);
}

/* Gives the entries to rows from `row` on, as far as these touch. */
static void placing_put_entries(struct place *p, uint32_t group, uint32_t row,
                                const struct line_count *entries, uint32_t len)
{
    uint32_t end = p->groups.at[group].first_row + p->groups.at[group].rows;
    const struct row *rows = p->rows.at;
    for (uint32_t i = 0; i < len; i++) {
        placing_put(p, group, rows[row].function, rows[row].start, entries[i].count);
        if (row + 1 < end && rows[row].end == rows[row + 1].start && i + 1 < MOST_ENTRIES &&
            rows[row].function == rows[row + 1].function && rows[row].scope == rows[row + 1].scope)
            row++;
    }
}

/* The function's own symbol, not one of a clone, in a file of the counts; or NULL. */
static const struct definition *placing_entry_of(struct place *p, uint32_t name, uint32_t file,
                                                 uint32_t *line)
{
    const char *wanted = intern_text(&p->in->counts->names, name), *path;
    uint32_t at = p->first_definition.at[p->bare_of.at[name]];
    for (; at != NONE; at = p->definitions.at[at].next) {
        const struct definition *h = &p->definitions.at[at];
        if (!strcmp(h->symbol->name, wanted) &&
            object_line(p->in->object, h->symbol->address, &path, line) &&
            placing_file_number(p, path) == file)
            return h;
    }
    return NULL;
}

/* Rule 2 of bridge.h: the line of the declaration has no code, and the function's first address
 * belongs to a line without counts. */
static bool placing_put_at_entry(struct place *p, uint32_t group, const struct line_count *entries,
                                 uint32_t len)
{
    uint32_t line;
    const struct definition *h = placing_entry_of(p, entries->function, entries->file, &line);
    if (!h || map_find(&p->group_of, entries->file, line))
        return false;
    for (uint32_t i = 0; i < len; i++)
        placing_put(p, group, h->function, h->symbol->address, entries[i].count);
    return true;
}

static bool placing_is_there(const struct place *p, uint32_t name)
{
    return p->is_there.at[p->bare_of.at[name]] || p->is_there.at[p->kin_of.at[name]];
}

/* The rules of bridge.h in order: the function's own rows, its entry, any row. */
static bool placing_put_line(struct place *p, uint32_t group, const struct line_count *entries,
                             uint32_t len)
{
    const struct group *g = &p->groups.at[group];
    const uint32_t *own = map_find(&p->row_of, group, p->bare_of.at[entries->function]);
    own = own ? own : map_find(&p->row_of, group, p->kin_of.at[entries->function]);
    if (own) {
        placing_put_entries(p, group, *own, entries, len);
        return true;
    }
    if (entries->is_start && placing_put_at_entry(p, group, entries, len))
        return true;
    if (!g->rows || entries->is_end)
        return false;
    placing_put_entries(p, group, g->first_row, entries, len);
    return true;
}

/* The example is a line that was executed, if there is one: its count is what is missed. */
static void placing_report_line(struct place *p, const struct line_count *entries, uint32_t len)
{
    struct placed *r = p->report;
    bool is_executed = false;
    for (uint32_t i = 0; i < len; i++)
        is_executed |= entries[i].count != 0;
    if (!r->no_code++ || (is_executed && !r->executed)) {
        r->line_file = intern_text(&p->in->counts->files, entries->file);
        r->line_function = intern_text(&p->in->counts->names, entries->function);
        r->line = entries->line;
    }
    r->executed += is_executed;
}

/* All functions' entries on one line. */
static void placing_put_group(struct place *p, uint32_t group)
{
    const struct group *g = &p->groups.at[group];
    const struct line_count *counts = p->in->counts->at.at;
    for (uint32_t i = g->first, end; i < g->first + g->len; i = end) {
        for (end = i; end < g->first + g->len && counts[end].function == counts[i].function;)
            end++;
        bool is_placed =
            p->is_mentioned.at[counts[i].file] && placing_put_line(p, group, &counts[i], end - i);
        if (is_placed)
            p->is_placed.at[counts[i].function] = true;
        if (counts[i].is_end || (!is_placed && !placing_is_there(p, counts[i].function)) ||
            !p->is_mentioned.at[counts[i].file])
            continue;
        p->report->lines++;
        if (!is_placed)
            placing_report_line(p, &counts[i], end - i);
    }
}

/* ---- the rest */

/* An arc from nowhere to each function that was called. Two names of one address are one arc. */
static void placing_put_calls(struct place *p)
{
    const struct line_counts *c = p->in->counts;
    struct map done = {0};
    for (size_t i = 0; i < c->functions.len; i++) {
        uint32_t line;
        const struct called_function *f = &c->functions.at[i];
        const struct definition *h = f->count ? placing_entry_of(p, f->name, f->file, &line) : NULL;
        if (!h)
            continue;
        bool is_new;
        uint32_t arc = map_index(&done, h->symbol->address, 0, p->out->arcs.len, &is_new);
        if (is_new)
            vec_push(&p->out->arcs, ((struct arc){.self = h->symbol->address}));
        p->out->arcs.at[arc].count = add_saturating(p->out->arcs.at[arc].count, f->count);
    }
    map_deinit(&done);
}

static void placing_report_missing(struct place *p)
{
    const struct line_counts *c = p->in->counts;
    struct placed *r = p->report;
    struct map seen = {0};
    for (uint32_t i = 0; i < p->is_mentioned.len; i++) {
        if (p->is_mentioned.at[i])
            continue;
        if (!r->missing_files++ || (!r->similar && p->similar.at[i])) {
            r->file = intern_text(&c->files, i);
            r->similar = p->similar.at[i];
        }
    }
    for (size_t i = 0; i < c->functions.len; i++) {
        const struct called_function *f = &c->functions.at[i];
        bool is_new;
        map_at(&seen, f->name, f->file, 0, &is_new);
        if (!is_new || placing_is_there(p, f->name) || p->is_placed.at[f->name] ||
            !p->is_mentioned.at[f->file])
            continue;
        if (!r->missing_functions++)
            r->function = intern_text(&c->names, f->name);
    }
    map_deinit(&seen);
}

static void placing_release(struct place *p)
{
    intern_deinit(&p->bare);
    vec_free(&p->bare_of);
    vec_free(&p->kin_of);
    vec_free(&p->is_placed);
    vec_free(&p->is_there);
    map_deinit(&p->scopes);
    vec_free(&p->definitions);
    vec_free(&p->first_definition);
    vec_free(&p->definition_here);
    map_deinit(&p->row_of);
    map_deinit(&p->by_base);
    vec_free(&p->next_base);
    map_deinit(&p->paths);
    vec_free(&p->is_mentioned);
    vec_free(&p->similar);
    vec_free(&p->groups);
    map_deinit(&p->group_of);
    vec_free(&p->rows);
    vec_free(&p->has_records);
    map_deinit(&p->is_used);
}

/* Counts of one line are a group. One walk over the program's line table finds the rows of all
 * groups; then each group is placed by the three rules of bridge.h. O(rows of the line table +
 * counts). */
void place_counts(const struct placing *in, struct profile *out, struct placed *report,
                  struct arena *a)
{
    struct place p = {.in = in, .out = out, .report = report, .arena = a};
    const struct object_range everything = {0, UINT64_MAX};
    *report = (struct placed){0};
    for (uint32_t i = 0; i < in->functions->len; i++) {
        vec_push(&p.has_records, false);
        vec_push(&p.definition_here, NONE);
    }
    placing_number_names(&p);
    placing_find_homes(&p);
    const struct intern *files = &p.in->counts->files;
    for (uint32_t i = 0; i < files->texts.len; i++) {
        uint32_t *first =
            map_at(&p.by_base, placing_base_hash(intern_text(files, i)), 0, NONE, NULL);
        vec_push(&p.next_base, *first);
        vec_push(&p.is_mentioned, false);
        vec_push(&p.similar, NULL);
        *first = i;
    }
    const struct line_counts *c = p.in->counts;
    for (uint32_t i = 0; i < c->at.len; i++) {
        const struct line_count *count = &c->at.at[i];
        if (!i || count[-1].file != count->file || count[-1].line != count->line) {
            map_index(&p.group_of, count->file, count->line, p.groups.len, NULL);
            vec_push(&p.groups, ((struct group){.first = i}));
        }
        p.groups.at[p.groups.len - 1].len++;
    }
    object_each_row_within(in->object, &everything, 1, placing_visit_row, &p);
    placing_sort_rows(&p);
    /* A row is code of the function that it stands in, and of the one that was inlined there. */
    for (uint32_t i = 0; i < p.rows.len; i++) {
        const struct row *row = &p.rows.at[i];
        if (row->scope != NONE)
            map_at(&p.row_of, row->group, row->scope, i, NULL);
        uint32_t home = row->function == NO_FUNCTION ? NONE : p.definition_here.at[row->function];
        for (; home != NONE; home = p.definitions.at[home].next_here)
            map_at(&p.row_of, row->group, p.definitions.at[home].bare, i, NULL);
    }
    for (uint32_t i = 0; i < p.groups.len; i++)
        placing_put_group(&p, i);
    /* Says 0 where copies of a line are in other functions that have records. */
    for (uint32_t i = 0; i < p.rows.len; i++) {
        const struct row *row = &p.rows.at[i];
        if (row->function == NO_FUNCTION || !p.has_records.at[row->function] ||
            map_find(&p.is_used, row->group, row->function))
            continue;
        placing_put(&p, row->group, row->function, row->start, 0);
    }
    if (in->adds_calls)
        placing_put_calls(&p);
    placing_report_missing(&p);
    placing_release(&p);
}
