/* Handles of counters: their life, reading and writing, what is in them. */
#include "lib/counters.h"

#include "coverage/format/arcs_convert.h"
#include "coverage/format/bbg.h"
#include "coverage/format/gcov.h"

#include <string.h>

_Static_assert((int)MONARC_COUNT_PATHS == KIND_PATHS && (int)MONARC_COUNT_ARCS == KIND_ARCS &&
                   (int)MONARC_COUNT_TIME == KIND_TIME && (int)MONARC_COUNTERS == KIND_UNKNOWN,
               "kinds are the same");

const char *monarc_counter_name(enum monarc_counter kind)
{
    return counter_kind_name((unsigned)kind < MONARC_COUNTERS ? (enum counter_kind)kind
                                                              : KIND_UNKNOWN);
}

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

void monarc_counters_clear(struct monarc_counters *c)
{
    heap_release(&c->heap);
    c->texts = (struct arena){0};
    memset(&c->counters, 0, sizeof c->counters);
}

void monarc_counters_free(struct monarc_counters *c)
{
    if (!c)
        return;
    struct monarc_memory memory = c->heap.memory;
    heap_release(&c->heap);
    memory_loose_free(&memory, c);
}

/* ---- files */

struct counters_reading {
    struct monarc_counters *c;
    struct call_input in;
    bool is_known;
    struct err why;
};

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

struct counters_writing {
    const struct counters *counters;
    const struct notes *notes; /* or NULL */
    const char *name;          /* of a pair of a stream, or NULL */
    enum monarc_format format;
    uint32_t version;
    uint8_t byte_order;
    bool is_changed;
};

static bool counters_encode_da(struct call_writing *writing, const struct counters_writing *how,
                               struct counters *copy)
{
    if (copy->origin.family == ARCS_GCOV && copy->origin.version && !how->notes)
        return err_set(&writing->why, "gcda files have no names: da needs the notes as well");
    return (copy->origin.family == ARCS_RFC || !copy->origin.version ||
            arcs_counters_to_rfc(copy, how->notes, &writing->why)) &&
           da_write(&writing->w, copy, &writing->why);
}

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

void monarc_counters_get_facts(const struct monarc_counters *c, struct monarc_arcs_facts *out)
{
    coverage_facts(&c->counters.origin, false, out);
    out->functions = c->counters.functions.len;
    out->unknown_records = c->counters.unknown_records;
}

bool monarc_counters_function(const struct monarc_counters *c, size_t i,
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

static const struct counted_record *counters_record_of(const struct monarc_counters *c, size_t i,
                                                       enum monarc_counter kind)
{
    if (i >= c->counters.functions.len || (unsigned)kind >= MONARC_COUNTERS)
        return NULL;
    return counters_find(&c->counters, &c->counters.functions.at[i], (enum counter_kind)kind);
}

uint32_t monarc_counters_len(const struct monarc_counters *c, size_t i, enum monarc_counter kind)
{
    const struct counted_record *r = counters_record_of(c, i, kind);
    return r ? r->len : 0;
}

uint32_t monarc_counters_values(const struct monarc_counters *c, size_t i, enum monarc_counter kind,
                                uint32_t first, uint32_t len, uint64_t *out)
{
    const struct counted_record *r = counters_record_of(c, i, kind);
    uint32_t left = r && first < r->len ? r->len - first : 0;
    len = len < left ? len : left;
    for (uint32_t k = 0; k < len; k++)
        out[k] = counters_value(&c->counters, r, first + k);
    return len;
}

/* ---- streams */

struct stream {
    struct call_input in;
    struct monarc_counters *c; /* of the pair */
    bool (*each)(void *context, const char *name, const struct monarc_counters *c);
    void *context;
    bool is_known, is_stopped;
    struct err why;
};

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

bool monarc_counters_walk(const struct monarc_source *in, const struct monarc_memory *memory,
                          bool (*each)(void *context, const char *name,
                                       const struct monarc_counters *c),
                          void *context, struct monarc_error *e)
{
    struct stream s = {.each = each, .context = context};
    s.c = each ? monarc_counters_new(memory, e) : NULL;
    if (!s.c)
        return each ? false : call_fail(e, MONARC_MISUSE, "there is nobody to hand counters to");
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
