/* The life of notes and counters, and looking things up in them.
 *
 * Notes and counters are read file after file into the same memory: x_clear() empties the lists and
 * keeps what they have, x_deinit() gives it back. Searches are linear in what one function has,
 * which is a few records, or halve a sorted list. */
#include "coverage/model/coverage.h"

#include "base/bytes.h"
#include "base/sort.h"
#include "wire/gcov_dialects.h"

#include <string.h>

/* All but the memory of the lists is as in a zeroed struct. */
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

/* The lists that grow while they are read, not those that are mostly empty. */
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

/* Called once the bytes are to go; texts that two functions share are copied twice. */
void notes_keep_texts(struct notes *n, struct arena *a)
{
    n->directory = keep_text(a, n->directory);
    for (size_t i = 0; i < n->files.len; i++)
        n->files.at[i] = keep_text(a, n->files.at[i]);
    for (size_t i = 0; i < n->functions.len; i++)
        n->functions.at[i].name = keep_text(a, n->functions.at[i].name);
}

/* Runs are sorted by block. Of a block without lines *len is 0, and the answer is where they would
 * be. */
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

/* ---- the exit block */

/* The number of `block` once block `from` has become `to` and those between have moved by one. */
uint32_t notes_renumbered(uint32_t block, uint32_t from, uint32_t to)
{
    if (block == from)
        return to;
    if (from < to)
        return block > from && block <= to ? block - 1 : block;
    return block >= to && block < from ? block + 1 : block;
}

/* The order of arcs is that of counters: a block with arcs cannot change its place among them. Arcs
 * keep their places: only their ends get new numbers, as do runs of lines and conditions. */
bool notes_move_exit(struct notes *n, struct notes_function *f, uint32_t exit, struct err *e)
{
    struct notes_arc *arcs = n->arcs.at + f->first_arc;
    uint32_t was = f->exit;
    if (was == exit)
        return true;
    for (uint32_t i = 0; i < f->arcs; i++)
        if (arcs[i].source == was)
            return err_set(e, "'%s' has arcs from its exit block, which keep its place",
                           f->name ? f->name : "?");
    for (uint32_t i = 0; i < f->arcs; i++) {
        arcs[i].source = notes_renumbered(arcs[i].source, was, exit);
        arcs[i].target = notes_renumbered(arcs[i].target, was, exit);
    }
    for (uint32_t i = 0; i < f->runs; i++) {
        struct notes_run *run = &n->runs.at[f->first_run + i];
        run->block = notes_renumbered(run->block, was, exit);
    }
    for (uint32_t i = 0; i < f->conditions; i++) {
        struct notes_condition *c = &n->conditions.at[f->first_condition + i];
        c->block = notes_renumbered(c->block, was, exit);
    }

    /* The runs of the exit block go where they belong: after, or before, those they have passed.
     * All have their new numbers already, and are sorted but for those. */
    struct notes_run *runs = n->runs.at + f->first_run;
    uint32_t len = f->runs, first = 0, mine = 0, place = 0;
    while (first < len && runs[first].block != exit)
        first++;
    while (first + mine < len && runs[first + mine].block == exit)
        mine++;
    for (uint32_t i = 0; i < len; i++)
        place += runs[i].block < exit;
    if (mine) {
        struct notes_run *moved = memory_resized(NULL, mine * sizeof *moved);
        memcpy(moved, runs + first, mine * sizeof *moved);
        memmove(runs + first, runs + first + mine, (len - first - mine) * sizeof *moved);
        memmove(runs + place + mine, runs + place, (len - mine - place) * sizeof *moved);
        memcpy(runs + place, moved, mine * sizeof *moved);
        memory_free(moved);
    }
    f->exit = exit;
    return true;
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

/* The first: readers take a second of one kind for damage. */
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

/* gcov's words have the first character in the highest byte, the proposal's in the lowest. */
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
        [DEFECT_TOO_LARGE] = "a count is larger than 2^63 - 1",
        [DEFECT_BLOCK_COUNT] = "it claims more blocks than its arcs connect",
    };
    return TEXTS[defect];
}

