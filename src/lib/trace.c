/* Handles of lcov tracefiles: their life, reading and writing, building, what is in them.
 *
 * A tracefile is flat arrays of which sections own slices; adding or merging reserves all that it
 * needs first and then cannot fail, so that a refused call leaves the handle whole.
 *
 *     sections    { source, test, first and number of: functions, lines, branches, conditions }
 *     functions   | of section 0 | of section 1 | ...
 *     lines       | of section 0 | of section 1 | ...
 *
 * Rows are numbered with 32 bits; more are refused. Merging appends sections, it does not sum
 * them: lcov's files may have several of one source, one for each test, and readers add them up. */
#include "lib/handles.h"

#include "coverage/format/format.h"

#include "monarc/coverage.h"

#include <string.h>

struct monarc_trace *monarc_trace_new(const struct monarc_memory *memory, struct monarc_error *e)
{
    struct monarc_trace *t = handle_alloc(memory, sizeof *t);
    if (!t) {
        call_fail_memory(e);
        return NULL;
    }
    memset(t, 0, sizeof *t);
    heap_init(&t->heap, memory);
    return t;
}

/* The lists lie in the heap that is given back: they are forgotten, not freed. */
void monarc_trace_clear(struct monarc_trace *t)
{
    heap_release(&t->heap);
    memset(&t->file, 0, sizeof t->file);
}

/* The memory functions are copied first: they are in the handle that is given back. */
void monarc_trace_free(struct monarc_trace *t)
{
    if (!t)
        return;
    struct monarc_memory memory = t->heap.memory;
    heap_release(&t->heap);
    memory_loose_free(&memory, t);
}

/* A read that is going on. */
struct trace_reading {
    struct monarc_trace *t;
    struct call_input in;
    bool is_known;
    struct err why;
};

/* lcov's files are text without a magic; a probe looks at the first lines. */
static bool trace_read_bytes(void *context)
{
    struct trace_reading *r = context;
    r->is_known = lcov_probe(r->in.bytes);
    return r->is_known ? lcov_read(r->in.bytes, r->in.name, &r->t->file, &r->why)
                       : err_in(&r->why, r->in.name, "is not an lcov tracefile");
}

/* On MONARC_BAD_INPUT the sections that were whole are kept. Texts are copied, so that the bytes
 * are given back. */
bool monarc_trace_read(struct monarc_trace *t, const struct monarc_source *in,
                       struct monarc_error *e)
{
    struct trace_reading r = {.t = t};
    monarc_trace_clear(t);
    if (!call_read(in, &t->heap, &r.in, e))
        return false;
    enum heap_outcome outcome = heap_run(&t->heap, trace_read_bytes, &r);
    if (outcome == HEAP_EXHAUSTED)
        monarc_trace_clear(t);
    else if (r.in.bytes.at != in->bytes)
        heap_give((void *)r.in.bytes.at);
    return call_result(outcome, r.is_known ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &r.why, e);
}

static bool trace_encode(struct call_writing *writing)
{
    return lcov_write(&writing->w, writing->what, &writing->why);
}

/* In the order in which sections were read or added. */
bool monarc_trace_write(const struct monarc_trace *t, struct monarc_target *to,
                        struct monarc_error *e)
{
    struct call_writing writing = {.encode = trace_encode, .what = &t->file};
    return call_write(&writing, &t->heap.memory, to, e);
}

/* ---- building */

/* Into the tracefile's arena, which lies in the handle's heap. */
static const char *trace_copy(struct tracefile *t, const char *text)
{
    return arena_copy(&t->arena, text, strlen(text));
}

/* What is added: one section with its rows, or all of another tracefile. */
struct trace_adding {
    struct tracefile *into;
    const struct monarc_trace_section *section;
    const struct monarc_trace_function *functions;
    const struct monarc_trace_line *lines;
    const struct monarc_trace_branch *branches;
    const struct tracefile *from;
};

