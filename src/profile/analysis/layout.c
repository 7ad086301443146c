/* Call-chain clustering (C3): layout.h describes the algorithm and its source. Here in steps:
 *
 * 1. What can be moved: functions of the program's .text whose name a linker can be given.
 * Functions of one name are one unit, numbered by the first of them.
 * 2. Weights: the calls between units, and their heat, which is samples and calls.
 * 3. Clusters: units by density, each appended to the cluster of the caller that calls it most.
 *        calls      main -90-> parse -70-> next      by density: next, parse, main
 *                   main --2-> usage                 [main parse next] [usage]
 *
 * 4. Places: clusters by density one after the other, functions aligned as they were.
 * 5. Names: all symbols at a function's address, since the linker may know it by any of them.
 *
 * Which cluster a unit is in is kept by union-find. Cost: sorting units by density, else linear in
 * functions, calls and symbols, for each of three limits of a cluster's size. */
#include "profile/analysis/layout.h"

#include "base/map.h"
#include "base/sort.h"
#include "profile/analysis/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RARE = 10, THIN = 8, MAX_ALIGNMENT = 16 };

/* A unit, and the cluster that begins with it. */
struct unit {
    uint64_t size;
    double heat;
    double called; /* weight of all calls of it */
    uint32_t best; /* the unit that calls it most, or NO_FUNCTION */
    double best_weight;
    uint32_t leader;     /* towards the cluster it is in */
    uint32_t next, tail; /* in the cluster */
    uint64_t cluster_size;
    double cluster_heat;
};

struct clustering {
    struct layout *order;
    const struct functions *functions;
    const struct graph *graph;
    const struct layout_rules *rules;
    struct arena scratch;
    bool *is_movable;
    uint32_t *unit_of;             /* by function: the first function of its unit */
    uint32_t *sibling;             /* by function: the next one in its unit */
    struct unit *units;            /* by first function */
    double *heat;                  /* by function */
    VEC(struct layout_call) calls; /* between functions, in order of discovery */
    uint32_t *sorted, sorted_len;  /* first functions of units that ran */
};

/* --- what can be moved ----------------------------------------------------------------------- */

/* Sections that compilers make for single functions end up in the program's .text, or in a section
 * whose name continues that. Start files, PLTs and the like stay where they are. */
static bool layout_is_in_text(const struct object *o, const struct object_symbol *s)
{
    const struct object_section *section = object_section(o, s->section);
    return section && !strncmp(section->name, ".text", 5) &&
           (!section->name[5] || section->name[5] == '.');
}

/* An order file has a name a line, and linkers take some letters for patterns or remarks. */
static bool layout_can_be_written(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 127 || strchr("*?[]\\\"#", *c))
            return false;
    return name[0] != '\0';
}

static uint64_t layout_size_of(const struct clustering *c, uint32_t function)
{
    const struct function *at = &c->functions->at[function];
    uint64_t limit = object_facts(c->rules->file)->size_bytes; /* a header may say anything */
    uint64_t size = at->last - at->start + 1;
    return size && size < limit ? size : limit;
}

/* Gathers the units of functions that can be moved. */
static void layout_find_units(struct clustering *c)
{
    const struct functions *f = c->functions;
    size_t len;
    const struct object_symbol *symbols = object_symbols(c->rules->file, &len, NULL);
    struct map newest = {0}; /* of each name */
    c->is_movable = ARENA_NEW(&c->scratch, bool, f->len);
    c->unit_of = ARENA_NEW(&c->scratch, uint32_t, f->len);
    c->sibling = ARENA_NEW(&c->scratch, uint32_t, f->len);
    c->units = ARENA_NEW(&c->scratch, struct unit, f->len);
    for (uint32_t i = 0; i < f->len; i++) {
        const struct function *at = &f->at[i];
        c->unit_of[i] = i;
        c->sibling[i] = NO_FUNCTION;
        c->units[i] =
            (struct unit){.best = NO_FUNCTION, .leader = i, .next = NO_FUNCTION, .tail = i};
        c->is_movable[i] = at->object == c->rules->object && at->symbol < len &&
                           layout_is_in_text(c->rules->file, &symbols[at->symbol]) &&
                           layout_can_be_written(at->name) && !function_is_profiler(f, i);
        if (!c->is_movable[i])
            continue;
        bool is_new;
        uint32_t *last = map_at(&newest, f->name_order[i], 0, i, &is_new);
        if (!is_new) {
            c->unit_of[i] = c->unit_of[*last];
            c->sibling[*last] = i;
            *last = i;
        }
        c->units[c->unit_of[i]].size += layout_size_of(c, i);
        c->order->code_size += layout_size_of(c, i);
    }
    map_deinit(&newest);
}

/* --- weights --------------------------------------------------------------------------------- */

