/* Splitting the entries of functions among their callers. */
#include "bridge/counted_calls.h"

#include "base/saturating.h"
#include "base/sort.h"
#include "profile/analysis/graph/graph.h"

#include <string.h>

struct calls {
    const struct functions *functions;
    struct arena scratch;
    uint64_t *count; /* per function */
    uint64_t unknown;
};

static void take_counts(struct calls *c, const struct line_counts *counts)
{
    struct intern names = {0};
    VEC(uint32_t) first = {0}; /* function of each name */
    for (uint32_t i = 0; i < c->functions->len; i++) {
        const char *name = c->functions->at[i].name;
        if (intern_kept(&names, name, strlen(name)) == first.len)
            vec_push(&first, i);
    }
    for (size_t i = 0; i < counts->functions.len; i++) {
        const struct called_function *called = &counts->functions.at[i];
        const char *name = intern_text(&counts->names, called->name);
        uint32_t number = intern_find(&names, name, strlen(name));
        if (number == INTERN_NONE) {
            c->unknown += called->count > 0;
            continue;
        }
        uint64_t *count = &c->count[first.at[number]];
        *count = add_saturating(*count, called->count);
    }
    vec_free(&first);
    intern_deinit(&names);
}

/* Direct calls of functions that ran by others that did, once each, by callee. */
static struct keyed *callers_by_callee(struct calls *c, struct object *o, size_t *len)
{
    struct static_calls found = {0};
    struct map known = {0};
    *len = 0;
    if (!static_calls_native(&found, c->functions, o, &c->scratch))
        found.len = 0;
    struct keyed *callers = ARENA_NEW(&c->scratch, struct keyed, found.len);
    for (size_t i = 0; i < found.len; i++) {
        const struct static_call *call = &found.at[i];
        bool is_new;
        map_index(&known, call->caller, call->callee, i, &is_new);
        if (is_new && call->caller != call->callee && c->count[call->caller] &&
            c->count[call->callee])
            callers[(*len)++] = (struct keyed){call->callee, call->caller};
    }
    map_deinit(&known);
    sort_keyed(callers, *len);
    return callers;
}

/* `part` of `whole` in `count`, rounded down; all of it in the end. */
static uint64_t share_of(uint64_t count, double part, double whole)
{
    double share = (double)count * (part / whole);
    return share < (double)count ? (uint64_t)share : count;
}

static void put_callee(struct calls *c, uint32_t callee, const struct keyed *callers, size_t len,
                       struct profile *out)
{
    uint64_t self = c->functions->at[callee].start, count = c->count[callee], given = 0;
    double all = 0, sum = 0;
    for (size_t i = 0; i < len; i++)
        all += (double)c->count[callers[i].item];
    for (size_t i = 0; i < len; i++) {
        sum += (double)c->count[callers[i].item];
        uint64_t until = i + 1 < len ? share_of(count, sum, all) : count;
        if (until > given)
            vec_push(&out->arcs,
                     ((struct arc){c->functions->at[callers[i].item].start, self, until - given}));
        given = until > given ? until : given;
    }
    if (!len && count)
        vec_push(&out->arcs, ((struct arc){0, self, count}));
}

uint64_t counted_calls_put(const struct line_counts *counts, const struct functions *f,
                           struct object *o, struct profile *out)
{
    struct calls c = {.functions = f};
    size_t len, at = 0;
    c.count = ARENA_NEW(&c.scratch, uint64_t, f->len);
    take_counts(&c, counts);
    struct keyed *callers = callers_by_callee(&c, o, &len);
    for (uint32_t i = 0; i < f->len; i++) {
        size_t first = at;
        while (at < len && callers[at].key == i)
            at++;
        put_callee(&c, i, callers + first, at - first, out);
    }
    arena_deinit(&c.scratch);
    return c.unknown;
}