bool notes_refuse_defect(size_t function, enum arcs_defect defect, struct err *e)
{
    return err_set(e, "function %zu of the notes is damaged: %s", function,
                   arcs_defect_text(defect));
}

uint32_t name_ident(const char *name)
{
    return hash_fnv32(name, strlen(name)) & INT32_MAX; /* gcov-dump prints it signed */
}

/* --- versions of gcc ------------------------------------------------------------------------- */

const struct gcov_dialect *dialect_of_word(uint32_t version)
{
    return gcov_dialect_numbered(gcov_version_number(version));
}

/* The proposal's own version, "304e", names no release whose gcov would show its files. They state
 * every block's lines, as gcc's have done from version 8 on: they are counted as gcc 12's, and so
 * are those of gcc before 3.4. */
enum { PROPOSAL_VERSION = 0x65343033, SHOWN_AS = 1202 };

const struct gcov_dialect *dialect_of(const struct arcs_origin *origin)
{
    bool is_rfc = origin->family == ARCS_RFC;
    bool is_proposal = is_rfc && origin->version == PROPOSAL_VERSION;
    const struct gcov_dialect *found =
        gcov_dialect_numbered(is_proposal ? SHOWN_AS : origin->number);
    if (!found && is_rfc)
        return gcov_dialect_numbered(SHOWN_AS);
    return found ? found : gcov_dialects;
}

/* --- tracefiles ------------------------------------------------------------------------------ */

void tracefile_deinit(struct tracefile *t)
{
    arena_deinit(&t->arena);
    vec_free(&t->sections);
    vec_free(&t->functions);
    vec_free(&t->lines);
    vec_free(&t->branches);
    vec_free(&t->conditions);
    vec_free(&t->losses);
    *t = (struct tracefile){0};
}

void tracefile_begin(struct tracefile *t, const char *source, const char *test)
{
    vec_push(&t->sections, (struct trace_section){.source = source,
                                                  .test = test,
                                                  .first_function = (uint32_t)t->functions.len,
                                                  .first_line = (uint32_t)t->lines.len,
                                                  .first_branch = (uint32_t)t->branches.len,
                                                  .first_condition = (uint32_t)t->conditions.len});
}

static struct trace_section *last_section(struct tracefile *t)
{
    return &t->sections.at[t->sections.len - 1];
}

/* The slices reach from where the section began to the end of each list. */
void tracefile_end(struct tracefile *t)
{
    struct trace_section *s = last_section(t);
    s->functions = (uint32_t)(t->functions.len - s->first_function);
    s->lines = (uint32_t)(t->lines.len - s->first_line);
    s->branches = (uint32_t)(t->branches.len - s->first_branch);
    s->conditions = (uint32_t)(t->conditions.len - s->first_condition);
}

void tracefile_drop(struct tracefile *t)
{
    const struct trace_section *s = last_section(t);
    t->functions.len = s->first_function;
    t->lines.len = s->first_line;
    t->branches.len = s->first_branch;
    t->conditions.len = s->first_condition;
    t->sections.len--;
}

/* Few kinds of losses exist, so that they are searched one by one. */
void tracefile_lose(struct tracefile *t, const char *what, uint64_t number)
{
    size_t i = 0;
    while (i < t->losses.len && strcmp(t->losses.at[i].what, what))
        i++;
    if (i < t->losses.len)
        t->losses.at[i].number += number;
    else if (number)
        vec_push(&t->losses, (struct trace_loss){what, number});
}

/* --- patches --------------------------------------------------------------------------------- */

void patch_deinit(struct patch *p)
{
    arena_deinit(&p->arena);
    vec_free(&p->files);
    vec_free(&p->ranges);
    vec_free(&p->old_files);
    vec_free(&p->old_ranges);
    *p = (struct patch){0};
}
