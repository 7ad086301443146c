/* Handles of lcov tracefiles. */
#include "lib/call.h"

#include "coverage/format/lcov.h"

#include "monarc/coverage.h"

#include <string.h>

struct monarc_trace {
    struct heap heap;
    struct tracefile file;
};

struct monarc_trace *monarc_trace_new(const struct monarc_memory *memory, struct monarc_error *e)
{
    struct monarc_trace *t = memory_loose(memory, sizeof *t);
    if (!t) {
        call_fail_memory(e);
        return NULL;
    }
    memset(t, 0, sizeof *t);
    heap_init(&t->heap, memory);
    return t;
}

void monarc_trace_clear(struct monarc_trace *t)
{
    heap_release(&t->heap);
    memset(&t->file, 0, sizeof t->file);
}

void monarc_trace_free(struct monarc_trace *t)
{
    if (!t)
        return;
    struct monarc_memory memory = t->heap.memory;
    heap_release(&t->heap);
    memory_loose_free(&memory, t);
}

struct trace_reading {
    struct monarc_trace *t;
    struct call_input in;
    bool is_known;
    struct err why;
};

static bool read_trace(void *context)
{
    struct trace_reading *r = context;
    r->is_known = lcov_probe(r->in.bytes);
    return r->is_known ? lcov_read(r->in.bytes, r->in.name, &r->t->file, &r->why)
                       : err_in(&r->why, r->in.name, "is no lcov tracefile");
}

bool monarc_trace_read(struct monarc_trace *t, const struct monarc_source *in,
                       struct monarc_error *e)
{
    struct trace_reading r = {.t = t};
    monarc_trace_clear(t);
    if (!call_read(in, &t->heap, &r.in, e))
        return false;
    enum heap_outcome outcome = heap_run(&t->heap, read_trace, &r);
    if (outcome == HEAP_EXHAUSTED)
        monarc_trace_clear(t);
    else if (r.in.bytes.at != in->bytes)
        heap_give((void *)r.in.bytes.at);
    return call_result(outcome, r.is_known ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &r.why, e);
}

size_t monarc_trace_sections(const struct monarc_trace *t)
{
    return t->file.sections.len;
}

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
