/* Handles of counters: their life, reading and writing, what is in them, building, merging, laws.
 *
 * The model's texts and unknown records point into the bytes that were read, so these are kept in
 * the handle's heap as long as it has them. Merging works on a copy of the arrays: a merge that
 * fails, or runs out of memory, must leave what was there. Counters without their notes know only
 * numbers: names, for the proposal's files, come from the notes that the caller has.
 *
 * Conversions between families work on a copy: da needs names, so that the notes must come with
 * counters of a gcda file. Functions can be added to da counters by name, and to gcda counters
 * that were begun with their notes, by ident and checksums. Checks and laws run in a heap of
 * their own. Cost: linear in the counters. */
#include "lib/handles.h"

#include "base/map.h"
#include "coverage/analysis/flow.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)MONARC_COUNT_PATHS == KIND_PATHS && (int)MONARC_COUNT_ARCS == KIND_ARCS &&
                   (int)MONARC_COUNT_TIME == KIND_TIME && (int)MONARC_COUNTERS == KIND_UNKNOWN,
               "kinds are the same");

/* Kinds beyond the last have the name of what is unknown. */
const char *monarc_counter_name(enum monarc_counter kind)
{
    return counter_kind_name((unsigned)kind < MONARC_COUNTERS ? (enum counter_kind)kind
                                                              : KIND_UNKNOWN);
}

/* Zeroed: no counters, of no origin. */
struct monarc_counters *monarc_counters_new(const struct monarc_memory *memory,
                                            struct monarc_error *e)
{
    struct monarc_counters *c = handle_alloc(memory, sizeof *c);
    if (!c) {
        call_fail_memory(e);
        return NULL;
    }
    memset(c, 0, sizeof *c);
    heap_init(&c->heap, memory);
    return c;
}

/* Arena and lists lie in the heap that is given back: they are forgotten, not freed. */
void monarc_counters_clear(struct monarc_counters *c)
{
    heap_release(&c->heap);
    c->texts = (struct arena){0};
    memset(&c->counters, 0, sizeof c->counters);
}

/* The memory functions are copied first: they are in the handle that is given back. */
void monarc_counters_free(struct monarc_counters *c)
{
    if (!c)
        return;
    struct monarc_memory memory = c->heap.memory;
    heap_release(&c->heap);
    memory_loose_free(&memory, c);
}

/* ---- files */

/* A read that is going on. */
struct counters_reading {
    struct monarc_counters *c;
    struct call_input in;
    bool is_known;
    struct err why;
};

/* By the bytes: each family has its magic. */
static bool counters_read_counters(void *context)
{
    struct counters_reading *r = context;
    bool is_da = da_probe(r->in.bytes);
    r->is_known = is_da || gcda_probe(r->in.bytes);
    if (!r->is_known)
        return err_in(&r->why, r->in.name, "is not a gcda or da file");
    return is_da ? da_read(r->in.bytes, r->in.name, &r->c->counters, &r->why)
                 : gcda_read(r->in.bytes, r->in.name, &r->c->counters, &r->why);
}

/* On MONARC_BAD_INPUT the functions that were whole are kept, and the bytes with them. */
bool monarc_counters_read(struct monarc_counters *c, const struct monarc_source *in,
                          struct monarc_error *e)
{
    struct counters_reading r = {.c = c};
    monarc_counters_clear(c);
    if (!coverage_read_own(in, &c->heap, &r.in, e)) {
        monarc_counters_clear(c);
        return false;
    }
    enum heap_outcome outcome = heap_run(&c->heap, counters_read_counters, &r);
    if (outcome == HEAP_EXHAUSTED)
        monarc_counters_clear(c);
    return call_result(outcome, r.is_known ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &r.why, e);
}

/* How counters are to be written; is_changed: for another compiler, or out of the other family. */
struct counters_writing {
    const struct counters *counters;
    const struct notes *notes; /* or NULL */
    const char *name;          /* of a pair of a stream, or NULL */
    enum monarc_format format;
    uint32_t version;
    uint8_t byte_order;
    bool is_changed;
};

/* To the proposal's family, if they are not of it already. GCC's files identify functions by ident,
 * da by name. */
static bool counters_encode_da(struct call_writing *writing, const struct counters_writing *how,
                               struct counters *copy)
{
    if (copy->origin.family == ARCS_GCOV && copy->origin.version && !how->notes)
        return err_set(&writing->why, "gcda files have no names: da needs the notes as well");
    return (copy->origin.family == ARCS_RFC || !copy->origin.version ||
            arcs_counters_to_rfc(copy, how->notes, &writing->why)) &&
           da_write(&writing->w, copy, &writing->why);
}