/* What is reserved first cannot fail afterwards. */
static void trace_reserve(struct tracefile *t, size_t sections, size_t functions, size_t lines,
                          size_t branches, size_t conditions)
{
    vec_reserve(&t->sections, t->sections.len + sections);
    vec_reserve(&t->functions, t->functions.len + functions);
    vec_reserve(&t->lines, t->lines.len + lines);
    vec_reserve(&t->branches, t->branches.len + branches);
    vec_reserve(&t->conditions, t->conditions.len + conditions);
}

/* An empty section that begins where the lists end. */
static struct trace_section trace_next(const struct tracefile *t)
{
    return (struct trace_section){.first_function = (uint32_t)t->functions.len,
                                  .first_line = (uint32_t)t->lines.len,
                                  .first_branch = (uint32_t)t->branches.len,
                                  .first_condition = (uint32_t)t->conditions.len};
}

/* Only copying texts takes memory after the reservation, and lengths are changed after that: what
 * is left in the middle is not seen. */
static bool trace_add(void *context)
{
    const struct trace_adding *a = context;
    struct tracefile *t = a->into;
    const struct monarc_trace_section *from = a->section;
    struct trace_section s = trace_next(t);
    trace_reserve(t, 1, from->functions, from->lines, from->branches, 0);
    s.source = trace_copy(t, from->source);
    s.test = trace_copy(t, from->test ? from->test : "");
    s.functions = (uint32_t)from->functions;
    s.lines = (uint32_t)from->lines;
    s.branches = (uint32_t)from->branches;
    for (size_t i = 0; i < from->functions; i++) {
        const struct monarc_trace_function *f = &a->functions[i];
        t->functions.at[t->functions.len + i] =
            (struct trace_function){trace_copy(t, f->name), f->start_line, f->end_line, f->count};
    }
    t->functions.len += from->functions;
    for (size_t i = 0; i < from->lines; i++)
        vec_push(&t->lines, ((struct trace_line){a->lines[i].line, a->lines[i].count}));
    for (size_t i = 0; i < from->branches; i++) {
        const struct monarc_trace_branch *b = &a->branches[i];
        vec_push(&t->branches,
                 ((struct trace_branch){b->line, b->block, b->branch, b->count, b->is_exception}));
    }
    vec_push(&t->sections, s);
    return true;
}

/* Names must be there, since the format has lines of text; and 32 bits must number the rows. */
static bool trace_is_usable(const struct trace_adding *a)
{
    const struct monarc_trace_section *s = a->section;
    const struct tracefile *t = a->into;
    size_t most = UINT32_MAX;
    bool ok = s->source && *s->source && s->functions < most - t->functions.len &&
              s->lines < most - t->lines.len && s->branches < most - t->branches.len;
    for (size_t i = 0; i < s->functions && ok; i++)
        ok = a->functions[i].name && *a->functions[i].name;
    return ok;
}

/* Lists are copied. Numbers of rows in *s say how long they are; a list of length 0 may be NULL. */
bool monarc_trace_add_section(struct monarc_trace *t, const struct monarc_trace_section *s,
                              const struct monarc_trace_function *functions,
                              const struct monarc_trace_line *lines,
                              const struct monarc_trace_branch *branches, struct monarc_error *e)
{
    struct trace_adding a = {&t->file, s, functions, lines, branches, NULL};
    const struct err none = {0};
    if (!trace_is_usable(&a))
        return call_fail(e, MONARC_MISUSE,
                         "a section needs a source, its functions names, and less than 2^32 rows");
    return call_result(heap_run(&t->heap, trace_add, &a), MONARC_MISUSE, &none, e);
}

