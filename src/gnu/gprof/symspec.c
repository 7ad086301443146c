/* Symspecs: parsing them, matching them against the table of functions, and answering whether a
 * function or an arc is admitted. functions_gnu.h has their grammar and meaning.
 *
 * GNU copies what a spec matches into one of twelve tables (six questions, included and excluded)
 * and merges neighbours that match without a gap into one range. A function is then in a table if
 * its start lies in a range, not if it matched:
 *
 *   functions   a.c: f    a.c: g    b.c: h    a.c: k
 *   spec a.c    [f ................]          [k ......]     two ranges
 *
 * So a function that did not match can be in it: where an entry was left out of the table, where
 * ranges of line symbols overlap. Keeping GNU's results means keeping its tables. Matching walks
 * the functions once with all specs; answers are bits, computed once for all functions.
 *
 * Arc specs pair each range of the left side with each of the right. They are kept twice: as what
 * a range may call, which filters the graph, and as arcs between ranges, which the orderings
 * print. */
#include "gnu/gprof/functions_gnu.h"

#include "base/path.h"
#include "base/sort.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One side of a symspec: each part is NULL, 0 or false if it was not given. */
struct spec {
    const char *file; /* base name as given, then the path it resolved to */
    bool has_file;
    uint32_t line;
    const char *name;
};

/* What the right side of an arc spec matched, as a list; `last` is inclusive. */
struct address_range {
    struct address_range *next;
    uint64_t start, last;
};

/* Where a spec has matched so far. Neighbouring functions that match become one range. */
struct matches {
    uint32_t previous; /* function index, or NO_FUNCTION */
    uint32_t entry;    /* the open range: index into the table it goes to */
    struct match_entry {
        struct match_entry *next;
        uint32_t entry;
    } * entries; /* newest first */
};

/* One spec with what it has matched; an arc spec has two sides. */
struct symspec {
    struct symspec *next; /* the one added before */
    enum question question;
    bool exclude;
    bool is_arc;
    struct spec left, right;
    struct matches left_matches, right_matches;
};

struct arc_targets {
    struct address_range **of; /* by entry */
    uint64_t *reach;           /* by range of the finished table: the last address up to it */
};

/* By the last colon; without one, a dot makes it a file and a digit a line. */
static struct spec symspec_parse_spec(const char *text, size_t len, struct arena *a)
{
    struct spec spec = {0};
    char *copy = arena_copy(a, text, len), *colon = strrchr(copy, ':'), *rest = copy;
    if (colon) {
        *colon = '\0';
        spec.has_file = colon > copy;
        spec.file = copy;
        rest = colon + 1;
    } else if (strchr(copy, '.')) {
        spec.has_file = true;
        spec.file = copy;
        return spec;
    }
    if (isdigit((unsigned char)*rest))
        spec.line = (uint32_t)atoi(rest);
    else if (*rest)
        spec.name = rest;
    return spec;
}

/* The first slash parts caller and callee: neither names nor files may have one. */
void selection_add(struct selection *s, const char *text, enum question q, bool exclude)
{
    struct symspec *id = ARENA_NEW(s->arena, struct symspec, 1);
    const char *slash = strchr(text, '/');
    *id = (struct symspec){.next = s->newest, .question = q, .exclude = exclude};
    id->is_arc = slash != NULL;
    id->left = symspec_parse_spec(text, slash ? (size_t)(slash - text) : strlen(text), s->arena);
    if (slash)
        id->right = symspec_parse_spec(slash + 1, strlen(slash + 1), s->arena);
    id->left_matches.previous = id->right_matches.previous = NO_FUNCTION;
    s->newest = id;
    s->specs++;
}

/* A file of the program and the earliest symbol that lies in it. */
struct candidate {
    const char *path;
    uint32_t first_symbol;
};

/* The path whose base name was given. If several files share it, the one that appears last in the
 * symbol table wins. NULL: there is none. */
static const char *symspec_resolve_file(const char *name, const struct gnu_functions *all)
{
    const struct functions *f = &all->table;
    VEC(struct candidate) found = {0};
    for (uint32_t i = 0; i < f->len; i++) {
        const char *path = f->at[i].file;
        if (!path || strcmp(path_base_name(path), name))
            continue;
        size_t k = 0;
        while (k < found.len && strcmp(found.at[k].path, path))
            k++;
        if (k == found.len)
            vec_push(&found, ((struct candidate){path, all->symbols[i].created}));
        else if (all->symbols[i].created < found.at[k].first_symbol)
            found.at[k].first_symbol = all->symbols[i].created;
    }
    struct candidate best = {0};
    for (size_t k = 0; k < found.len; k++)
        if (!best.path || found.at[k].first_symbol > best.first_symbol)
            best = found.at[k];
    vec_free(&found);
    return best.path;
}

