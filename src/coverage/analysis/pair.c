/* Matching in linear time: both files mostly list their functions in one order, and a map from
 * identity to the first of a chain serves the rest. */
#include "coverage/analysis/pair.h"

#include "base/map.h"

#include <string.h>

enum { CHAIN_STEPS = 16 }; /* among functions of one identity; more would be quadratic */

struct matching {
    const struct notes *notes;
    const struct counters *counters;
    struct map heads; /* ident to the first unmatched counted function */
    VEC(uint32_t) next;
    VEC(bool) is_taken;
};

static bool is_same_identity(const struct notes_function *f, const struct counted_function *c)
{
    return f->ident == c->ident && (!c->name || !f->name || !strcmp(f->name, c->name));
}

bool pair_is_same_code(const struct notes_function *f, const struct counted_function *counted)
{
    return f->lineno_checksum == counted->lineno_checksum &&
           f->cfg_checksum == counted->cfg_checksum;
}

bool pair_is_possible(const struct arcs_origin *notes, const struct arcs_origin *counters)
{
    return notes->family == counters->family &&
           (notes->family != ARCS_RFC || notes->version == counters->version);
}

static void build_chains(struct matching *m)
{
    const struct counters *c = m->counters;
    map_reserve(&m->heads, c->functions.len);
    vec_reserve(&m->next, c->functions.len);
    for (size_t i = c->functions.len; i-- > 0;) {
        bool is_new;
        uint32_t *head = map_at(&m->heads, c->functions.at[i].ident, 0, NO_INDEX, &is_new);
        m->next.at[i] = *head;
        *head = (uint32_t)i;
    }
}

/* The first free one with the same checksums, or else the first free one. */
static uint32_t find_in_chain(struct matching *m, const struct notes_function *f)
{
    if (!m->heads.slots)
        build_chains(m);
    uint32_t *head = map_find(&m->heads, f->ident, 0), found = NO_INDEX;
    while (head && *head != (uint32_t)NO_INDEX && m->is_taken.at[*head])
        *head = m->next.at[*head];
    uint32_t at = head ? *head : (uint32_t)NO_INDEX;
    for (unsigned step = 0; at != (uint32_t)NO_INDEX && step < CHAIN_STEPS; step++) {
        const struct counted_function *counted = &m->counters->functions.at[at];
        if (!m->is_taken.at[at] && is_same_identity(f, counted)) {
            if (pair_is_same_code(f, counted))
                return at;
            found = found == (uint32_t)NO_INDEX ? at : found;
        }
        at = m->next.at[at];
    }
    return found;
}

static void match(struct matching *m, struct pairing *p)
{
    const struct counters *c = m->counters;
    uint32_t expected = 0;
    p->unmatched = (uint32_t)c->functions.len;
    for (size_t i = 0; i < m->notes->functions.len; i++) {
        const struct notes_function *f = &m->notes->functions.at[i];
        uint32_t found = expected;
        if (found >= c->functions.len || m->is_taken.at[found] ||
            !is_same_identity(f, &c->functions.at[found]) ||
            !pair_is_same_code(f, &c->functions.at[found]))
            found = find_in_chain(m, f);
        p->counted.at[i] = found;
        if (found == (uint32_t)NO_INDEX)
            continue;
        m->is_taken.at[found] = true;
        p->unmatched--;
        expected = found + 1;
    }
}

void pair_functions(const struct notes *n, const struct counters *c, struct pairing *p)
{
    struct matching m = {.notes = n, .counters = c};
    vec_reserve(&p->counted, n->functions.len);
    p->counted.len = n->functions.len;
    vec_reserve(&m.is_taken, c->functions.len);
    if (c->functions.len)
        memset(m.is_taken.at, 0, c->functions.len * sizeof *m.is_taken.at);
    match(&m, p);
    p->is_other_version = n->origin.version != c->origin.version;
    p->is_other_stamp = n->origin.stamp != c->origin.stamp;
    map_deinit(&m.heads);
    vec_free(&m.next);
    vec_free(&m.is_taken);
}

void pairing_deinit(struct pairing *p)
{
    vec_free(&p->counted);
}