/* Everything of `from` after what is there; slices of its sections move by what stood in front. */
static bool trace_append(void *context)
{
    const struct trace_adding *a = context;
    struct tracefile *t = a->into;
    const struct tracefile *from = a->from;
    size_t first = t->functions.len;
    struct trace_section base = trace_next(t);
    trace_reserve(t, from->sections.len, from->functions.len, from->lines.len, from->branches.len,
                  from->conditions.len);
    for (size_t i = 0; i < from->functions.len; i++) {
        t->functions.at[first + i] = from->functions.at[i];
        t->functions.at[first + i].name = trace_copy(t, from->functions.at[i].name);
    }
    for (size_t i = 0; i < from->sections.len; i++) {
        struct trace_section s = from->sections.at[i];
        s.source = trace_copy(t, s.source);
        s.test = trace_copy(t, s.test);
        s.first_function += base.first_function;
        s.first_line += base.first_line;
        s.first_branch += base.first_branch;
        s.first_condition += base.first_condition;
        t->sections.at[t->sections.len + i] = s;
    }
    t->functions.len += from->functions.len;
    t->sections.len += from->sections.len;
    for (size_t i = 0; i < from->lines.len; i++)
        vec_push(&t->lines, from->lines.at[i]);
    for (size_t i = 0; i < from->branches.len; i++)
        vec_push(&t->branches, from->branches.at[i]);
    for (size_t i = 0; i < from->conditions.len; i++)
        vec_push(&t->conditions, from->conditions.at[i]);
    return true;
}

/* Nothing is counted before all memory is there: a merge that is refused some leaves `into` whole.
 */
bool monarc_trace_merge(struct monarc_trace *into, const struct monarc_trace *from,
                        struct monarc_error *e)
{
    struct trace_adding a = {.into = &into->file, .from = &from->file};
    const struct err none = {0};
    uint64_t most = UINT32_MAX;
    if (into == from)
        return call_fail(e, MONARC_MISUSE, "a tracefile cannot be added to itself");
    if (from->file.lines.len > most - into->file.lines.len ||
        from->file.functions.len > most - into->file.functions.len ||
        from->file.branches.len > most - into->file.branches.len ||
        from->file.conditions.len > most - into->file.conditions.len)
        return call_fail(e, MONARC_UNFIT, "2^32 rows or more are too many");
    return call_result(heap_run(&into->heap, trace_append, &a), MONARC_UNFIT, &none, e);
}

/* ---- what is in one */

size_t monarc_trace_count_sections(const struct monarc_trace *t)
{
    return t->file.sections.len;
}

/* Rows of a section are requested by number, from 0. */
bool monarc_trace_get_section(const struct monarc_trace *t, size_t section,
                              struct monarc_trace_section *out)
{
    if (section >= t->file.sections.len)
        return false;
    const struct trace_section *s = &t->file.sections.at[section];
    *out = (struct monarc_trace_section){.source = s->source,
                                         .test = s->test,
                                         .functions = s->functions,
                                         .lines = s->lines,
                                         .branches = s->branches};
    return true;
}

/* Row i of the section, which is row first_function + i of the file. */
bool monarc_trace_get_function(const struct monarc_trace *t, size_t section, size_t i,
                               struct monarc_trace_function *out)
{
    if (section >= t->file.sections.len || i >= t->file.sections.at[section].functions)
        return false;
    const struct trace_function *f =
        &t->file.functions.at[t->file.sections.at[section].first_function + i];
    *out = (struct monarc_trace_function){f->name, f->start_line, f->end_line, f->count};
    return true;
}

bool monarc_trace_get_line(const struct monarc_trace *t, size_t section, size_t i,
                           struct monarc_trace_line *out)
{
    if (section >= t->file.sections.len || i >= t->file.sections.at[section].lines)
        return false;
    const struct trace_line *l = &t->file.lines.at[t->file.sections.at[section].first_line + i];
    *out = (struct monarc_trace_line){l->line, l->count};
    return true;
}

bool monarc_trace_get_branch(const struct monarc_trace *t, size_t section, size_t i,
                             struct monarc_trace_branch *out)
{
    if (section >= t->file.sections.len || i >= t->file.sections.at[section].branches)
        return false;
    const struct trace_branch *b =
        &t->file.branches.at[t->file.sections.at[section].first_branch + i];
    *out = (struct monarc_trace_branch){b->line, b->block, b->branch, b->count, b->is_exception};
    return true;
}
