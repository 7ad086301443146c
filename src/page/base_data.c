/* Columns beside those of the functions, and the functions that are no longer there. */
#include "page/base_data.h"

#include "page/columns.h"
#include "profile/analysis/compare/comparison.h"

#include <string.h>

struct base {
    const struct page_rows *rows;
    const struct page_profile *profile; /* the base's */
    struct arena arena;
    struct flat flat;
    struct names names;
    struct match match;
    uint32_t *row_of; /* per function of the base: its row of the flat profile, or UINT32_MAX */
    bool *is_taken;   /* per row */
};

static void index_base(struct base *b)
{
    struct filter all = {0};
    struct view_rules rules = {.sort = BY_SELF, .shows_all = false, .filter = &all};
    struct identities old, new;
    names_init(&b->names, b->profile->functions, b->profile->demangle, &b->arena);
    flat_make(&b->flat, b->profile->summary, b->profile->graph, &b->names, &rules, &b->arena);
    identities_of(&old, b->profile->functions, NULL, &b->arena);
    identities_of(&new, b->rows->names.functions, NULL, &b->arena);
    match_identities(&b->match, &old, &new, &b->arena);
    b->row_of = ARENA_NEW(&b->arena, uint32_t, old.len);
    memset(b->row_of, -1, old.len * sizeof *b->row_of);
    for (uint32_t i = 0; i < b->flat.len; i++)
        b->row_of[b->flat.rows[i].function] = i;
    b->is_taken = ARENA_NEW(&b->arena, bool, b->flat.len);
}

static const struct flat_row *base_row(struct base *b, const struct page_row *row)
{
    uint32_t old = b->match.old_of[row->function];
    uint32_t found = old == NO_FUNCTION ? UINT32_MAX : b->row_of[old];
    if (found == UINT32_MAX)
        return NULL;
    b->is_taken[found] = true;
    return &b->flat.rows[found];
}

static void row_amounts(struct json *j, const char *key, const struct flat_row **rows, size_t len,
                        double (*get)(const struct flat_row *))
{
    column_begin(j, key);
    for (size_t i = 0; i < len; i++) {
        if (rows[i])
            column_samples(j, get(rows[i]));
        else
            json_none(j);
    }
    json_end(j);
}

static double self_of(const struct flat_row *r)
{
    return r->self;
}

static double total_of(const struct flat_row *r)
{
    return r->total;
}

static double calls_of(const struct flat_row *r)
{
    return (double)r->calls;
}

static void rows_data(struct json *j, const struct flat_row **rows, size_t len)
{
    row_amounts(j, "self", rows, len, self_of);
    row_amounts(j, "total", rows, len, total_of);
    row_amounts(j, "calls", rows, len, calls_of);
}

static void gone_data(struct json *j, struct base *b)
{
    const struct flat_row **gone = ARENA_NEW(&b->arena, const struct flat_row *, b->flat.len);
    size_t len = 0;
    for (uint32_t i = 0; i < b->flat.len; i++)
        if (!b->is_taken[i])
            gone[len++] = &b->flat.rows[i];
    json_key(j, "gone"), json_begin(j, '{');
    column_begin(j, "name");
    for (size_t i = 0; i < len; i++)
        json_str(j, names_get(&b->names, gone[i]->function));
    json_end(j);
    rows_data(j, gone, len);
    json_end(j);
}

void base_data(struct json *j, const struct page_rows *r)
{
    struct base b = {.rows = r, .profile = r->profile->base};
    json_key(j, "base");
    if (!b.profile) {
        json_none(j);
        return;
    }
    index_base(&b);
    const struct flat_row **rows = ARENA_NEW(&b.arena, const struct flat_row *, r->measured);
    for (uint32_t i = 0; i < r->measured; i++)
        rows[i] = base_row(&b, &r->all.at[i]);
    json_begin(j, '{');
    json_pair_str(j, "profile", b.profile->summary->profiles[0]);
    json_pair_double(j, "samples", b.profile->summary->samples);
    json_pair_double(j, "effective", b.profile->summary->effective);
    json_pair_double(j, "rate", b.profile->summary->rate);
    json_pair_str(j, "dimension", b.profile->summary->dimension);
    rows_data(j, rows, r->measured);
    gone_data(j, &b);
    json_end(j);
    arena_deinit(&b.arena);
}