static void layout_add_call(struct clustering *c, uint32_t caller, uint32_t callee, double count)
{
    if (caller != callee && count > 0 && c->is_movable[caller] && c->is_movable[callee])
        vec_push(&c->calls, (struct layout_call){caller, callee, count});
}

/* Calls, then how often each function was called, then its heat.
 *
 * Samples say what runs, but a short run has few, and most functions are met by none. So calls
 * count as well: all together as much as the samples are uncertain, which is their square root. */
static void layout_weigh(struct clustering *c)
{
    const struct graph *g = c->graph;
    const struct stacks *stacks = c->rules->stacks;
    for (uint32_t i = 0; i < g->measured_len; i++)
        layout_add_call(c, g->arcs[i].caller, g->arcs[i].callee, (double)g->arcs[i].count);
    if (!c->calls.len && stacks) {
        for (size_t i = 0; i < stacks->calls_len; i++)
            layout_add_call(c, stacks->calls[i].caller, stacks->calls[i].callee,
                            stacks->calls[i].inclusive);
        c->order->calls_are_samples = c->calls.len > 0;
    }
    double *called = ARENA_NEW(&c->scratch, double, c->functions->len), calls = 0, samples = 0;
    for (uint32_t i = 0; i < c->functions->len; i++)
        called[i] = (double)(g->nodes[i].calls + g->nodes[i].self_calls);
    for (size_t i = 0; c->order->calls_are_samples && i < c->calls.len; i++)
        called[c->calls.at[i].callee] += c->calls.at[i].count;
    for (size_t i = 0; i < c->calls.len; i++) /* who calls was called, if by someone out of sight */
        if (called[c->calls.at[i].caller] <= 0)
            called[c->calls.at[i].caller] = 1;
    for (uint32_t i = 0; i < c->functions->len; i++) {
        calls += called[i];
        samples += c->is_movable[i] ? g->nodes[i].self : 0;
    }
    c->order->has_samples = samples > 0;
    double unit = c->order->has_samples && calls > 0 ? sqrt(samples) / calls : 1;
    c->heat = ARENA_NEW(&c->scratch, double, c->functions->len);
    for (uint32_t i = 0; i < c->functions->len; i++) {
        c->heat[i] = g->nodes[i].self + unit * called[i];
        if (c->is_movable[i]) {
            c->units[c->unit_of[i]].heat += c->heat[i];
        } else if (c->heat[i] > 0 && c->functions->at[i].object == c->rules->object &&
                   !function_is_profiler(c->functions, i)) {
            c->order->fixed++;
            c->order->fixed_heat += c->heat[i];
        }
    }
}

/* Of each unit, who calls it most. */
static void layout_find_best_callers(struct clustering *c)
{
    struct map pairs = {0};
    VEC(struct layout_call) sums = {0};
    for (size_t i = 0; i < c->calls.len; i++) {
        const struct layout_call *call = &c->calls.at[i];
        uint32_t caller = c->unit_of[call->caller], callee = c->unit_of[call->callee];
        if (caller == callee)
            continue;
        bool is_new;
        uint32_t place = map_index(&pairs, caller, callee, sums.len, &is_new);
        if (is_new)
            vec_push(&sums, (struct layout_call){caller, callee, 0});
        sums.at[place].count += call->count;
    }
    for (size_t i = 0; i < sums.len; i++) {
        const struct layout_call *sum = &sums.at[i];
        struct unit *callee = &c->units[sum->callee];
        callee->called += sum->count;
        if (sum->count > callee->best_weight) {
            callee->best_weight = sum->count;
            callee->best = sum->caller;
        }
    }
    vec_free(&sums);
    map_deinit(&pairs);
}

/* --- clusters -------------------------------------------------------------------------------- */

/* Densest first; equals stay in the order of addresses. */
static void layout_sort_by_density(struct clustering *c)
{
    struct keyed *keys = ARENA_NEW(&c->scratch, struct keyed, c->sorted_len);
    for (uint32_t i = 0; i < c->sorted_len; i++) {
        const struct unit *u = &c->units[c->sorted[i]];
        /* heat by byte */
        double density = u->cluster_heat / (double)u->cluster_size;
        keys[i] = (struct keyed){sort_descending(density), c->sorted[i]};
    }
    sort_keyed(keys, c->sorted_len);
    for (uint32_t i = 0; i < c->sorted_len; i++)
        c->sorted[i] = keys[i].item;
}

/* The unit that leads the cluster of `unit`, with path halving. */
static uint32_t layout_find_leader(struct clustering *c, uint32_t unit)
{
    while (c->units[unit].leader != unit) {
        c->units[unit].leader = c->units[c->units[unit].leader].leader;
        unit = c->units[unit].leader;
    }
    return unit;
}

