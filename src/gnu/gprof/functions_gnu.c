/* GNU gprof's rules for the function table, quirks included; docs/compat.md lists where we differ.
 *
 * Functions: symbols of class T, W and t (nm's letters). Local ones must have a name without `$`,
 * and with dots only before a number (`f.constprop.0`, `f.clone.1`, `f.2`). At one address a
 * global (or weak) one beats a static one, a typed function an untyped label, fewer underscores
 * more of them, and else the first in the table wins. Each symbol reaches to the next one; the
 * last to the end of .text.
 *
 * Lines (-l): GNU asks for the place of every byte of .text and makes a symbol wherever function,
 * file or line are other than those of the symbol before. We walk the line table instead, range by
 * range, which gives the same. Bytes whose function, file or line is unknown belong to the symbol
 * before them. A line symbol is as static as the function it lies in. A large program has millions
 * of them, most without samples or calls; those can be left out of the table and counted instead.
 *
 *   address     f        f+4      f+12     g
 *   functions   [f ......................] [g ....
 *   lines       [a.c:3  ][a.c:4  ][b.h:9  ][a.c:20
 *   table       f        a.c:4    b.h:9    g        the function wins at its own address
 *
 * Maps: -S gives symbols as nm prints them; -R says which file each function came from, by which
 * functions are renamed. */
#include "gnu/gprof/functions_gnu.h"

#include "base/sort.h"
#include "base/vec.h"
#include "profile/analysis/attribution.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Takes a prefix off, if something follows it. */
static bool functions_skips(const char **name, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(*name, prefix, len) || !(*name)[len])
        return false;
    *name += len;
    return true;
}

/* Whether what follows each dot is a number, perhaps after `clone.` or `constprop.`. */
static bool functions_dots_precede_numbers(const char *name)
{
    while ((name = strchr(name, '.'))) {
        if (!functions_skips(&name, ".clone.") && !functions_skips(&name, ".constprop."))
            name++;
        const char *digits = name;
        while (isdigit((unsigned char)*name))
            name++;
        if ((*name && *name != '.') || (*name == '.' && name == digits))
            return false;
    }
    return true;
}

/* What becomes of a symbol. */
enum gnu_class { CLASS_NONE, CLASS_GLOBAL, CLASS_STATIC };

/* BFD's classes, as nm shows them. Weak symbols count as global wherever they are defined, as BFD
 * does not ask for their section; indirect functions and unique globals have classes of their own
 * that gprof does not take. */
static enum gnu_class functions_classify(const struct object_symbol *s, const struct object *o,
                                         const struct gnu_symbol_rules *rules)
{
    if (rules->no_static && s->binding == BIND_LOCAL)
        return CLASS_NONE;
    if (s->type == SYMBOL_IFUNC || s->binding == BIND_UNIQUE)
        return CLASS_NONE;
    if (s->binding == BIND_WEAK)
        return s->type == SYMBOL_OBJECT ? CLASS_NONE : CLASS_GLOBAL;
    const struct object_section *section = object_section(o, s->section);
    if (!section || !section->is_code)
        return CLASS_NONE;
    if (s->binding == BIND_GLOBAL)
        return CLASS_GLOBAL;
    if (rules->only_functions && s->type != SYMBOL_FUNC)
        return CLASS_NONE;
    bool is_kept = s->name[0] && !strchr(s->name, '$') && functions_dots_precede_numbers(s->name) &&
                   strncmp(s->name, "__gnu_compiled", 14) &&
                   strncmp(s->name, "___gnu_compiled", 15);
    return is_kept ? CLASS_STATIC : CLASS_NONE;
}

/* Whether `a` takes the place of `b`, which came before it. */
static bool functions_is_preferred(const struct function *a, const struct function *b)
{
    if (a->is_static != b->is_static)
        return b->is_static;
    if (a->is_function != b->is_function)
        return a->is_function;
    if (b->name[0] != '_')
        return false;
    return a->name[0] != '_' || (a->name[1] != '_' && b->name[1] == '_');
}

/* Two stable sorts by radix, the less important key first: class, then address. Rivals of one
 * address are then neighbours, in the order in which GNU compares them. O(symbols). */
