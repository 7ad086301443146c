/* Counts samples and arcs by symbol with sprof's rules: functions and symbols without a type that
 * have a size, one for each address; bins that begin in a symbol are its own; the first of symbols
 * that overlap has what is in both.
 *
 * Addresses are true ones. sprof itself takes those of the file, which count from the start of the
 * object's code, for addresses, and is right only where that is 0 (docs/compat.md). */
#include "gnu/sprof/sprof_tables.h"

#include "base/sort.h"

#include <string.h>

#define NONE ((uint32_t)SPROF_NONE)

static bool sprof_is_candidate(const struct object_symbol *s)
{
    return s->size && (s->type == SYMBOL_FUNC || s->type == SYMBOL_NOTYPE);
}

static bool sprof_is_better(const struct object_symbol *new, const struct object_symbol *old)
{
    bool is_plain = new->name[0] != '_', was_plain = old->name[0] != '_';
    return (old->is_hidden && !new->is_hidden) || (is_plain && !was_plain) ||
           (is_plain && was_plain && old->binding == BIND_WEAK && new->binding != BIND_WEAK);
}

static void sprof_list_symbols(struct object *o, struct sprof_tables *t)
{
    size_t len, candidates = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    VEC(struct keyed) order = {0};
    for (size_t i = 0; i < len; i++)
        if (sprof_is_candidate(&symbols[i]))
            vec_push(&order, (struct keyed){symbols[i].address, map_value(i)});
    candidates = order.len;
    sort_keyed(order.at, candidates);
    for (size_t i = 0; i < candidates; i++) {
        const struct object_symbol *s = &symbols[order.at[i].item];
        struct sprof_symbol *last = t->symbols.len ? &t->symbols.at[t->symbols.len - 1] : NULL;
        if (!last || last->named->address != s->address)
            vec_push(&t->symbols, (struct sprof_symbol){.named = s, .froms = NONE, .tos = NONE});
        else if (sprof_is_better(s, last->named))
            last->named = s;
    }
    vec_free(&order);
    for (size_t i = 0; i < t->symbols.len; i++) {
        const struct object_symbol *s = t->symbols.at[i].named;
        uint64_t before = i ? t->ends.at[i - 1] : 0, end = s->address + s->size;
        vec_push(&t->ends, end > before ? end : before);
    }
}

/* The first symbol that has the address in it. */
static uint32_t sprof_find(const struct sprof_tables *t, uint64_t address)
{
    size_t low = 0, high = t->symbols.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->ends.at[middle] > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low < t->symbols.len && t->symbols.at[low].named->address <= address ? (uint32_t)low
                                                                                : NONE;
}

static uint64_t sprof_bin(const struct histogram *h, uint32_t i)
{
    return h->low + (uint64_t)((unsigned __int128)(h->high - h->low) * i / h->bins);
}

static void sprof_count_ticks(const struct histogram *h, struct sprof_tables *t)
{
    uint32_t bin = 0;
    for (size_t i = 0; i < t->symbols.len && bin < h->bins; i++) {
        struct sprof_symbol *s = &t->symbols.at[i];
        uint64_t end = s->named->address + s->named->size;
        while (bin < h->bins && sprof_bin(h, bin) < s->named->address)
            bin++;
        for (; bin < h->bins && sprof_bin(h, bin) < end; bin++)
            s->ticks = add_saturating(s->ticks, histogram_get(h, bin));
        t->total_ticks = add_saturating(t->total_ticks, s->ticks);
    }
}

/* Adds to the arc of a chain, or puts a new one in front. What has no symbol is one arc for all
 * that came from outside, and each its own otherwise. */
static void sprof_add_arc(struct sprof_tables *t, uint32_t owner, bool is_from, uint32_t other,
                          bool is_outside, uint64_t count)
{
    uint32_t *chain = is_from ? &t->symbols.at[owner].froms : &t->symbols.at[owner].tos;
    bool is_new = true;
    if (other != NONE || is_outside) {
        uint32_t *at = map_at(&t->known, map_two(owner, is_from), other, NONE, &is_new);
        if (!is_new) {
            t->arcs.at[*at].count = add_saturating(t->arcs.at[*at].count, count);
            return;
        }
        *at = map_value(t->arcs.len);
    }
    vec_push(&t->arcs, (struct sprof_arc){other, *chain, count});
    *chain = map_value(t->arcs.len - 1);
}

static void sprof_count_arc(struct sprof_tables *t, const struct arc *arc)
{
    uint32_t callee = sprof_find(t, arc->self);
    uint32_t caller = arc->from ? sprof_find(t, arc->from) : NONE;
    if (callee != NONE) {
        t->symbols.at[callee].calls = add_saturating(t->symbols.at[callee].calls, arc->count);
        sprof_add_arc(t, callee, true, caller, !arc->from, arc->count);
    }
    if (caller != NONE)
        sprof_add_arc(t, caller, false, callee, false, arc->count);
}

static void sprof_find_merged(struct sprof_tables *t, const struct profile *p)
{
    struct arena scratch = {0};
    struct keyed *entries = ARENA_NEW(&scratch, struct keyed, t->symbols.len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < t->symbols.len; i++) {
        const struct object_symbol *s = t->symbols.at[i].named;
        if (s->binding != BIND_LOCAL && !s->is_hidden)
            entries[len++] = (struct keyed){s->address, i};
    }
    merged_calls_find(&t->merged, p, entries, len);
    arena_deinit(&scratch);
}

void sprof_count(struct object *o, const struct profile *p, struct sprof_tables *out)
{
    const struct histogram *h = &p->histograms.at[0];
    sprof_list_symbols(o, out);
    sprof_count_ticks(h, out);
    out->tick = h->rate ? 1.0 / h->rate : 0;
    out->dimension = h->dimension;
    for (size_t i = 0; i < p->arcs.len; i++)
        sprof_count_arc(out, &p->arcs.at[i]);
    sprof_find_merged(out, p);
}

void sprof_tables_deinit(struct sprof_tables *t)
{
    vec_free(&t->symbols);
    vec_free(&t->arcs);
    vec_free(&t->ends);
    map_deinit(&t->known);
}