/* Works on a copy, since conversion changes the model. gcfn is gcda with a name in front. */
static bool counters_encode_counters(struct call_writing *writing)
{
    const struct counters_writing *how = writing->what;
    struct counters copy;
    counters_copy(&copy, how->counters);
    if (how->format == MONARC_DA)
        return counters_encode_da(writing, how, &copy);
    if (how->is_changed && !arcs_counters_to_gcov(&copy, how->version, &writing->why))
        return false;
    if (how->byte_order)
        copy.origin.big_endian = how->byte_order == MONARC_BIG_ENDIAN;
    if (how->name)
        return gcfn_write(&writing->w, how->name, &copy, &writing->why);
    return gcda_write(&writing->w, &copy, &writing->why);
}

static bool counters_write(const struct monarc_counters *c, const struct monarc_arcs_form *form,
                           struct counters_writing *how, struct monarc_target *to,
                           struct monarc_error *e)
{
    const struct arcs_origin *origin = &c->counters.origin;
    struct call_writing writing = {.encode = counters_encode_counters, .what = how};
    how->counters = &c->counters;
    how->byte_order = form ? form->byte_order : 0;
    how->is_changed = (form && form->gcc_version) || origin->family == ARCS_RFC || !origin->version;
    return coverage_version(origin, form, &how->version, e) &&
           call_write(&writing, &c->heap.memory, to, e);
}

/* Without a format, the family that the counters are of. */
bool monarc_counters_write(const struct monarc_counters *c, enum monarc_format format,
                           const struct monarc_arcs_form *form, const struct monarc_notes *notes,
                           struct monarc_target *to, struct monarc_error *e)
{
    struct counters_writing how = {.notes = notes ? &notes->notes : NULL};
    bool is_rfc = c->counters.origin.family == ARCS_RFC;
    how.format = format ? format : is_rfc ? MONARC_DA : MONARC_GCDA;
    if (how.format == MONARC_GCFN)
        return call_fail(e, MONARC_MISUSE,
                         "a stream has names: monarc_counters_write_pair() writes one of it");
    if (how.format != MONARC_GCDA && how.format != MONARC_DA)
        return call_fail(e, MONARC_MISUSE, "this is not a format of counters");
    return counters_write(c, form, &how, to, e);
}

/* gcfn: what a program without files prints of each of its objects, a name and a gcda file. */
bool monarc_counters_write_pair(const struct monarc_counters *c, const char *name,
                                const struct monarc_arcs_form *form, struct monarc_target *to,
                                struct monarc_error *e)
{
    struct counters_writing how = {.format = MONARC_GCFN, .name = name};
    if (!name || !*name)
        return call_fail(e, MONARC_MISUSE, "a pair of a stream has a name");
    return counters_write(c, form, &how, to, e);
}

/* ---- what is in them */

/* Of an empty handle, everything is 0. */
void monarc_counters_get_facts(const struct monarc_counters *c, struct monarc_arcs_facts *out)
{
    coverage_facts(&c->counters.origin, false, out);
    out->functions = c->counters.functions.len;
    out->unknown_records = c->counters.unknown_records;
}

/* A name is there only in the proposal's files, and in counters that share their notes' names. */
bool monarc_counters_get_function(const struct monarc_counters *c, size_t i,
                                  struct monarc_counted_function *out)
{
    if (i >= c->counters.functions.len)
        return false;
    const struct counted_function *f = &c->counters.functions.at[i];
    *out = (struct monarc_counted_function){.name = f->name,
                                            .ident = f->ident,
                                            .lineno_checksum = f->lineno_checksum,
                                            .cfg_checksum = f->cfg_checksum,
                                            .defect = coverage_defect(f->defect)};
    return true;
}

/* A function's record of one kind; NULL: it has none, or there is no such function or kind. */
static const struct counted_record *counters_record_of(const struct monarc_counters *c, size_t i,
                                                       enum monarc_counter kind)
{
    if (i >= c->counters.functions.len || (unsigned)kind >= MONARC_COUNTERS)
        return NULL;
    return counters_find(&c->counters, &c->counters.functions.at[i], (enum counter_kind)kind);
}

size_t monarc_counters_get_len(const struct monarc_counters *c, size_t i, enum monarc_counter kind)
{
    const struct counted_record *r = counters_record_of(c, i, kind);
    return r ? r->len : 0;
}