void functions_finish(struct functions *f, struct gnu_symbol **symbols, uint64_t last_address,
                      struct arena *a)
{
    struct arena scratch = {0};
    /* In the order of addresses, then of classes, then as they came. */
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, f->len);
    /* At one address: functions, then labels; of those, global ones, then static ones. */
    for (uint32_t i = 0; i < f->len; i++)
        order[i] = (struct keyed){(uint64_t)(!f->at[i].is_function * 2 + f->at[i].is_static), i};
    sort_keyed(order, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        order[i].key = f->at[order[i].item].start;
    sort_keyed(order, f->len);
    struct function *sorted = ARENA_NEW(a, struct function, f->len);
    struct gnu_symbol *theirs = symbols ? ARENA_NEW(a, struct gnu_symbol, f->len) : NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->len; i++) {
        uint32_t item = order[i].item;
        const struct function *next = &f->at[item];
        bool is_empty = next->last && next->last < next->start;
        struct function *rival = kept ? &sorted[kept - 1] : NULL;
        if (rival && rival->start == next->start) {
            if (functions_is_preferred(next, rival))
                *rival = *next;
            if (theirs && (*symbols)[item].created < theirs[kept - 1].created)
                theirs[kept - 1].created = (*symbols)[item].created;
        } else if (!is_empty) {
            if (theirs)
                theirs[kept] = (*symbols)[item];
            sorted[kept++] = *next;
        }
    }
    if (theirs)
        *symbols = theirs;
    for (uint32_t i = 0; i < kept; i++)
        if (!sorted[i].last)
            sorted[i].last = i + 1 < kept ? sorted[i + 1].start - 1 : last_address;
    f->at = sorted;
    f->len = kept;
    arena_deinit(&scratch);
    functions_index(f, a);
}

/* By its name, as BFD finds it: other sections with code have no lines and no static calls for
 * GNU. */
struct object_range gnu_text_of(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (sections[i].name && !strcmp(sections[i].name, ".text"))
            return (struct object_range){sections[i].address,
                                         sections[i].address + sections[i].size};
    return (struct object_range){0, 0};
}

/* False: the map leaves the function out. */
static bool functions_map_to_file(struct function *f, const struct order_map *files)
{
    const struct mapped *line = files ? order_map_find(files, f->name) : NULL;
    if (!line)
        return true;
    f->name = line->file;
    f->is_mapped = true;
    return line->is_first;
}

/* `created` is the place in the symbol table, by which GNU orders files. */
void functions_gnu(struct gnu_functions *out, struct object *o,
                   const struct gnu_symbol_rules *rules, struct arena *a)
{
    size_t len;
    enum object_symbol_source source;
    const struct object_symbol *symbols = object_symbols(o, &len, &source);
    *out = (struct gnu_functions){.table.at = ARENA_NEW(a, struct function, len),
                                  .symbols = ARENA_NEW(a, struct gnu_symbol, len)};
    struct functions *f = &out->table;
    for (uint32_t i = 0; i < len; i++) {
        enum gnu_class class = functions_classify(&symbols[i], o, rules);
        if (class == CLASS_NONE)
            continue;
        struct function *made = &f->at[f->len];
        *made = (struct function){.start = symbols[i].address,
                                  .name = symbols[i].name,
                                  .symbol = i,
                                  .is_function = symbols[i].type == SYMBOL_FUNC,
                                  .is_static = class == CLASS_STATIC};
        out->symbols[f->len].created = i;
        f->len += functions_map_to_file(made, rules->files);
    }
    functions_finish(f, &out->symbols, gnu_text_of(o).high - 1, a);
}

/* As isspace() has it, but for the newline that ends a line. */
static const char blank[] = " \t\r\v\f";

/* One line of nm's output: three words, of which the second needs no space after it. NULL name if
 * it is none. A first word that is no number counts as 0. The text is copied to have a NUL after
 * each word. */
static struct function functions_map_line(const char *line, const char *end, struct arena *a)
{
    struct function none = {0};
    char *text = arena_copy(a, line, (size_t)(end - line));
    char *number = text + strspn(text, blank), *type = number + strcspn(number, blank);
    type += strspn(type, blank);
    if (*type != 'T' && *type != 't')
        return none;
    char *name = type + 1 + strspn(type + 1, blank);
    name[strcspn(name, blank)] = '\0';
    return (struct function){.start = strtoull(number, NULL, 16),
                             .name = name,
                             .is_function = true,
                             .is_static = *type == 't'};
}

