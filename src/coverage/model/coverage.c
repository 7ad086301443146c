/* The life of notes and counters, and looking things up in them. */
#include "coverage/model/coverage.h"

#include "base/hash.h"
#include "base/search.h"

#include <string.h>

void notes_clear(struct notes *n)
{
    n->functions.len = n->arcs.len = n->runs.len = n->lines.len = 0;
    n->conditions.len = n->files.len = n->block_flags.len = 0;
    n->origin = (struct arcs_origin){0};
    n->directory = NULL;
    n->has_unexecuted = false;
    n->blocks = n->unknown_records = 0;
    n->failure = (struct arcs_failure){0};
}

void notes_prepare(struct notes *n)
{
    vec_reserve(&n->functions, 1);
    vec_reserve(&n->arcs, 1);
    vec_reserve(&n->runs, 1);
    vec_reserve(&n->lines, 1);
    vec_reserve(&n->conditions, 1);
}

void notes_deinit(struct notes *n)
{
    vec_free(&n->functions);
    vec_free(&n->arcs);
    vec_free(&n->runs);
    vec_free(&n->lines);
    vec_free(&n->conditions);
    vec_free(&n->files);
    vec_free(&n->block_flags);
    notes_clear(n);
}

void notes_trim(struct notes *n)
{
    vec_trim(&n->functions);
    vec_trim(&n->arcs);
    vec_trim(&n->runs);
    vec_trim(&n->lines);
    vec_trim(&n->block_flags);
}

static const char *keep_text(struct arena *a, const char *text)
{
    return text ? arena_copy(a, text, strlen(text)) : NULL;
}

void notes_keep_texts(struct notes *n, struct arena *a)
{
    n->directory = keep_text(a, n->directory);
    for (size_t i = 0; i < n->files.len; i++)
        n->files.at[i] = keep_text(a, n->files.at[i]);
    for (size_t i = 0; i < n->functions.len; i++)
        n->functions.at[i].name = keep_text(a, n->functions.at[i].name);
}

const struct notes_run *notes_runs_of(const struct notes *n, const struct notes_function *f,
                                      uint32_t block, uint32_t *len)
{
    uint32_t first = f->first_run, limit = first + f->runs;
    first += PARTITION_POINT(f->runs, i, n->runs.at[first + i].block < block);
    uint32_t end = first;
    while (end < limit && n->runs.at[end].block == block)
        end++;
    *len = end - first;
    return n->runs.at + first;
}

void counters_clear(struct counters *c)
{
    c->records.len = c->functions.len = c->values.len = c->summaries.len = 0;
    c->origin = (struct arcs_origin){0};
    c->bytes = (struct bytes){0};
    c->end_words = c->groups = 0;
    c->size_bytes = c->trailing_bytes = c->unknown_records = 0;
    c->failure = (struct arcs_failure){0};
}

void counters_prepare(struct counters *c)
{
    vec_reserve(&c->records, 1);
    vec_reserve(&c->functions, 1);
    vec_reserve(&c->values, 1);
}

void counters_deinit(struct counters *c)
{
    vec_free(&c->records);
    vec_free(&c->functions);
    vec_free(&c->values);
    vec_free(&c->summaries);
    counters_clear(c);
}

const struct counted_record *counters_find(const struct counters *c,
                                           const struct counted_function *f, enum counter_kind kind)
{
    for (uint32_t i = f->first_record; i < f->first_record + f->records; i++)
        if (c->records.at[i].what == COUNTED_VALUES && c->records.at[i].kind == kind)
            return &c->records.at[i];
    return NULL;
}

const char *counter_kind_name(enum counter_kind kind)
{
    static const char *const NAMES[KINDS] = {
        [KIND_ARCS] = "arcs",
        [KIND_INTERVAL] = "interval",
        [KIND_POW2] = "pow2",
        [KIND_SINGLE] = "single",
        [KIND_TOPN] = "topn",
        [KIND_DELTA] = "delta",
        [KIND_INDIRECT] = "indirect_call",
        [KIND_INDIRECT_TOPN] = "indirect_call_topn",
        [KIND_AVERAGE] = "average",
        [KIND_IOR] = "ior",
        [KIND_TIME] = "time_profiler",
        [KIND_ICALL_TOPN] = "icall_topn",
        [KIND_CONDITIONS] = "conditions",
        [KIND_PATHS] = "paths",
        [KIND_UNKNOWN] = "unknown",
    };
    return NAMES[kind];
}

struct arcs_version_text arcs_version_text(const struct arcs_origin *origin)
{
    struct arcs_version_text v = {{0}};
    for (unsigned i = 0; i < 4; i++) {
        unsigned shift = origin->family == ARCS_RFC ? 8 * i : 24 - 8 * i;
        char c = (char)(origin->version >> shift);
        v.text[i] = c > ' ' && c <= '~' ? c : '?';
    }
    return v;
}

const char *arcs_defect_text(enum arcs_defect defect)
{
    static const char *const TEXTS[DEFECTS] = {
        [DEFECT_NONE] = "",
        [DEFECT_CUT] = "the file ends within the function",
        [DEFECT_BAD_RECORD] = "a record's contents do not fit its length",
        [DEFECT_NO_FILE] = "it has lines of no source file",
        [DEFECT_BAD_BLOCK] = "a record names a block that does not exist",
        [DEFECT_BLOCK_COUNT] = "it claims more blocks than its arcs connect",
    };
    return TEXTS[defect];
}

uint32_t name_ident(const char *name)
{
    return hash_fnv32(name, strlen(name)) & INT32_MAX; /* gcov-dump prints it signed */
}
