/* Counters that are built, summed and checked. */
#include "lib/counters.h"

#include "coverage/format/arcs_convert.h"
#include "coverage/format/bbg.h"
#include "coverage/model/coverage_merge.h"

#include "base/map.h"

#include <string.h>

void counters_copy(struct counters *to, const struct counters *from)
{
    struct counters copy = {.origin = from->origin,
                            .bytes = from->bytes,
                            .end_words = from->end_words,
                            .groups = from->groups,
                            .unknown_records = from->unknown_records,
                            .failure = from->failure};
    vec_copy(&copy.records, &from->records);
    vec_copy(&copy.functions, &from->functions);
    vec_copy(&copy.values, &from->values);
    vec_copy(&copy.summaries, &from->summaries);
    *to = copy;
}

/* ---- counters of gcc before 3.3 */

struct counters_sharing {
    struct monarc_counters *c;
    const struct notes *notes;
    struct err why;
};

static bool counters_share_counters(void *context)
{
    struct counters_sharing *s = context;
    struct counters *c = &s->c->counters;
    if (!bb_counters_share(c, s->notes, &s->why))
        return false;
    for (size_t i = 0; i < c->functions.len; i++)
        if (c->functions.at[i].name)
            c->functions.at[i].name =
                arena_copy(&s->c->texts, c->functions.at[i].name, strlen(c->functions.at[i].name));
    return true;
}

bool monarc_counters_share(struct monarc_counters *c, const struct monarc_notes *n,
                           struct monarc_error *e)
{
    struct counters_sharing s = {.c = c, .notes = &n->notes};
    if (!bb_counters_lack_names(&c->counters))
        return call_fail(e, MONARC_MISUSE, "these counters are their functions' already");
    enum heap_outcome outcome = heap_run(&c->heap, counters_share_counters, &s);
    if (outcome == HEAP_EXHAUSTED)
        monarc_counters_clear(c);
    return call_result(outcome, MONARC_UNFIT, &s.why, e);
}

/* ---- building */

struct counters_adding {
    struct monarc_counters *c;
    const struct monarc_counted_function *f;
    const uint64_t *counts;
    uint32_t len;
};

static void counters_start_da(struct counters *c)
{
    c->origin = (struct arcs_origin){
        .family = ARCS_RFC, .version = BBG_VERSION, .number = 304, .has_byte_lengths = true};
    c->groups = 1;
}

/* Room for all first, so that nothing is half there when there is none. */
static bool counters_add_function(void *context)
{
    struct counters_adding *a = context;
    struct counters *c = &a->c->counters;
    const char *name = a->f->name;
    vec_reserve(&c->records, c->records.len + 2);
    vec_reserve(&c->functions, c->functions.len + 1);
    vec_reserve(&c->values, c->values.len + a->len + 1);
    if (name)
        name = arena_copy(&a->c->texts, name, strlen(name));
    if (!c->origin.version)
        counters_start_da(c);
    struct counted_function f = {.name = name,
                                 .ident = name ? name_ident(name) : a->f->ident,
                                 .lineno_checksum = a->f->lineno_checksum,
                                 .cfg_checksum = name ? 0 : a->f->cfg_checksum,
                                 .first_record = (uint32_t)c->records.len + 1,
                                 .records = 1};
    struct counted_record head = {.what = COUNTED_FUNCTION, .index = (uint32_t)c->functions.len};
    struct counted_record values = {.what = COUNTED_VALUES,
                                    .kind = KIND_ARCS,
                                    .tag = name ? BBG_ARC_COUNTS : GCOV_TAG_COUNTERS,
                                    .len = a->len,
                                    .first = c->values.len};
    if (a->len)
        memcpy(c->values.at + c->values.len, a->counts, a->len * sizeof *a->counts);
    c->values.len += a->len;
    vec_push(&c->records, head);
    vec_push(&c->records, values);
    vec_push(&c->functions, f);
    return true;
}