/*    0000000000401136 T main
 *    0000000000401126 t helper */
void functions_from_map(struct gnu_functions *out, struct bytes text, const struct object *o,
                        struct arena *a)
{
    const char *at = (const char *)text.at, *end = at + text.len;
    /* No more symbols than lines: the table is allocated once. */
    size_t lines = 1;
    for (const char *p = at; p < end; p++)
        lines += *p == '\n';
    *out = (struct gnu_functions){
        .table = {.at = ARENA_NEW(a, struct function, lines), .is_located = true},
        .symbols = ARENA_NEW(a, struct gnu_symbol, lines)};
    struct functions *f = &out->table;
    for (const char *line = at; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        struct function found = functions_map_line(line, stop, a);
        found.symbol = out->symbols[f->len].created = f->len;
        if (found.name && found.name[0])
            f->at[f->len++] = found;
        line = stop + 1;
    }
    functions_finish(f, &out->symbols, gnu_text_of(o).high - 1, a);
}

/* GNU gprof's line symbols (-l).
 *
 * It asks for the place of every byte of .text and makes a symbol wherever function, file or line
 * are other than those of the symbol before. Bytes whose function, file or line is unknown belong
 * to the symbol before them. A line symbol is as static as the function it lies in.
 *
 * A large program has millions of them, most without samples or calls. Those can be left out of the
 * table and counted instead. */

/* A walk over the line table, in the order of addresses. `functions` and `measured` are walked
 * along with it, so that each place costs a constant time. */
struct lines {
    struct functions *functions; /* sorted, without lines */
    uint32_t to_locate;          /* the first function that the walk has not reached */
    const struct measured *measured;
    size_t next_measured;
    const struct gnu_line_ranges *within; /* NULL: everything */
    size_t next_range;

    struct function line; /* where the walk is; its end is not known yet */
    bool has_line;
    const char *owner_name, *line_name; /* the last two that were the same text */
    uint32_t behind;                    /* the first function that starts after the line's start */
    VEC(struct function) symbols;
    VEC(struct unlisted_entries) unlisted;
};

static bool lines_is_same(const char *left, const char *right)
{
    return left == right || !strcmp(left, right);
}

/* Notes a line that stays out of the table; false where its name is not its function's. */
static bool lines_leave_out(struct lines *l, const struct function *owner)
{
    if (!owner || !owner->is_function)
        return false;
    /* One text of the symbol table, one of the debug information: compared once a function. */
    if (owner->name != l->owner_name || l->line.name != l->line_name) {
        if (!lines_is_same(owner->name, l->line.name))
            return false;
        l->owner_name = owner->name;
        l->line_name = l->line.name;
    }
    struct unlisted_entries *last = l->unlisted.len ? &l->unlisted.at[l->unlisted.len - 1] : NULL;
    bool goes_on = last && last->start >= owner->start &&
                   (!l->symbols.len || l->symbols.at[l->symbols.len - 1].start < last->start);
    if (goes_on)
        last->count++;
    else
        vec_push(&l->unlisted, ((struct unlisted_entries){l->line.start, 1}));
    return true;
}

/* Ends the line at the start of the next one. A line that starts where a function does is kept for
 * lines_merge() to choose. */
static void lines_end_line(struct lines *l, uint64_t end)
{
    const struct functions *f = l->functions;
    while (l->behind < f->len && f->at[l->behind].start <= l->line.start)
        l->behind++;
    const struct function *owner = l->behind ? &f->at[l->behind - 1] : NULL;
    bool is_kept = !l->measured || (owner && owner->start == l->line.start) ||
                   measured_within(l->measured, &l->next_measured, l->line.start, end);
    if (!is_kept && lines_leave_out(l, owner))
        return;
    uint64_t next = l->behind < f->len ? f->at[l->behind].start : UINT64_MAX;
    l->line.last = (next < end ? next : end) - 1;
    l->line.is_static = owner && owner->is_static && l->line.start <= owner->last;
    vec_push(&l->symbols, l->line);
}