/* A file that was not found matches nothing. First letters differ most of the time. */
static bool symspec_spec_matches(const struct spec *spec, const struct function *f)
{
    if (spec->name && (spec->name[0] != f->name[0] || strcmp(spec->name, f->name)))
        return false;
    if (spec->has_file && (!spec->file || !f->file || strcmp(spec->file, f->file)))
        return false;
    return !spec->line || spec->line == f->line;
}

/* Adds function `i` to the table, into the range before it where both match without a gap. Lines
 * that are not in the table would match as their function does, and end there. */
static void symspec_extend(struct matches *m, const struct gnu_functions *all, uint32_t i,
                           struct functions *table, struct arena *a)
{
    const struct function *f = &all->table.at[i];
    if (m->previous == NO_FUNCTION || m->previous + 1 != i) {
        struct match_entry *entry = ARENA_NEW(a, struct match_entry, 1);
        *entry = (struct match_entry){m->entries, table->len};
        m->entries = entry;
        m->entry = table->len;
        table->at[table->len] = *f;
        table->at[table->len].symbol = table->len;
        table->len++;
    }
    bool is_last_line = all->first_line && i + 1 == all->table.len;
    table->at[m->entry].last = is_last_line                   ? all->last_address
                               : all->symbols[i].has_unlisted ? f[1].start - 1
                                                              : f->last;
    m->previous = i;
}

/* All of the function, not just its start: where line symbols of inlined code cut a function in
 * pieces, a name matches several ranges, none of which may hold it whole. O(ranges of the list):
 * specs match few. */
static bool symspec_one_contains(const struct address_range *r, const struct function *f)
{
    for (; r; r = r->next)
        if (f->start >= r->start && f->last <= r->last)
            return true;
    return false;
}

static bool symspec_names_place(const struct symspec *id)
{
    return id->left.has_file || id->right.has_file || id->left.line || id->right.line;
}

bool selection_needs_lines(const struct selection *s)
{
    for (const struct symspec *id = s->newest; id; id = id->next)
        if (symspec_names_place(id) || id->is_arc)
            return true;
    return false;
}

/* Ranges that one side of a spec has matched. */
static uint32_t symspec_count_entries(const struct match_entry *newest)
{
    uint32_t n = 0;
    for (; newest; newest = newest->next)
        n++;
    return n;
}

static void symspec_add_ranges(struct selection *s, const struct functions *table)
{
    for (uint32_t i = 0; i < table->len; i++)
        s->ranges[s->ranges_len++] = (struct spec_range){
            .name = table->at[i].name, .next = NO_RANGE, .is_mapped = table->at[i].is_mapped};
}

/* Links each range to the one that the same side matched before it, as GNU's do through a shared
 * field. Newest first, as the list of entries is. */
static void symspec_chain_ranges(struct selection *s, uint32_t base,
                                 const struct match_entry *newest)
{
    for (; newest && newest->next; newest = newest->next)
        s->ranges[base + newest->entry].next = base + newest->next->entry;
}

/* GNU closes the gaps that ranges with the same start leave in their table. Arcs refer to places in
 * it, and so to another range from then on; the places at the end keep what they had. */
static void symspec_close_gaps(struct selection *s, uint32_t base, const struct functions *table)
{
    uint32_t kept = base;
    for (uint32_t i = 0; i < table->len; i++)
        if (!i || table->at[i].start != table->at[i - 1].start)
            s->ranges[kept++] = s->ranges[base + i];
}

