/* What is asked of counters as a whole: scaling, the largest, zero marks, equality. */
#include "coverage/model/coverage_kinds.h"
#include "coverage/model/coverage_merge.h"
#include "coverage/model/dialect.h"

#include <string.h>

void counters_scale(struct counters *c, const struct count_scale *scale)
{
    const struct gcov_dialect *dialect = dialect_of(&c->origin);
    for (size_t i = 0; i < c->records.len; i++) {
        const struct counted_record *r = &c->records.at[i];
        if (r->what == COUNTED_VALUES && !r->is_zero)
            kind_scale(r->kind, dialect, c->values.at + r->first, r->len, scale);
    }
}

static bool is_arcs(const struct counted_record *r)
{
    return r->what == COUNTED_VALUES && r->kind == KIND_ARCS && !r->is_zero;
}

uint64_t counters_max(const struct counters *c)
{
    uint64_t max = 0;
    for (size_t i = 0; i < c->records.len; i++)
        for (uint32_t j = 0; is_arcs(&c->records.at[i]) && j < c->records.at[i].len; j++) {
            uint64_t value = c->values.at[c->records.at[i].first + j];
            max = (int64_t)value > (int64_t)max ? value : max;
        }
    return max;
}

uint64_t counters_sum(const struct counters *c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->records.len; i++)
        for (uint32_t j = 0; is_arcs(&c->records.at[i]) && j < c->records.at[i].len; j++)
            sum = gcov_add_sums(sum, c->values.at[c->records.at[i].first + j]);
    return sum;
}

static bool all_zero(const struct counters *c, const struct counted_record *r)
{
    for (uint32_t i = 0; i < r->len && !r->is_zero; i++)
        if (counters_value(c, r, i))
            return false;
    return true;
}

/* A record without values gets them. */
static void store_zeros(struct counters *c, struct counted_record *r)
{
    r->first = c->values.len;
    vec_reserve(&c->values, c->values.len + r->len);
    memset(c->values.at + c->values.len, 0, r->len * sizeof *c->values.at);
    c->values.len += r->len;
}

void counters_mark_zeros(struct counters *c)
{
    const struct gcov_dialect *dialect = dialect_of(&c->origin);
    bool can_mark = c->origin.family == ARCS_GCOV && dialect->has_zero_runs;
    for (size_t i = 0; i < c->records.len; i++) {
        struct counted_record *r = &c->records.at[i];
        bool may_mark =
            can_mark && (r->is_zero || (!c->origin.is_llvm && !kind_is_list(r->kind, dialect)));
        if (r->what != COUNTED_VALUES || !r->len)
            continue;
        bool was_zero = r->is_zero;
        r->is_zero = may_mark && all_zero(c, r);
        if (was_zero && !r->is_zero)
            store_zeros(c, r);
    }
}

static bool same_function(const struct counters *a, const struct counted_function *f,
                          const struct counters *b, const struct counted_function *g)
{
    if (f->ident != g->ident || f->lineno_checksum != g->lineno_checksum ||
        f->cfg_checksum != g->cfg_checksum || f->records != g->records)
        return false;
    for (uint32_t i = 0; i < f->records; i++) {
        const struct counted_record *r = &a->records.at[f->first_record + i];
        const struct counted_record *s = &b->records.at[g->first_record + i];
        if (r->what != s->what || r->kind != s->kind || r->len != s->len)
            return false;
        bool has_values = r->what == COUNTED_VALUES && !(r->is_zero && s->is_zero);
        for (uint32_t j = 0; has_values && j < r->len; j++)
            if (counters_value(a, r, j) != counters_value(b, s, j))
                return false;
    }
    return true;
}

bool counters_same(const struct counters *a, const struct counters *b)
{
    bool is_same = a->functions.len == b->functions.len;
    for (size_t i = 0; i < a->functions.len && is_same; i++)
        is_same = same_function(a, &a->functions.at[i], b, &b->functions.at[i]);
    return is_same;
}