/* A place is a line symbol where function, file or line are other than before. */
static void lines_add_symbol(struct lines *l, const struct object_place *place, uint64_t start)
{
    if (l->has_line && l->line.line == place->line &&
        lines_is_same(l->line.name, place->function) && lines_is_same(l->line.file, place->file))
        return;
    if (l->has_line)
        lines_end_line(l, start);
    l->has_line = true;
    l->line = (struct function){
        .start = start, .name = place->function, .file = place->file, .line = place->line};
}

/* What of a place is in the ranges, which ascend as places do. */
static void lines_add_within(struct lines *l, const struct object_place *place)
{
    const struct object_range *at = l->within->at;
    while (l->next_range < l->within->len && at[l->next_range].high <= place->start)
        l->next_range++;
    for (size_t i = l->next_range; i < l->within->len && at[i].low < place->end; i++)
        lines_add_symbol(l, place, at[i].low > place->start ? at[i].low : place->start);
}

/* Called for each range of the line table, in ascending order of addresses. */
static void lines_add_place(const struct object_place *place, void *context)
{
    struct lines *l = context;
    bool is_known = place->function && place->file && place->line;
    /* The functions that start in a place are located there. */
    struct functions *f = l->functions;
    while (l->to_locate < f->len && f->at[l->to_locate].start < place->start)
        l->to_locate++;
    for (; l->to_locate < f->len && f->at[l->to_locate].start < place->end; l->to_locate++) {
        f->at[l->to_locate].file = is_known ? place->file : NULL;
        f->at[l->to_locate].line = is_known ? place->line : 0;
    }
    if (is_known && l->within)
        lines_add_within(l, place);
    else if (is_known)
        lines_add_symbol(l, place, place->start);
}

/* Which of two at one address stays: a function, or the line or untyped label with fewer
 * underscores, and of equals the line. */
static const struct function *lines_choose(const struct function *function,
                                           const struct function *line)
{
    bool has_fewer = line->name[0] == '_' && (function->name[0] != '_' ||
                                              (line->name[1] == '_' && function->name[1] != '_'));
    return function->is_function || has_fewer ? function : line;
}

/* Functions and lines, by address. `first` is the number of the first line as a symbol. A merge of
 * two sorted lists. Entries that end before they start are dropped, as GNU drops them. */
static void lines_merge(struct gnu_functions *out, const struct lines *l, uint32_t first,
                        struct arena *a)
{
    const struct functions *f = &out->table;
    uint32_t lines = (uint32_t)l->symbols.len, i = 0, k = 0, len = 0;
    struct function *all = ARENA_NEW(a, struct function, f->len + lines);
    struct gnu_symbol *symbols = ARENA_NEW(a, struct gnu_symbol, f->len + lines);
    while (i < f->len || k < lines) {
        const struct function *function = i < f->len ? &f->at[i] : NULL;
        struct function *line = k < lines ? &l->symbols.at[k] : NULL;
        if (line)
            line->symbol = first + k;
        /* A function, a line, or both at this address: then one of them goes. */
        int order = !line                           ? -1
                    : !function                     ? 1
                    : function->start < line->start ? -1
                                                    : function->start > line->start;
        const struct function *next = order < 0   ? function
                                      : order > 0 ? line
                                                  : lines_choose(function, line);
        uint32_t created = order <= 0 ? out->symbols[i].created : first + k;
        i += order <= 0;
        k += order >= 0;
        if (next->start > next->last)
            continue;
        symbols[len].created = created;
        all[len++] = *next;
    }
    *out = (struct gnu_functions){.table = {.at = all, .len = len, .is_located = true},
                                  .symbols = symbols,
                                  .first_line = first};
}

/* Numbers of line symbols follow those of the symbol table, so that `symbol < first_line`
 * distinguishes functions from lines. O(rows of the line table). */
