/* Merging whole files: functions by identity, records by tag. */
#include "coverage/model/coverage_merge.h"

#include "base/map.h"
#include "coverage/model/dialect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct merging {
    struct counters *into;
    const struct counters *from;
    const struct gcov_dialect *dialect; /* of `into` */
    struct map heads;                   /* identity to the first unmatched function of `into` */
    VEC(uint32_t) next;                 /* of the same identity */
    VEC(uint32_t) match;                /* by function of `from`: in `into`, or NO_INDEX */
    struct err *e;
};

static bool merge_same_identity(const struct counted_function *a, const struct counted_function *b)
{
    return a->ident == b->ident && (!a->name || !b->name || !strcmp(a->name, b->name));
}

static bool merge_same_code(const struct counted_function *a, const struct counted_function *b)
{
    return a->lineno_checksum == b->lineno_checksum && a->cfg_checksum == b->cfg_checksum;
}

struct called {
    char text[64];
};

/* What messages call a function: its name in quotes, or its identity. */
static struct called merge_called(const struct counted_function *f)
{
    struct called c;
    if (f->name)
        snprintf(c.text, sizeof c.text, "'%.60s'", f->name);
    else
        snprintf(c.text, sizeof c.text, "%" PRIu32, f->ident);
    return c;
}

static void merge_build_chains(struct merging *m)
{
    size_t len = m->into->functions.len;
    map_reserve(&m->heads, len);
    vec_reserve(&m->next, len);
    for (size_t i = len; i-- > 0;) {
        const struct counted_function *f = &m->into->functions.at[i];
        uint64_t checksums = map_two(f->lineno_checksum, f->cfg_checksum);
        bool is_new;
        uint32_t *head = map_at(&m->heads, f->ident, checksums, NO_INDEX, &is_new);
        m->next.at[i] = *head;
        *head = (uint32_t)i;
        /* One entry without checksums, to tell another build from a new function. */
        map_index(&m->heads, map_two(1, f->ident), 0, i, NULL);
    }
}

/* The n-th function of an identity meets the n-th. */
static bool merge_find(struct merging *m, const struct counted_function *f, uint32_t *found)
{
    uint64_t checksums = map_two(f->lineno_checksum, f->cfg_checksum);
    uint32_t *head = map_find(&m->heads, f->ident, checksums);
    *found = head ? *head : (uint32_t)NO_INDEX;
    if (*found != (uint32_t)NO_INDEX && merge_same_identity(f, &m->into->functions.at[*found])) {
        *head = m->next.at[*found];
        return true;
    }
    *found = NO_INDEX;
    uint32_t *other = map_find(&m->heads, map_two(1, f->ident), 0);
    if (!head && other && merge_same_identity(f, &m->into->functions.at[*other]))
        return err_set(m->e,
                       "the function %s was built from other code; counters of "
                       "different builds cannot be summed",
                       merge_called(f).text);
    return true;
}

/* The record of `f` that corresponds to record `i` of another function: the one in its place, or
 * the first of its kind. */
static struct counted_record *merge_counterpart(struct counters *c,
                                                const struct counted_function *f, uint32_t i,
                                                const struct counted_record *theirs)
{
    struct counted_record *mine = &c->records.at[f->first_record];
    if (theirs->what != COUNTED_VALUES || theirs->kind == KIND_UNKNOWN)
        return NULL;
    if (i < f->records && mine[i].what == COUNTED_VALUES && mine[i].kind == theirs->kind)
        return &mine[i];
    for (i = 0; i < f->records; i++)
        if (mine[i].what == COUNTED_VALUES && mine[i].kind == theirs->kind)
            return &mine[i];
    return NULL;
}

static bool merge_lists_of(struct merging *m, const struct counters *c,
                           const struct counted_record *r, size_t *lists)
{
    *lists = r->len;
    if (!kind_is_list(r->kind, m->dialect) || r->is_zero)
        return true;
    return kind_lists_are_whole(c->values.at + r->first, r->len, lists) ||
           err_set(m->e, "%s counters are no lists of values", counter_kind_name(r->kind));
}

static bool merge_records_fit(struct merging *m, const struct counted_function *a,
                              const struct counted_function *b)
{
    for (uint32_t i = 0; i < b->records; i++) {
        const struct counted_record *theirs = &m->from->records.at[b->first_record + i];
        const struct counted_record *mine = merge_counterpart(m->into, a, i, theirs);
        size_t lists, their_lists;
        if (!mine)
            continue;
        if (!merge_lists_of(m, m->into, mine, &lists) ||
            !merge_lists_of(m, m->from, theirs, &their_lists))
            return false;
        if (lists != their_lists)
            return err_set(m->e, "function %s has %zu %s counters here and %zu there",
                           merge_called(b).text, lists, counter_kind_name(theirs->kind),
                           their_lists);
    }
    return true;
}

