/* Symbols by address, for code that no debug information names.
 *
 * Of several at one address, the choice is that of BFD's better_fit() in elf.c of binutils 2.40:
 * one that reaches the address before one that does not, then functions, then typed ones, then the
 * smaller one. */
#include "objfile/nearest.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#include <stdlib.h>

struct nearest {
    VEC(struct keyed) symbols; /* by address: index into the object's symbols */
};

static bool is_candidate(const struct object_symbol *s)
{
    return s->section && !s->is_mapping &&
           (s->type == SYMBOL_NOTYPE || s->type == SYMBOL_FUNC || s->type == SYMBOL_IFUNC);
}

static struct nearest *nearest_new(struct object *o)
{
    struct nearest *n = calloc(1, sizeof *n);
    if (!n)
        memory_exhausted(sizeof *n);
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len && i < UINT32_MAX; i++)
        if (is_candidate(&symbols[i]))
            vec_push(&n->symbols, (struct keyed){symbols[i].address, (uint32_t)i});
    sort_keyed(n->symbols.at, n->symbols.len);
    return n;
}

static struct nearest *nearest_of(struct object *o)
{
    if (!o->nearest)
        o->nearest = nearest_new(o);
    return o->nearest;
}

void nearest_free(struct nearest *n)
{
    if (!n)
        return;
    vec_free(&n->symbols);
    free(n);
}

static size_t symbols_up_to(const struct nearest *n, uint64_t address)
{
    return PARTITION_POINT(n->symbols.len, i, n->symbols.at[i].key <= address);
}

static uint64_t extent(const struct object_symbol *s)
{
    return s->size ? s->size : 1;
}

static bool fits_better(const struct object_symbol *candidate, const struct object_symbol *best,
                        uint64_t address)
{
    uint64_t distance = address - best->address;
    if (candidate->address != best->address)
        return candidate->address > best->address;
    if (extent(best) <= distance)
        return extent(candidate) > extent(best);
    if (extent(candidate) <= distance)
        return false;
    bool is_function = candidate->type == SYMBOL_FUNC, best_is = best->type == SYMBOL_FUNC;
    if (is_function != best_is)
        return is_function;
    if ((candidate->type == SYMBOL_NOTYPE) != (best->type == SYMBOL_NOTYPE))
        return best->type == SYMBOL_NOTYPE;
    return extent(candidate) < extent(best);
}

const struct object_symbol *nearest_symbol(struct object *o, uint64_t address)
{
    uint32_t section = section_at(o, address);
    if (!section)
        return NULL;
    size_t end = symbols_up_to(nearest_of(o), address), start = end;
    const struct object_symbol *symbols = o->symbols, *best = NULL;
    const struct keyed *at = o->nearest->symbols.at;
    /* Symbols of other sections can only stand between at the section's very start. */
    while (start && at[start - 1].key >= o->sections[section].address &&
           (!best || at[start - 1].key == best->address)) {
        start--;
        if (symbols[at[start].item].section == section)
            best = &symbols[at[start].item];
    }
    for (size_t i = start; best && i < end; i++) {
        const struct object_symbol *s = &symbols[at[i].item];
        if (s->section == section && fits_better(s, best, address))
            best = s;
    }
    return best;
}

/* Of several symbols at one address, the choice changes where one of them ends. Groups so large
 * that this would take long are made on purpose, and pass for one symbol. */
static uint64_t nearest_end(const struct object *o, size_t last, uint64_t address, uint64_t next)
{
    enum { MOST = 64 };
    const struct keyed *at = o->nearest->symbols.at;
    size_t first = last;
    while (first && at[first - 1].key == at[last].key && last - first < MOST)
        first--;
    if (first == last || last - first == MOST)
        return next;
    for (size_t i = first; i <= last; i++) {
        uint64_t end = at[i].key + extent(&o->symbols[at[i].item]);
        if (end > address && end < next)
            next = end;
    }
    return next;
}

/* Where a section begins or ends, another one's symbols count. */
static uint64_t section_edge(const struct object *o, uint64_t address, uint64_t next)
{
    for (uint32_t i = 1; i < o->sections_len; i++) {
        const struct object_section *s = &o->sections[i];
        uint64_t end = s->address + s->size;
        if (!s->is_alloc)
            continue;
        if (s->address > address && s->address < next)
            next = s->address;
        if (end > address && end < next)
            next = end;
    }
    return next;
}

uint64_t nearest_after(struct object *o, uint64_t address)
{
    const struct nearest *n = nearest_of(o);
    size_t next = symbols_up_to(n, address);
    uint64_t start = next < n->symbols.len ? n->symbols.at[next].key : UINT64_MAX;
    start = section_edge(o, address, start);
    return next ? nearest_end(o, next - 1, address, start) : start;
}