void functions_add_lines(struct gnu_functions *out, struct object *o,
                         const struct measured *measured, const struct gnu_line_ranges *within,
                         struct arena *a)
{
    struct functions *f = &out->table;
    struct lines l = {.functions = f, .measured = measured, .within = within};
    struct object_range text = gnu_text_of(o);
    object_each_place(o, text.low, text.high, lines_add_place, &l);
    if (l.has_line)
        lines_end_line(&l, text.high);
    /* Functions outside of .text were not met on the walk. */
    for (uint32_t i = 0; i < f->len; i++) {
        struct function *at = &f->at[i];
        if (at->start >= text.low && at->start < text.high)
            continue;
        object_line(o, at->start, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }

    uint32_t symbols = 0;
    for (uint32_t i = 0; i < f->len; i++)
        symbols = f->at[i].symbol >= symbols ? f->at[i].symbol + 1 : symbols;
    lines_merge(out, &l, symbols, a);
    vec_free(&l.symbols);
    /* Copies the counts of lines that were left out. */
    out->unlisted_len = (uint32_t)l.unlisted.len;
    out->unlisted = ARENA_NEW(a, struct unlisted_entries, out->unlisted_len);
    for (uint32_t i = 0, k = 0; i < out->unlisted_len; i++) {
        out->unlisted[i] = l.unlisted.at[i];
        while (k + 1 < f->len && f->at[k + 1].start < out->unlisted[i].start)
            k++;
        out->symbols[k].has_unlisted = k + 1 < f->len;
    }
    vec_free(&l.unlisted);
    functions_index(f, a);
    /* GNU books no samples on its last entry; ranges of symspecs hold it. */
    if (!out->table.len)
        return;
    struct function *last = &out->table.at[out->table.len - 1];
    out->last_address = last->last;
    if (!out->unlisted_len || out->unlisted[out->unlisted_len - 1].start < last->start)
        last->last = last->start - 1;
}

/* Reading -R maps as GNU gprof does. */

/* --- maps of files (-R) ---------------------------------------------------------------------- */

enum { LONGEST = 1023 }; /* bytes of a file, and of what follows it; the rest is the next line */

/* Up to LONGEST bytes that are none of `stops`, as a C string: it ends at a NUL among them. */
static const char *take(struct bytes *in, const char *stops, struct arena *a)
{
    size_t len = 0;
    while (len < in->len && len < LONGEST && !memchr(stops, in->at[len], strlen(stops)))
        len++;
    const char *text = arena_copy(a, (const char *)in->at, len);
    *in = (struct bytes){in->at + len, in->len - len};
    return len ? text : NULL;
}

static int by_function(uint32_t left, uint32_t right, const void *context)
{
    const struct mapped *at = context;
    return strcmp(at[left].function, at[right].function);
}

/*    libfoo.a:bar.o:00000020 T helper        file "libfoo.a", function "helper"
 *
 * Lines are sorted by function, stable: the search below needs the order that qsort, a merge sort
 * in glibc, leaves. */
bool order_map_read(struct order_map *m, struct bytes text, struct arena *a)
{
    size_t lines = 1 + text.len / LONGEST;
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    *m = (struct order_map){.at = ARENA_NEW(a, struct mapped, lines)};
    while (text.len) {
        const char *file = take(&text, "\n:", a), *rest = file ? take(&text, "\n", a) : NULL;
        const char *space = rest ? strrchr(rest, ' ') : NULL;
        if (!space)
            return false;
        struct mapped *line = &m->at[m->len];
        *line = (struct mapped){file, space + 1, !m->len || strcmp(file, line[-1].file)};
        m->len++;
        /* White space between lines, as fscanf() passes over it. */
        while (text.len && memchr(" \t\n\v\f\r", *text.at, 6))
            text = (struct bytes){text.at + 1, text.len - 1};
    }
    uint32_t *order = ARENA_NEW(a, uint32_t, m->len);
    struct mapped *sorted = ARENA_NEW(a, struct mapped, m->len);
    for (uint32_t i = 0; i < m->len; i++)
        order[i] = i;
    sort_u32(order, m->len, by_function, m->at);
    for (uint32_t i = 0; i < m->len; i++)
        sorted[i] = m->at[order[i]];
    m->at = sorted;
    return m->len;
}

/* Not PARTITION_POINT(): if a function is named twice, this search, which is GNU's bsearch(),
 * decides which line it meets. */
const struct mapped *order_map_find(const struct order_map *m, const char *function)
{
    uint32_t low = 0, high = m->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(function, m->at[middle].function);
        if (!order)
            return &m->at[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