/* As many as there are from `first` on, at most `len`. */
size_t monarc_counters_get_values(const struct monarc_counters *c, size_t i,
                                  enum monarc_counter kind, size_t first, size_t len, uint64_t *out)
{
    const struct counted_record *r = counters_record_of(c, i, kind);
    size_t left = r && first < r->len ? r->len - first : 0;
    len = len < left ? len : left;
    for (size_t k = 0; k < len; k++)
        out[k] = counters_value(&c->counters, r, (uint32_t)(first + k));
    return len;
}

/* ---- streams */

/* A walk over a stream. The handle lives for one pair at a time and is cleared between them. */
struct stream {
    struct call_input in;
    struct monarc_counters *c; /* of the pair */
    bool (*each)(void *context, const char *name, const struct monarc_counters *c);
    void *context;
    bool is_known, is_stopped;
    struct err why;
};

/* `each` is called inside heap_run(), and may call the library again. */
static bool counters_walk_stream(void *context)
{
    struct stream *s = context;
    struct cursor at = cursor_over(s->in.bytes, s->in.name);
    s->is_known = gcfn_probe(s->in.bytes);
    if (!s->is_known)
        return err_in(&s->why, s->in.name, "is not a stream of gcfn records");
    while (cursor_left(&at) && !s->is_stopped) {
        const char *name;
        counters_clear(&s->c->counters);
        if (!gcfn_next(&at, &name, &s->c->counters, &s->why))
            return false;
        s->is_stopped = !s->each(s->context, name, s->c);
    }
    return true;
}

/* The handle that is handed out is the walk's own: the caller may look at it, and not keep it. */
bool monarc_counters_walk(const struct monarc_source *in, const struct monarc_memory *memory,
                          bool (*each)(void *context, const char *name,
                                       const struct monarc_counters *c),
                          void *context, struct monarc_error *e)
{
    struct stream s = {.each = each, .context = context};
    s.c = each ? monarc_counters_new(memory, e) : NULL;
    if (!s.c)
        return each ? false
                    : call_fail(e, MONARC_MISUSE, "no function to hand counters to is given");
    bool ok = call_read(in, &s.c->heap, &s.in, e);
    if (ok) {
        enum heap_outcome outcome = heap_run(&s.c->heap, counters_walk_stream, &s);
        ok = s.is_stopped
                 ? call_fail(e, MONARC_STOPPED, "the caller stopped the walk")
                 : call_result(outcome, s.is_known ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT,
                               &s.why, e);
    }
    monarc_counters_free(s.c);
    return ok;
}

/* ---- Counters that are built, summed and checked. */

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

/* Counters that are getting their functions' names. */
struct counters_sharing {
    struct monarc_counters *c;
    const struct notes *notes;
    struct err why;
};

/* Names come out of the notes and are copied, because the notes may be gone first. */
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

/* Counters of GCC before 3.3 are one list for the whole file, which only the notes can divide. */
bool monarc_counters_share(struct monarc_counters *c, const struct monarc_notes *n,
                           struct monarc_error *e)
{
    struct counters_sharing s = {.c = c, .notes = &n->notes};
    if (!bb_counters_lack_names(&c->counters))
        return call_fail(e, MONARC_MISUSE,
                         "these counters are already assigned to their functions");
    enum heap_outcome outcome = heap_run(&c->heap, counters_share_counters, &s);
    if (outcome == HEAP_EXHAUSTED)
        monarc_counters_clear(c);
    return call_result(outcome, MONARC_UNFIT, &s.why, e);
}

/* ---- building */

/* A function to be added, with its counters of arcs. */
struct counters_adding {
    struct monarc_counters *c;
    const struct monarc_counted_function *f;
    const uint64_t *counts;
    size_t len;
};

/* Empty counters become a da file's, as of GCC 3.4. */
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

/* Counts are those of the arcs off the spanning tree, in the order of the notes; whether they are
 * as many as the notes say is for monarc_counters_check(). */
bool monarc_counters_add_function(struct monarc_counters *c,
                                  const struct monarc_counted_function *f, const uint64_t *counts,
                                  size_t len, struct monarc_error *e)
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

/* Origin and stamp are those of the notes, so that gcov takes both for one compilation. */
bool monarc_counters_begin(struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_error *e)
{
    struct beginning b = {.c = &c->counters, .notes = &notes->notes};
    const struct arcs_origin *origin = &notes->notes.origin;
    monarc_counters_clear(c);
    if (origin->family != ARCS_GCOV || !origin->version)
        return call_fail(e, MONARC_MISUSE, "the notes are not from a gcno file");
    enum heap_outcome outcome = heap_run(&c->heap, counters_begin, &b);
    if (outcome != HEAP_TRUE)
        monarc_counters_clear(c);
    else
        c->counters.origin = *origin;
    return call_result(outcome, MONARC_UNFIT, &b.why, e);
}

