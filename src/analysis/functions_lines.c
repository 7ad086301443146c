/* GNU gprof's line symbols (-l).
 *
 * It asks for the place of every byte of .text and makes a symbol wherever function, file or line
 * are other than those of the symbol before. Bytes whose function, file or line is unknown belong
 * to the symbol before them. A line symbol is as static as the function it lies in. */
#include "analysis/functions.h"

#include "base/vec.h"

#include <string.h>

struct lines {
    struct functions *functions; /* sorted, without lines */
    uint32_t here;               /* the first function that starts behind the walk */
    VEC(struct function) symbols;
};

static bool is_same(const char *left, const char *right)
{
    return left == right || !strcmp(left, right);
}

/* The functions that start in a place are located there. */
static void locate(struct lines *l, const struct object_place *place, bool is_known)
{
    struct functions *f = l->functions;
    while (l->here < f->len && f->at[l->here].start < place->start)
        l->here++;
    for (; l->here < f->len && f->at[l->here].start < place->end; l->here++) {
        f->at[l->here].file = is_known ? place->file : NULL;
        f->at[l->here].line = is_known ? place->line : 0;
    }
}

static void add_place(const struct object_place *place, void *context)
{
    struct lines *l = context;
    bool is_known = place->function && place->file && place->line;
    locate(l, place, is_known);
    if (!is_known)
        return;
    const struct function *last = l->symbols.len ? &l->symbols.at[l->symbols.len - 1] : NULL;
    if (last && last->line == place->line && is_same(last->name, place->function) &&
        is_same(last->file, place->file))
        return;
    uint32_t owner = functions_find(l->functions, place->start);
    vec_push(&l->symbols, ((struct function){.start = place->start,
                                             .name = place->function,
                                             .file = place->file,
                                             .line = place->line,
                                             .is_static = owner != NO_FUNCTION &&
                                                          l->functions->at[owner].is_static}));
}

/* Functions outside of .text were not met on the walk. */
static void locate_others(struct functions *f, struct object *o, uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < f->len; i++) {
        struct function *at = &f->at[i];
        if (at->start >= low && at->start < high)
            continue;
        object_line(o, at->start, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
}

static const struct object_section *text_section(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (sections[i].name && !strcmp(sections[i].name, ".text"))
            return &sections[i];
    return NULL;
}

void functions_add_lines(struct functions *f, struct object *o, struct arena *a)
{
    struct lines l = {.functions = f};
    const struct object_section *text = text_section(o);
    uint64_t low = text ? text->address : 0, high = text ? text->address + text->size : 0;
    object_each_place(o, low, high, add_place, &l);
    locate_others(f, o, low, high);

    uint32_t symbols = 0;
    for (uint32_t i = 0; i < f->len; i++)
        symbols = f->at[i].symbol >= symbols ? f->at[i].symbol + 1 : symbols;
    struct function *all = ARENA_NEW(a, struct function, l.symbols.len + f->len);
    for (size_t i = 0; i < l.symbols.len; i++) {
        all[i] = l.symbols.at[i];
        all[i].symbol = symbols + (uint32_t)i;
    }
    memcpy(all + l.symbols.len, f->at, f->len * sizeof *all);
    *f = (struct functions){.at = all, .len = f->len + (uint32_t)l.symbols.len};
    vec_free(&l.symbols);
    functions_finish(f, high - 1, a);
    f->is_located = true;
}
