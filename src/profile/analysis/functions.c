/* Lookup in, and the native rules of, the function table.
 *
 * Native rules: every symbol in executable code that the compiler or an assembler made for a
 * function, clones (.isra, .part, .cold, ...) included; mapping symbols and labels inside a sized
 * function are not functions of their own. A function ends where its symbol says, or, without a
 * size, where the next one or its section ends. A code section without any symbol, such as .plt, is
 * one function, `[.plt]`. */
#include "profile/analysis/functions.h"

#include "base/search.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void functions_index(struct functions *f, struct arena *a)
{
    f->index =
        (struct address_index){.at = ARENA_NEW(a, struct indexed_range, f->len), .len = f->len};
    for (uint32_t i = 0; i < f->len; i++)
        f->index.at[i] = (struct indexed_range){f->at[i].start, f->at[i].last};
    address_index_build(&f->index, a);
}

uint32_t functions_find(const struct functions *f, uint64_t address)
{
    return address_index_find(&f->index, address);
}

void functions_locate(struct functions *f, struct object *o)
{
    if (f->is_located)
        return;
    for (uint32_t i = 0; i < f->len; i++) {
        struct function *at = &f->at[i];
        object_line(o, at->start, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
    f->is_located = true;
}

/* Preference among symbols at one address: sized functions, then global ones, then the name with
 * fewer leading underscores, then the first in the table. */
struct candidate {
    const struct object_symbol *symbols;
};

static unsigned underscores(const char *name)
{
    return (unsigned)strspn(name, "_");
}

static int by_merit(uint32_t left, uint32_t right, const void *context)
{
    const struct candidate *c = context;
    const struct object_symbol *l = &c->symbols[left], *r = &c->symbols[right];
    if ((l->type == SYMBOL_FUNC) != (r->type == SYMBOL_FUNC))
        return l->type == SYMBOL_FUNC ? -1 : 1;
    if ((l->binding == BIND_LOCAL) != (r->binding == BIND_LOCAL))
        return l->binding == BIND_LOCAL ? 1 : -1;
    if (underscores(l->name) != underscores(r->name))
        return underscores(l->name) < underscores(r->name) ? -1 : 1;
    return left < right ? -1 : left > right;
}

static bool is_candidate(const struct object_symbol *s, const struct object *o)
{
    if (s->type == SYMBOL_OBJECT || s->type == SYMBOL_OTHER || !s->name[0] || s->is_mapping)
        return false;
    const struct object_section *section = object_section(o, s->section);
    if (!section || !section->is_code)
        return false;
    return s->type != SYMBOL_NOTYPE || strncmp(s->name, ".L", 2);
}

static uint64_t end_of(const struct object_symbol *s, const struct object *o)
{
    const struct object_section *section = object_section(o, s->section);
    uint64_t section_end = section->address + section->size;
    if (s->size && s->size <= section_end - s->address)
        return s->address + s->size;
    return section_end > s->address ? section_end : s->address + 1;
}

static void append_native(struct functions *f, const struct object_symbol *s, uint32_t symbol,
                          const struct object *o)
{
    struct function *previous = f->len ? &f->at[f->len - 1] : NULL;
    if (previous && previous->start == s->address)
        return;
    bool is_inside = previous && s->address <= previous->last && previous->is_function;
    if (is_inside && s->type == SYMBOL_NOTYPE)
        return;
    if (previous && previous->last >= s->address)
        previous->last = s->address - 1;
    f->at[f->len++] = (struct function){.start = s->address,
                                        .last = end_of(s, o) - 1,
                                        .name = s->name,
                                        .symbol = symbol,
                                        .is_function = s->size != 0,
                                        .is_static = s->binding == BIND_LOCAL};
}

static bool has_functions(const struct functions *f, uint32_t len, const struct object_section *s)
{
    uint32_t first = PARTITION_POINT(len, i, f->at[i].last < s->address);
    return first < len && f->at[first].start - s->address < s->size;
}

static int by_start(const void *left, const void *right)
{
    const struct function *l = left, *r = right;
    return (l->start > r->start) - (l->start < r->start);
}

/* Gives code sections without symbols a name of their own. `f` has room for all sections. */
static void append_sections(struct functions *f, const struct object_section *sections, size_t len,
                            struct arena *a)
{
    uint32_t named = f->len;
    for (size_t i = 0; named && i < len; i++) {
        const struct object_section *s = &sections[i];
        bool is_code = s->is_alloc && s->is_code && s->has_bytes && s->size;
        if (!is_code || has_functions(f, named, s))
            continue;
        f->at[f->len++] = (struct function){.start = s->address,
                                            .last = s->address + s->size - 1,
                                            .name = arena_printf(a, "[%s]", s->name),
                                            .symbol = NO_FUNCTION};
    }
    if (f->len > named)
        qsort(f->at, f->len, sizeof *f->at, by_start);
}

/* No two ranges may share an address, whatever the section headers say. */
static void cut_overlaps(struct functions *f)
{
    uint32_t kept = f->len ? 1 : 0;
    for (uint32_t i = 0; i < f->len; i++)
        if (f->at[i].last < f->at[i].start)
            f->at[i].last = f->at[i].start;
    for (uint32_t i = 1; i < f->len; i++) {
        if (f->at[i].start == f->at[kept - 1].start)
            continue;
        if (f->at[kept - 1].last >= f->at[i].start)
            f->at[kept - 1].last = f->at[i].start - 1;
        f->at[kept++] = f->at[i];
    }
    f->len = kept;
}

void functions_native(struct functions *f, struct object *o, struct arena *a)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    struct keyed *order = memory_zeroed(len, sizeof *order);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < len; i++)
        if (is_candidate(&symbols[i], o))
            order[kept++] = (struct keyed){symbols[i].address, i};
    sort_keyed(order, kept);
    sort_equals(order, kept, by_merit, &(struct candidate){symbols});

    size_t sections_len;
    const struct object_section *sections = object_sections(o, &sections_len);
    *f = (struct functions){.at = ARENA_NEW(a, struct function, kept + sections_len)};
    for (uint32_t i = 0; i < kept; i++)
        append_native(f, &symbols[order[i].item], order[i].item, o);
    memory_free(order);
    append_sections(f, sections, sections_len, a);
    cut_overlaps(f);
    for (uint32_t i = 0; i < f->len; i++)
        f->at[i].is_function = true;
    functions_index(f, a);
}

bool function_is_compressed(const struct functions *f, uint32_t function, struct object *o)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    uint32_t symbol = f->at[function].symbol;
    return symbol < len && symbols[symbol].is_compressed;
}