/* Versions within which every kind of counter has one form. */
static unsigned merge_form_of(const struct counters *c)
{
    return c->origin.family == ARCS_RFC ? 0 : dialect_of(&c->origin)->values_form;
}

static bool merge_is_whole(const struct counters *c, struct err *e)
{
    if (c->failure.what)
        return err_set(e, "counters that are cut short cannot be summed");
    for (size_t i = 0; i < c->functions.len; i++)
        if (c->functions.at[i].defect)
            return err_set(e, "the counters of function %s are damaged: %s",
                           merge_called(&c->functions.at[i]).text,
                           arcs_defect_text(c->functions.at[i].defect));
    return true;
}

static bool merge_match_functions(struct merging *m)
{
    const struct counters *from = m->from;
    vec_reserve(&m->match, from->functions.len);
    m->match.len = from->functions.len;
    bool is_parallel = from->functions.len == m->into->functions.len;
    for (size_t i = 0; i < from->functions.len && is_parallel; i++) {
        const struct counted_function *a = &m->into->functions.at[i];
        const struct counted_function *b = &from->functions.at[i];
        is_parallel = merge_same_identity(a, b) && merge_same_code(a, b);
        m->match.at[i] = (uint32_t)i;
    }
    if (!is_parallel)
        merge_build_chains(m);
    for (size_t i = 0; i < from->functions.len; i++) {
        const struct counted_function *f = &from->functions.at[i];
        if (!is_parallel && !merge_find(m, f, &m->match.at[i]))
            return false;
        uint32_t at = m->match.at[i];
        if (at != (uint32_t)NO_INDEX && !merge_records_fit(m, &m->into->functions.at[at], f))
            return false;
    }
    return true;
}

/* Appends values; returns where they are. */
static uint64_t merge_keep_values(struct counters *c, const uint64_t *values, size_t len)
{
    uint64_t first = c->values.len;
    vec_reserve(&c->values, c->values.len + len + 1);
    if (values && len)
        memcpy(c->values.at + first, values, len * sizeof *values);
    else if (len)
        memset(c->values.at + first, 0, len * sizeof *values);
    c->values.len += len;
    return first;
}

static void merge_add_values(struct merging *m, struct counted_record *mine,
                             const struct counted_record *theirs)
{
    struct counters *into = m->into;
    const uint64_t *from = m->from->values.at + theirs->first;
    if (theirs->is_zero || !theirs->len)
        return;
    if (mine->is_zero) {
        mine->first = merge_keep_values(into, NULL, mine->len);
        mine->is_zero = false;
    }
    if (!kind_is_list(mine->kind, m->dialect)) {
        kind_add(mine->kind, m->dialect, into->values.at + mine->first, from, mine->len);
        return;
    }
    struct value_list joined = {{0}};
    kind_join_lists(into->values.at + mine->first, mine->len, from, &joined);
    if (joined.values.len == mine->len)
        memcpy(into->values.at + mine->first, joined.values.at, mine->len * sizeof *from);
    else
        mine->first = merge_keep_values(into, joined.values.at, joined.values.len);
    mine->len = (uint32_t)joined.values.len;
    vec_free(&joined.values);
}

static struct counted_record merge_copied(struct merging *m, struct counted_record r)
{
    if (r.what == COUNTED_VALUES && !r.is_zero)
        r.first = merge_keep_values(m->into, m->from->values.at + r.first, r.len);
    return r;
}

/* A function that `into` lacks; its records go to the end. */
static void merge_append_function(struct merging *m, const struct counted_function *f)
{
    struct counters *into = m->into;
    struct counted_function mine = *f;
    struct counted_record head = {.what = COUNTED_FUNCTION, .index = (uint32_t)into->functions.len};
    vec_push(&into->records, head);
    mine.first_record = (uint32_t)into->records.len;
    mine.records = 0;
    for (uint32_t i = f->first_record; i < f->first_record + f->records; i++) {
        const struct counted_record *r = &m->from->records.at[i];
        if (r->what != COUNTED_VALUES)
            continue;
        struct counted_record copy = merge_copied(m, *r);
        vec_push(&into->records, copy);
        mine.records++;
    }
    vec_push(&into->functions, mine);
}