bool monarc_counters_add_function(struct monarc_counters *c,
                                  const struct monarc_counted_function *f, const uint64_t *counts,
                                  uint32_t len, struct monarc_error *e)
{
    struct counters_adding a = {c, f, counts, len};
    bool is_da = !c->counters.origin.version || c->counters.origin.family == ARCS_RFC;
    if (!f || (is_da && (!f->name || !f->name[0])) || (!counts && len) || len > UINT32_MAX / 16)
        return call_fail(e, MONARC_MISUSE, "a function of a da file has a name and counts");
    if (!is_da && f->name)
        return call_fail(e, MONARC_MISUSE, "functions of a gcda file have no names");
    if (c->counters.failure.what)
        return call_fail(e, MONARC_UNFIT, "counters that are cut short cannot be added to");
    return heap_run(&c->heap, counters_add_function, &a) == HEAP_TRUE || call_fail_memory(e);
}

struct beginning {
    struct counters *c;
    const struct notes *notes;
    struct err why;
};

/* An empty file of this version: conversion makes its summary. */
static bool counters_begin(void *context)
{
    struct beginning *b = context;
    counters_prepare(b->c);
    b->c->origin = b->notes->origin;
    return arcs_counters_to_gcov(b->c, b->notes->origin.version, &b->why);
}

bool monarc_counters_begin(struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_error *e)
{
    struct beginning b = {.c = &c->counters, .notes = &notes->notes};
    const struct arcs_origin *origin = &notes->notes.origin;
    monarc_counters_clear(c);
    if (origin->family != ARCS_GCOV || !origin->version)
        return call_fail(e, MONARC_MISUSE, "the notes are no gcno file's");
    enum heap_outcome outcome = heap_run(&c->heap, counters_begin, &b);
    if (outcome != HEAP_TRUE)
        monarc_counters_clear(c);
    else
        c->counters.origin = *origin;
    return call_result(outcome, MONARC_UNFIT, &b.why, e);
}

/* ---- merging */

struct counters_merging {
    struct monarc_counters *into;
    const struct counters *from;
    size_t functions, summaries; /* that `into` had before */
    struct err why;
};

static struct bytes counters_kept(struct arena *texts, struct bytes from)
{
    uint8_t *copy = (uint8_t *)arena_alloc(texts, from.len + 1);
    if (from.len)
        memcpy(copy, from.at, from.len);
    return (struct bytes){copy, from.len};
}

/* What came from the other handle and points into it. */
static void counters_keep_all(struct counters_merging *m)
{
    struct counters *into = &m->into->counters;
    for (size_t i = m->functions; i < into->functions.len; i++) {
        const char *name = into->functions.at[i].name;
        into->functions.at[i].name = name ? arena_copy(&m->into->texts, name, strlen(name)) : NULL;
    }
    for (size_t i = m->summaries; i < into->summaries.len; i++)
        into->summaries.at[i].rest = counters_kept(&m->into->texts, into->summaries.at[i].rest);
    if (into->bytes.at == m->from->bytes.at)
        into->bytes = counters_kept(&m->into->texts, into->bytes);
}

static bool counters_merge_counters(void *context)
{
    struct counters_merging *m = context;
    if (!counters_merge(&m->into->counters, m->from, &m->why))
        return false;
    counters_keep_all(m);
    counters_mark_zeros(&m->into->counters);
    return true;
}