/* Ranges are numbered table by table, those of the right sides last. */
static void symspec_make_arcs(struct selection *s, const struct functions *right)
{
    size_t arcs = 0;
    for (const struct symspec *id = s->newest; id; id = id->next)
        if (id->is_arc)
            arcs += (size_t)symspec_count_entries(id->left_matches.entries) *
                    symspec_count_entries(id->right_matches.entries);
    if (!arcs)
        return;
    uint32_t base[QUESTIONS][2], ranges = right->len;
    for (int t = 0; t < 2 * QUESTIONS; t++)
        ranges += s->table[t / 2][t % 2].len;
    s->spec_arcs = ARENA_NEW(s->arena, struct spec_arc, arcs);
    s->ranges = ARENA_NEW(s->arena, struct spec_range, ranges);
    for (int t = 0; t < 2 * QUESTIONS; t++) {
        base[t / 2][t % 2] = s->ranges_len;
        symspec_add_ranges(s, &s->table[t / 2][t % 2]);
    }
    uint32_t right_base = s->ranges_len;
    symspec_add_ranges(s, right);
    for (struct symspec *id = s->newest; id; id = id->next) {
        uint32_t left_base = base[id->question][id->exclude];
        symspec_chain_ranges(s, left_base, id->left_matches.entries);
        symspec_chain_ranges(s, right_base, id->right_matches.entries);
        if (id->is_arc) {
            /* Notes what each range of the left side may call, and the arcs, whose ends are
             * numbered from `left_base` and `right_base`. */
            struct address_range **of = s->callees[id->question][id->exclude]->of;
            for (struct match_entry *l = id->left_matches.entries; l; l = l->next)
                for (struct match_entry *r = id->right_matches.entries; r; r = r->next) {
                    const struct function *target = &right->at[r->entry];
                    struct address_range *range = ARENA_NEW(s->arena, struct address_range, 1);
                    *range = (struct address_range){of[l->entry], target->start, target->last};
                    of[l->entry] = range;
                    s->spec_arcs[s->spec_arcs_len++] =
                        (struct spec_arc){left_base + l->entry, right_base + r->entry};
                }
        }
    }
    for (int t = 0; t < 2 * QUESTIONS; t++)
        symspec_close_gaps(s, base[t / 2][t % 2], &s->table[t / 2][t % 2]);
}

/* One side of one spec matches one function. */
struct match {
    struct symspec *id;
    uint32_t function;
    bool is_right;
};

struct match_list {
    VEC(struct match) all;
    uint32_t left[QUESTIONS][2], right; /* how many go where */
};

/* Which first letters of names can match at all; false if some spec does not ask for a name. */
static bool symspec_first_letters(const struct selection *s, bool letters[256])
{
    for (const struct symspec *id = s->newest; id; id = id->next) {
        if (!id->left.name || (id->is_arc && !id->right.name))
            return false;
        letters[(unsigned char)id->left.name[0]] = true;
        if (id->is_arc)
            letters[(unsigned char)id->right.name[0]] = true;
    }
    return true;
}

/* Matches all specs, then builds the tables in the order in which GNU does: function by function,
 * the newest spec first. O(functions times specs), less those that a first letter rules out: with
 * names alone, as is usual, most functions are passed after one look-up. Matches are counted first,
 * so that each table is allocated once. */
static void symspec_make_tables(struct selection *s, const struct gnu_functions *f)
{
    struct match_list list = {0};
    bool letters[256] = {0}, is_narrow = symspec_first_letters(s, letters);
    for (uint32_t i = 0; i < f->table.len; i++) {
        if (is_narrow && !letters[(unsigned char)f->table.at[i].name[0]])
            continue;
        for (struct symspec *id = s->newest; id; id = id->next) {
            if (symspec_spec_matches(&id->left, &f->table.at[i])) {
                vec_push(&list.all, ((struct match){id, i, false}));
                list.left[id->question][id->exclude]++;
            }
            if (id->is_arc && symspec_spec_matches(&id->right, &f->table.at[i])) {
                vec_push(&list.all, ((struct match){id, i, true}));
                list.right++;
            }
        }
    }
    struct functions right = {.at = ARENA_NEW(s->arena, struct function, list.right)};
    for (int q = 0; q < QUESTIONS; q++)
        for (int x = 0; x < 2; x++) {
            uint32_t n = list.left[q][x];
            s->table[q][x].at = ARENA_NEW(s->arena, struct function, n);
            s->callees[q][x] = ARENA_NEW(s->arena, struct arc_targets, 1);
            s->callees[q][x]->of = ARENA_NEW(s->arena, struct address_range *, n);
        }
    for (size_t i = 0; i < list.all.len; i++) {
        const struct match *m = &list.all.at[i];
        symspec_extend(m->is_right ? &m->id->right_matches : &m->id->left_matches, f, m->function,
                       m->is_right ? &right : &s->table[m->id->question][m->id->exclude], s->arena);
    }
    symspec_make_arcs(s, &right);
    vec_free(&list.all);
}

