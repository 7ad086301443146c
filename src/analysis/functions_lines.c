/* GNU gprof's line symbols (-l).
 *
 * It asks for the place of every byte of .text and makes a symbol wherever function, file or line
 * are other than those of the symbol before. Bytes whose function, file or line is unknown belong
 * to the symbol before them. A line symbol is as static as the function it lies in.
 *
 * A large program has millions of them, most without samples or calls. Those that follow each other
 * within one function can be one entry here. */
#include "analysis/functions.h"

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
    bool can_go_on;  /* the last symbol is a run of unmeasured lines that may grow */
    VEC(struct function) symbols;
};

static bool is_same(const char *left, const char *right)
{
    return left == right || !strcmp(left, right);
}

/* Ends the line at the start of the next one. A line that starts where a function does is kept for
 * functions_finish() to choose. */
static void end_line(struct lines *l, uint64_t end)
{
    const struct functions *f = l->functions;
    uint32_t before = l->behind;
    while (l->behind < f->len && f->at[l->behind].start <= l->line.start)
        l->behind++;
    const struct function *owner = l->behind ? &f->at[l->behind - 1] : NULL;
    l->line.is_static = owner && owner->is_static && l->line.start <= owner->last;
    bool is_kept = !l->measured || (owner && owner->start == l->line.start) ||
                   measured_within(l->measured, &l->next_measured, l->line.start, end);
    struct function *last = l->symbols.len ? &l->symbols.at[l->symbols.len - 1] : NULL;
    if (!is_kept && l->can_go_on && l->behind == before && is_same(last->name, l->line.name)) {
        last->more++;
        return;
    }
    vec_push(&l->symbols, l->line);
    l->can_go_on = !is_kept;
}

/* The functions that start in a place are located there. */
static void locate(struct lines *l, const struct object_place *place, bool is_known)
{
    struct functions *f = l->functions;
    while (l->to_locate < f->len && f->at[l->to_locate].start < place->start)
        l->to_locate++;
    for (; l->to_locate < f->len && f->at[l->to_locate].start < place->end; l->to_locate++) {
        f->at[l->to_locate].file = is_known ? place->file : NULL;
        f->at[l->to_locate].line = is_known ? place->line : 0;
    }
}

static void add_place(const struct object_place *place, void *context)
{
    struct lines *l = context;
    bool is_known = place->function && place->file && place->line;
    locate(l, place, is_known);
    if (!is_known || (l->has_line && l->line.line == place->line &&
                      is_same(l->line.name, place->function) && is_same(l->line.file, place->file)))
        return;
    if (l->has_line)
        end_line(l, place->start);
    l->has_line = true;
    l->line = (struct function){
        .start = place->start, .name = place->function, .file = place->file, .line = place->line};
}

/* Functions outside of .text were not met on the walk. */
static void locate_others(struct functions *f, struct object *o, struct object_range text)
{
    for (uint32_t i = 0; i < f->len; i++) {
        struct function *at = &f->at[i];
        if (at->start >= text.low && at->start < text.high)
            continue;
        object_line(o, at->start, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
}

static struct object_range text_of(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (sections[i].name && !strcmp(sections[i].name, ".text"))
            return (struct object_range){sections[i].address,
                                         sections[i].address + sections[i].size};
    return (struct object_range){0, 0};
}

/* Lines in front of functions, as GNU gprof numbers them; `first` is the first one's number. */
static void append(struct functions *f, const struct lines *l, uint32_t first, struct arena *a)
{
    size_t len = l->symbols.len;
    struct function *all = ARENA_NEW(a, struct function, len + f->len);
    for (size_t i = 0; i < len; i++) {
        all[i] = l->symbols.at[i];
        all[i].symbol = first + (uint32_t)i;
    }
    memcpy(all + len, f->at, f->len * sizeof *all);
    *f = (struct functions){.at = all, .len = f->len + (uint32_t)len};
}

void functions_add_lines(struct functions *f, struct object *o, const struct measured *measured,
                         struct arena *a)
{
    struct lines l = {.functions = f, .measured = measured};
    struct object_range text = text_of(o);
    object_each_place(o, text.low, text.high, add_place, &l);
    if (l.has_line)
        end_line(&l, text.high);
    locate_others(f, o, text);

    uint32_t symbols = 0;
    for (uint32_t i = 0; i < f->len; i++)
        symbols = f->at[i].symbol >= symbols ? f->at[i].symbol + 1 : symbols;
    append(f, &l, symbols, a);
    vec_free(&l.symbols);
    functions_finish(f, text.high - 1, a);
    f->is_located = true;
}