/* Appends the cluster that `unit` leads to that of its best caller, unless layout.h says not to. */
static void layout_append_to_caller(struct clustering *c, uint32_t unit)
{
    struct unit *u = &c->units[unit];
    if (u->best == NO_FUNCTION || u->best_weight * RARE <= u->called)
        return;
    uint32_t leader = layout_find_leader(c, u->best);
    struct unit *to = &c->units[leader];
    uint64_t size = to->cluster_size + u->cluster_size;
    double heat = to->cluster_heat + u->cluster_heat;
    bool is_thin = heat / (double)size < to->cluster_heat / (double)to->cluster_size / THIN;
    if (leader == unit || to->heat <= 0 || size > c->order->cluster_bytes || is_thin)
        return;
    c->units[to->tail].next = unit;
    to->tail = u->tail;
    to->cluster_size = size;
    to->cluster_heat = heat;
    u->leader = leader;
}

/* Joins units to clusters; `sorted` has their leaders afterwards, the densest first. */
static void layout_make_clusters(struct clustering *c)
{
    c->sorted = ARENA_NEW(&c->scratch, uint32_t, c->functions->len);
    for (uint32_t i = 0; i < c->functions->len; i++) {
        struct unit *u = &c->units[i];
        u->cluster_size = u->size;
        u->cluster_heat = u->heat;
        if (c->is_movable[i] && c->unit_of[i] == i && u->heat > 0)
            c->sorted[c->sorted_len++] = i;
    }
    layout_sort_by_density(c);
    for (uint32_t i = 0; i < c->sorted_len; i++)
        layout_append_to_caller(c, c->sorted[i]);
    uint32_t clusters = 0;
    for (uint32_t i = 0; i < c->sorted_len; i++)
        if (c->units[c->sorted[i]].leader == c->sorted[i])
            c->sorted[clusters++] = c->sorted[i];
    c->sorted_len = clusters;
    layout_sort_by_density(c);
}

/* --- places ---------------------------------------------------------------------------------- */

/* Gives every function of the clusters its new address, and calls their places. */
static void layout_put_down(struct clustering *c, struct arena *a)
{
    struct layout *t = c->order;
    uint32_t first = 0;
    while (first < c->functions->len && !c->is_movable[first])
        first++;
    uint64_t address = first < c->functions->len ? c->functions->at[first].start : 0;
    t->places = ARENA_NEW(a, struct layout_place, c->functions->len);
    t->clusters = c->sorted_len;
    for (uint32_t k = 0; k < c->sorted_len; k++)
        for (uint32_t unit = c->sorted[k]; unit != NO_FUNCTION; unit = c->units[unit].next)
            for (uint32_t i = unit; i != NO_FUNCTION; i = c->sibling[i]) {
                /* The alignment of the function, as far as its address shows. */
                uint64_t start = c->functions->at[i].start, lowest = start & -start;
                uint64_t alignment = lowest && lowest < MAX_ALIGNMENT ? lowest : MAX_ALIGNMENT;
                address = (address + alignment - 1) & -alignment;
                t->places[t->len++] = (struct layout_place){.function = i,
                                                            .cluster = k,
                                                            .is_named = i == unit,
                                                            .heat = c->heat[i],
                                                            .size = layout_size_of(c, i),
                                                            .after = address};
                address += layout_size_of(c, i);
                t->heat += c->heat[i];
                t->size += layout_size_of(c, i);
                t->shared += i != unit;
            }
    uint32_t *place = ARENA_NEW(&c->scratch, uint32_t, c->functions->len); /* plus one */
    for (uint32_t i = 0; i < t->len; i++)
        place[t->places[i].function] = i + 1;
    t->calls = ARENA_NEW(a, struct layout_call, c->calls.len);
    for (size_t i = 0; i < c->calls.len; i++) {
        const struct layout_call *call = &c->calls.at[i];
        uint32_t caller = place[call->caller], callee = place[call->callee];
        if (caller && callee)
            t->calls[t->calls_len++] = (struct layout_call){caller - 1, callee - 1, call->count};
    }
}

static int layout_by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* All names of each function; and whether there is a NAME.cold, into which GCC splits what is
 * rarely run. */