static void merge_add_function(struct merging *m, uint32_t at, const struct counted_function *f)
{
    for (uint32_t i = 0; i < f->records; i++) {
        const struct counted_record *theirs = &m->from->records.at[f->first_record + i];
        struct counted_record *mine =
            merge_counterpart(m->into, &m->into->functions.at[at], i, theirs);
        if (mine)
            merge_add_values(m, mine, theirs);
    }
}

/* What a merged histogram of counters would be cannot be known from two: it is left empty. */
static void merge_empty_histogram(struct counters_summary *s)
{
    static const uint8_t NO_BUCKETS[GCOV_HISTOGRAM_WORDS * 4];
    if (s->rest.len < sizeof NO_BUCKETS)
        return;
    s->len = s->len - (uint32_t)s->rest.len + (uint32_t)sizeof NO_BUCKETS;
    s->rest = (struct bytes){NO_BUCKETS, sizeof NO_BUCKETS};
}

static void merge_add_summary(struct counters_summary *into, const struct counters_summary *from)
{
    into->runs = gcov_add_words(into->runs, from->runs);
    into->sum = gcov_add_sums(into->sum, from->sum);
    into->sum_max = gcov_add_sums(into->sum_max, from->sum_max);
    into->run_max = into->run_max > from->run_max ? into->run_max : from->run_max;
    into->counters = into->counters > from->counters ? into->counters : from->counters;
    merge_empty_histogram(into);
}

/* gcc to 8 has a summary for each program that the object was part of, told by its checksum. */
static void merge_add_summaries(struct merging *m)
{
    size_t known = m->into->records.len;
    for (size_t i = 0; i < m->from->records.len; i++) {
        const struct counted_record *theirs = &m->from->records.at[i];
        if (theirs->what != COUNTED_OBJECT_SUMMARY && theirs->what != COUNTED_PROGRAM_SUMMARY)
            continue;
        const struct counters_summary *s = &m->from->summaries.at[theirs->index];
        size_t j = 0;
        while (j < known &&
               (m->into->records.at[j].what != theirs->what ||
                m->into->summaries.at[m->into->records.at[j].index].checksum != s->checksum))
            j++;
        if (j < known) {
            merge_add_summary(&m->into->summaries.at[m->into->records.at[j].index], s);
            continue;
        }
        struct counted_record copy = *theirs;
        copy.index = (uint32_t)m->into->summaries.len;
        vec_push(&m->into->summaries, *s);
        vec_push(&m->into->records, copy);
    }
}

static void merge_copy_all(struct counters *into, const struct counters *from)
{
    counters_prepare(into);
    into->origin = from->origin;
    into->bytes = from->bytes;
    into->end_words = from->end_words;
    into->groups = from->groups;
    into->unknown_records = from->unknown_records;
    merge_keep_values(into, from->values.at, from->values.len);
    for (size_t i = 0; i < from->records.len; i++)
        vec_push(&into->records, from->records.at[i]);
    for (size_t i = 0; i < from->functions.len; i++)
        vec_push(&into->functions, from->functions.at[i]);
    for (size_t i = 0; i < from->summaries.len; i++)
        vec_push(&into->summaries, from->summaries.at[i]);
}

bool counters_merge(struct counters *into, const struct counters *from, struct err *e)
{
    if (!merge_is_whole(from, e) || !merge_is_whole(into, e))
        return false;
    if (!into->records.len && !into->origin.version) {
        merge_copy_all(into, from);
        return true;
    }
    if (into->origin.family == ARCS_RFC && from->origin.family == ARCS_RFC &&
        into->origin.version != from->origin.version)
        return err_set(e, "it is of version %s, what came before of %s; they cannot be summed",
                       arcs_version_text(&from->origin).text,
                       arcs_version_text(&into->origin).text);
    if (merge_form_of(into) != merge_form_of(from))
        return err_set(e, "counters of these two versions differ in form and cannot be summed");
    struct merging m = {.into = into, .from = from, .dialect = dialect_of(&into->origin), .e = e};
    bool ok = merge_match_functions(&m);
    for (size_t i = 0; i < from->functions.len && ok; i++)
        if (m.match.at[i] == (uint32_t)NO_INDEX)
            merge_append_function(&m, &from->functions.at[i]);
        else
            merge_add_function(&m, m.match.at[i], &from->functions.at[i]);
    if (ok)
        merge_add_summaries(&m);
    map_deinit(&m.heads);
    vec_free(&m.next);
    vec_free(&m.match);
    return ok;
}