/* Files first, as matching compares paths; then tables; then the bits of all functions. `reach` is
 * the running maximum of ends: ranges overlap with -l, and the search backwards from an address may
 * stop where nothing reaches it any more. */
void selection_resolve(struct selection *s, struct gnu_functions *all, struct object *o)
{
    const struct functions *f = &all->table;
    s->functions = f;
    for (struct symspec *id = s->newest; id; id = id->next) {
        if (symspec_names_place(id))
            functions_locate(&all->table, o);
        if (id->left.has_file)
            id->left.file = symspec_resolve_file(id->left.file, all);
        if (id->right.has_file)
            id->right.file = symspec_resolve_file(id->right.file, all);
    }
    symspec_make_tables(s, all);
    s->member = ARENA_NEW(s->arena, uint16_t, f->len);
    for (int q = 0; q < QUESTIONS; q++)
        for (int x = 0; x < 2; x++) {
            struct functions *table = &s->table[q][x];
            functions_finish(table, NULL, 0, s->arena);
            s->is_empty[q][x] = !table->len;
            struct arc_targets *targets = s->callees[q][x];
            targets->reach = ARENA_NEW(s->arena, uint64_t, table->len);
            for (uint32_t i = 0; i < table->len; i++)
                targets->reach[i] = i && targets->reach[i - 1] > table->at[i].last
                                        ? targets->reach[i - 1]
                                        : table->at[i].last;
            for (uint32_t i = 0; table->len && i < f->len; i++)
                if (functions_find(table, f->at[i].start) != NO_FUNCTION)
                    s->member[i] |= (uint16_t)(1u << (2 * q + x));
        }
}

/* By any of the ranges that contain the caller. They may overlap. O(log ranges + ranges that reach
 * the caller). */
static bool symspec_arc_is_listed(const struct selection *s, bool exclude,
                                  const struct function *caller, const struct function *callee)
{
    const struct functions *table = &s->table[ASK_ARCS][exclude];
    const struct arc_targets *targets = s->callees[ASK_ARCS][exclude];
    uint32_t behind = PARTITION_POINT(table->len, k, table->at[k].start <= caller->start);
    for (uint32_t i = behind; i-- > 0 && targets->reach[i] >= caller->start;)
        if (table->at[i].last >= caller->start &&
            symspec_one_contains(targets->of[table->at[i].symbol], callee))
            return true;
    return false;
}

/* Includes beat excludes: with any arc included, only those are admitted. */
bool selection_admits_arc(const struct selection *s, uint32_t caller, uint32_t callee)
{
    const struct function *from = &s->functions->at[caller], *to = &s->functions->at[callee];
    if (!s->is_empty[ASK_ARCS][0])
        return symspec_arc_is_listed(s, false, from, to);
    return s->is_empty[ASK_ARCS][1] || !symspec_arc_is_listed(s, true, from, to);
}

/* --- as a filter of the graph ---------------------------------------------------------------- */

static bool symspec_filter_admits_arc(const void *context, uint32_t caller, uint32_t callee)
{
    return selection_admits_arc(context, caller, callee);
}

/* What callers are is what their callees are, unless those are excluded. */
static bool symspec_inherits(const struct selection *s, enum question q, uint32_t function,
                             bool is_inherited)
{
    if (!is_inherited)
        return selection_admits(s, q, function);
    return selection_includes(s, q, function) || !selection_excludes(s, q, function);
}

/* The graph asks these of each function, once it knows what the function's callers inherit. */
static bool symspec_filter_shows(const void *context, uint32_t function, bool is_inherited)
{
    return symspec_inherits(context, ASK_GRAPH, function, is_inherited);
}

static bool symspec_filter_passes_time(const void *context, uint32_t function, bool is_inherited)
{
    return symspec_inherits(context, ASK_TIME, function, is_inherited);
}

/* The graph knows nothing of symspecs: it calls these. */
struct graph_filter selection_graph_filter(const struct selection *s)
{
    return (struct graph_filter){.context = s,
                                 .admits_arc = symspec_filter_admits_arc,
                                 .shows = symspec_filter_shows,
                                 .passes_time = symspec_filter_passes_time};
}