static void layout_collect_names(struct clustering *c, struct arena *a)
{
    struct layout *t = c->order;
    size_t len;
    const struct object_symbol *symbols = object_symbols(c->rules->file, &len, NULL);
    uint32_t *place = ARENA_NEW(&c->scratch, uint32_t, c->functions->len);
    uint32_t *alias_of = ARENA_NEW(&c->scratch, uint32_t, len);
    const char **cold = ARENA_NEW(&c->scratch, const char *, len);
    size_t cold_len = 0;
    for (uint32_t i = 0; i < t->len; i++) {
        place[t->places[i].function] = i + 1;
        t->places[i].names_len = 1;
    }
    for (uint32_t k = 0; k < len; k++) {
        /* Which of the ordered functions a symbol is another name of, as its place + 1; 0: of none.
         */
        const struct object_symbol *s = &symbols[k];
        const struct functions *f = c->functions;
        uint64_t start = s->address + (f->objects ? f->objects[c->rules->object].base : 0);
        uint32_t i = functions_find(f, start);
        bool is_alias = i != NO_FUNCTION && f->at[i].start == start && f->at[i].symbol != k &&
                        s->type == SYMBOL_FUNC && layout_can_be_written(s->name);
        alias_of[k] = is_alias ? place[i] : 0;
        if (alias_of[k])
            t->places[alias_of[k] - 1].names_len++;
        size_t name = strlen(symbols[k].name);
        if (name > 5 && !strcmp(symbols[k].name + name - 5, ".cold"))
            cold[cold_len++] = symbols[k].name;
    }
    qsort(cold, cold_len, sizeof *cold, layout_by_text);
    for (uint32_t i = 0; i < t->len; i++) {
        t->places[i].names = ARENA_NEW(a, const char *, t->places[i].names_len);
        t->places[i].names[0] = c->functions->at[t->places[i].function].name;
        t->places[i].names_len = 1;
        const char *part =
            cold_len ? arena_printf(&c->scratch, "%s.cold", t->places[i].names[0]) : NULL;
        t->places[i].has_cold_part =
            part && bsearch(&part, cold, cold_len, sizeof *cold, layout_by_text);
    }
    for (uint32_t k = 0; k < len; k++)
        if (alias_of[k]) {
            struct layout_place *p = &t->places[alias_of[k] - 1];
            p->names[p->names_len++] = symbols[k].name;
        }
}

/* All steps, with one limit on the size of clusters. */
static void layout_make_with_limit(struct layout *t, const struct functions *f,
                                   const struct graph *g, const struct layout_rules *rules,
                                   uint64_t cluster_bytes, struct arena *a)
{
    *t = (struct layout){.functions = f, .cluster_bytes = cluster_bytes};
    struct clustering c = {.order = t, .functions = f, .graph = g, .rules = rules};
    layout_find_units(&c);
    layout_weigh(&c);
    layout_find_best_callers(&c);
    layout_make_clusters(&c);
    layout_put_down(&c, a);
    layout_collect_names(&c, a);
    vec_free(&c.calls);
    arena_deinit(&c.scratch);
}

/* Whether one order serves better: by misses of the TLB, or, where those are much the same, by
 * calls that leave their page. */
static bool layout_is_better(const struct locality *one, const struct locality *other)
{
    const double MUCH_THE_SAME = 0.95;
    if (one->misses < other->misses * MUCH_THE_SAME || other->misses < one->misses * MUCH_THE_SAME)
        return one->misses < other->misses;
    return one->leaving < other->leaving;
}

void layout_make(struct layout *t, struct layout_gain *gain, const struct functions *f,
                 const struct graph *g, const struct layout_rules *rules, struct arena *a)
{
    static const uint64_t limits[] = {4 << 10, 64 << 10, 2 << 20};
    bool is_given = rules->cluster_bytes != 0;
    layout_make_with_limit(t, f, g, rules, is_given ? rules->cluster_bytes : limits[0], a);
    layout_locality(t, false, &gain->before);
    layout_locality(t, true, &gain->after);
    for (size_t i = 1; !is_given && t->calls_len && i < sizeof limits / sizeof *limits; i++) {
        struct layout other;
        struct locality after;
        layout_make_with_limit(&other, f, g, rules, limits[i], a);
        layout_locality(&other, true, &after);
        if (layout_is_better(&after, &gain->after)) {
            *t = other;
            gain->after = after;
        }
    }
}

/* The same places with other heat. */
void layout_gain_others(struct layout_gain *gain, const struct layout *t,
                        const struct other_measures *others, struct arena *a)
{
    struct layout_other *all = ARENA_NEW(a, struct layout_other, others->len);
    for (size_t i = 0; i < others->len; i++) {
        const struct other_measure *from = &others->at[i];
        struct layout other = *t;
        other.calls_len = 0;
        other.heat = 0;
        other.places = ARENA_NEW(a, struct layout_place, t->len);
        for (uint32_t k = 0; k < t->len; k++) {
            other.places[k] = t->places[k];
            other.places[k].heat = from->self[t->places[k].function];
            other.heat += other.places[k].heat;
        }
        all[i] = (struct layout_other){.name = from->name, .share = other_share(from, other.heat)};
        layout_locality(&other, false, &all[i].before);
        layout_locality(&other, true, &all[i].after);
    }
    gain->others = all;
    gain->others_len = others->len;
}