/* ---- merging */

/* A merge that is going on. */
struct counters_merging {
    struct monarc_counters *into;
    const struct counters *from;
    size_t functions, summaries; /* that `into` had before */
    struct err why;
};

/* A copy that lives as long as the handle. */
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

/* The model's merge is all or nothing; what it took over from the other handle is then copied,
 * since that one may be freed first. */
static bool counters_merge_counters(void *context)
{
    struct counters_merging *m = context;
    if (!counters_merge(&m->into->counters, m->from, &m->why))
        return false;
    counters_keep_all(m);
    counters_mark_zeros(&m->into->counters);
    return true;
}

/* Counters that are empty add nothing. Without memory the sum is lost; a refusal leaves it as it
 * was. */
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

/* By its name in quotes, or by its number where neither file names it. */
struct shown_function {
    char text[64];
};

static struct shown_function counters_shown(const struct counted_function *counted,
                                            const struct notes_function *noted)
{
    struct shown_function shown;
    const char *name = counted->name ? counted->name : noted ? noted->name : NULL;
    if (name)
        snprintf(shown.text, sizeof shown.text, "'%.60s'", name);
    else
        snprintf(shown.text, sizeof shown.text, "%" PRIu32, counted->ident);
    return shown;
}

/* Whether the notes have the function, and as many arcs with counters as it has counts. `like` is
 * one of the same identity, whose checksums may be others. */
static bool counters_fits(const struct checking *k, const struct counted_function *counted,
                          const uint32_t *at, const uint32_t *like, struct err *why)
{
    const struct notes_function *f = at ? &k->notes->functions.at[*at] : NULL;
    const struct notes_function *other = like ? &k->notes->functions.at[*like] : NULL;
    const struct counted_record *r = counters_find(k->with[0], counted, KIND_ARCS);
    struct shown_function shown = counters_shown(counted, f ? f : other);
    if (!f && other)
        return err_set(why, "function %s has other checksums than in the notes", shown.text);
    if (!f)
        return err_set(why, "the notes do not have function %s of the counters", shown.text);
    return !r || r->len == f->instrumented ||
           err_set(why, "function %s has %u counters, the notes say %u", shown.text, r->len,
                   f->instrumented);
}

/* Functions are found by ident and both checksums; a map makes it linear. The proposal's files have
 * no stamp: of other versions, they are not of one compilation. */
static bool counters_check_pair(void *context)
{
    struct checking *k = context;
    const struct counters *c = k->with[0];
    struct map exact = {0}, idents = {0};
    bool is_rfc = c->origin.family == ARCS_RFC && k->notes->origin.family == ARCS_RFC;
    if (is_rfc && !pair_is_possible(&k->notes->origin, &c->origin))
        return err_set(&k->why, "the counters are of version %s, the notes of %s",
                       arcs_version_text(&c->origin).text,
                       arcs_version_text(&k->notes->origin).text);
    for (size_t i = 0; i < k->notes->functions.len; i++) {
        const struct notes_function *f = &k->notes->functions.at[i];
        map_index(&exact, f->ident, map_two(f->lineno_checksum, f->cfg_checksum), i, NULL);
        map_index(&idents, f->ident, 0, i, NULL);
    }
    for (size_t i = 0; i < c->functions.len; i++) {
        const struct counted_function *f = &c->functions.at[i];
        uint64_t checksums = map_two(f->lineno_checksum, f->cfg_checksum);
        if (f->defect)
            return err_set(&k->why, "the counters of function %s are damaged: %s",
                           counters_shown(f, NULL).text,
                           arcs_defect_text((enum arcs_defect)f->defect));
        if (!counters_fits(k, f, map_find(&exact, f->ident, checksums),
                           map_find(&idents, f->ident, 0), &k->why))
            return false;
    }
    return true;
}

/* Fails at the first function that does not fit, and names it. */
bool monarc_counters_check(const struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_error *e)
{
    struct checking k = {.with = {&c->counters}, .notes = &notes->notes};
    return call_result(heap_run_aside(&c->heap, counters_check_pair, &k), MONARC_UNFIT, &k.why, e);
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

/* Merging must commute and associate, or be refused in any order. Three that do not fit have no law
 * to break. */
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

/* For tests of callers, and for fuzz targets. */
bool monarc_counters_check_laws(const struct monarc_counters *a, const struct monarc_counters *b,
                                const struct monarc_counters *c, struct monarc_error *e)
{
    struct checking k = {.with = {&a->counters, &b->counters, &c->counters}};
    return call_result(heap_run_aside(&a->heap, counters_check_laws, &k), MONARC_UNFIT, &k.why, e);
}
