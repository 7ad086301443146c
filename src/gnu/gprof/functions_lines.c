/* GNU gprof's line symbols (-l).
 *
 * It asks for the place of every byte of .text and makes a symbol wherever function, file or line
 * are other than those of the symbol before. Bytes whose function, file or line is unknown belong
 * to the symbol before them. A line symbol is as static as the function it lies in.
 *
 * A large program has millions of them, most without samples or calls. Those can be left out of the
 * table and counted instead. */
#include "gnu/gprof/functions_gnu.h"

#include "profile/analysis/attribution.h"
#include "base/vec.h"

#include <string.h>

struct lines {
    struct functions *functions; /* sorted, without lines */
    uint32_t to_locate;          /* the first function that the walk has not reached */
    const struct measured *measured;
    size_t next_measured;

    struct function line; /* where the walk is; its end is not known yet */
    bool has_line;
    uint32_t behind; /* the first function that starts behind the line's start */
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
    if (!owner || !owner->is_function || !lines_is_same(owner->name, l->line.name))
        return false;
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

/* The functions that start in a place are located there. */
static void lines_locate(struct lines *l, const struct object_place *place, bool is_known)
{
    struct functions *f = l->functions;
    while (l->to_locate < f->len && f->at[l->to_locate].start < place->start)
        l->to_locate++;
    for (; l->to_locate < f->len && f->at[l->to_locate].start < place->end; l->to_locate++) {
        f->at[l->to_locate].file = is_known ? place->file : NULL;
        f->at[l->to_locate].line = is_known ? place->line : 0;
    }
}

static void lines_add_place(const struct object_place *place, void *context)
{
    struct lines *l = context;
    bool is_known = place->function && place->file && place->line;
    lines_locate(l, place, is_known);
    if (!is_known ||
        (l->has_line && l->line.line == place->line &&
         lines_is_same(l->line.name, place->function) && lines_is_same(l->line.file, place->file)))
        return;
    if (l->has_line)
        lines_end_line(l, place->start);
    l->has_line = true;
    l->line = (struct function){
        .start = place->start, .name = place->function, .file = place->file, .line = place->line};
}

/* Functions outside of .text were not met on the walk. */
static void lines_locate_others(struct functions *f, struct object *o, struct object_range text)
{
    for (uint32_t i = 0; i < f->len; i++) {
        struct function *at = &f->at[i];
        if (at->start >= text.low && at->start < text.high)
            continue;
        object_line(o, at->start, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
}

static struct object_range lines_text_of(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (sections[i].name && !strcmp(sections[i].name, ".text"))
            return (struct object_range){sections[i].address,
                                         sections[i].address + sections[i].size};
    return (struct object_range){0, 0};
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

/* Functions and lines, by address. `first` is the number of the first line as a symbol. */
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

static void lines_keep_unlisted(struct gnu_functions *out, const struct lines *l, struct arena *a)
{
    const struct functions *f = &out->table;
    out->unlisted_len = (uint32_t)l->unlisted.len;
    out->unlisted = ARENA_NEW(a, struct unlisted_entries, out->unlisted_len);
    for (uint32_t i = 0, k = 0; i < out->unlisted_len; i++) {
        out->unlisted[i] = l->unlisted.at[i];
        while (k + 1 < f->len && f->at[k + 1].start < out->unlisted[i].start)
            k++;
        out->symbols[k].has_unlisted = k + 1 < f->len;
    }
}

/* GNU leaves the end of its last entry at 0: calls find it, samples do not. */
static void lines_lose_last_end(struct gnu_functions *f)
{
    if (!f->table.len)
        return;
    struct function *last = &f->table.at[f->table.len - 1];
    if (!f->unlisted_len || f->unlisted[f->unlisted_len - 1].start < last->start)
        last->last = last->start - 1;
}

void functions_add_lines(struct gnu_functions *out, struct object *o,
                         const struct measured *measured, struct arena *a)
{
    struct functions *f = &out->table;
    struct lines l = {.functions = f, .measured = measured};
    struct object_range text = lines_text_of(o);
    object_each_place(o, text.low, text.high, lines_add_place, &l);
    if (l.has_line)
        lines_end_line(&l, text.high);
    lines_locate_others(f, o, text);

    uint32_t symbols = 0;
    for (uint32_t i = 0; i < f->len; i++)
        symbols = f->at[i].symbol >= symbols ? f->at[i].symbol + 1 : symbols;
    lines_merge(out, &l, symbols, a);
    vec_free(&l.symbols);
    lines_keep_unlisted(out, &l, a);
    vec_free(&l.unlisted);
    functions_index(f, a);
    lines_lose_last_end(out);
}