bool monarc_counters_merge(struct monarc_counters *into, const struct monarc_counters *from,
                           struct monarc_error *e)
{
    struct counters_merging m = {.into = into,
                                 .from = &from->counters,
                                 .functions = into->counters.functions.len,
                                 .summaries = into->counters.summaries.len};
    if (into == from)
        return call_fail(e, MONARC_MISUSE, "counters cannot be added to themselves");
    if (!from->counters.origin.version)
        return true;
    enum heap_outcome outcome = heap_run(&into->heap, counters_merge_counters, &m);
    if (outcome == HEAP_EXHAUSTED)
        monarc_counters_clear(into);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* ---- checks */

struct checking {
    const struct counters *with[3];
    const struct notes *notes;
    struct err why;
};

static enum heap_outcome counters_run_aside(const struct monarc_counters *c, bool (*work)(void *),
                                            void *context)
{
    struct heap scratch;
    heap_init(&scratch, &c->heap.memory);
    enum heap_outcome outcome = heap_run(&scratch, work, context);
    heap_release(&scratch);
    return outcome;
}

static bool counters_fits(const struct checking *k, const struct counted_function *counted,
                          const uint32_t *at, struct err *why)
{
    const struct notes_function *f = at ? &k->notes->functions.at[*at] : NULL;
    const struct counted_record *r = counters_find(k->with[0], counted, KIND_ARCS);
    if (!f)
        return err_set(why, "the notes do not have function %u of the counters", counted->ident);
    return !r || r->len == f->instrumented ||
           err_set(why, "function %u has %u counters, the notes say %u", counted->ident, r->len,
                   f->instrumented);
}

static bool counters_check_pair(void *context)
{
    struct checking *k = context;
    struct map idents = {0};
    for (size_t i = 0; i < k->notes->functions.len; i++) {
        const struct notes_function *f = &k->notes->functions.at[i];
        map_index(&idents, f->ident, map_two(f->lineno_checksum, f->cfg_checksum), i, NULL);
    }
    for (size_t i = 0; i < k->with[0]->functions.len; i++) {
        const struct counted_function *c = &k->with[0]->functions.at[i];
        uint64_t checksums = map_two(c->lineno_checksum, c->cfg_checksum);
        if (c->defect)
            return err_set(&k->why, "the counters of function %u are damaged: %s", c->ident,
                           arcs_defect_text((enum arcs_defect)c->defect));
        if (!counters_fits(k, c, map_find(&idents, c->ident, checksums), &k->why))
            return false;
    }
    return true;
}

bool monarc_counters_check(const struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_error *e)
{
    struct checking k = {.with = {&c->counters}, .notes = &notes->notes};
    return call_result(counters_run_aside(c, counters_check_pair, &k), MONARC_UNFIT, &k.why, e);
}

/* The sum of some, or false if they do not fit. */
static bool counters_sum_of(struct counters *sum, const struct counters *const *parts, size_t len)
{
    struct err why;
    for (size_t i = 0; i < len; i++)
        if (!counters_merge(sum, parts[i], &why))
            return false;
    return true;
}

static bool counters_check_laws(void *context)
{
    struct checking *k = context;
    const struct counters *a = k->with[0], *b = k->with[1], *c = k->with[2];
    struct counters forwards = {0}, backwards = {0}, right = {0}, nested = {0};
    if (!counters_sum_of(&forwards, (const struct counters *[]){a, b, c}, 3))
        return true;
    if (!counters_sum_of(&backwards, (const struct counters *[]){c, b, a}, 3))
        return err_set(&k->why, "the three merge in one order and not in the other");
    if (!counters_same(&forwards, &backwards))
        return err_set(&k->why, "merging does not commute");
    if (!counters_sum_of(&right, (const struct counters *[]){b, c}, 2) ||
        !counters_sum_of(&nested, (const struct counters *[]){a, &right}, 2) ||
        !counters_same(&forwards, &nested))
        return err_set(&k->why, "merging does not associate");
    return true;
}

bool monarc_counters_check_laws(const struct monarc_counters *a, const struct monarc_counters *b,
                                const struct monarc_counters *c, struct monarc_error *e)
{
    struct checking k = {.with = {&a->counters, &b->counters, &c->counters}};
    return call_result(counters_run_aside(a, counters_check_laws, &k), MONARC_UNFIT, &k.why, e);
}
