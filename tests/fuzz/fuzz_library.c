/* Fuzzes libmonarc through its own functions: the bytes are read as whatever they are, walked,
 * merged, converted and written; once with all memory, then with one allocation after the other
 * refused.
 *
 * Laws: what is written is read back the same; merging commutes and associates; a call that fails
 * says why; after memory was refused everything can be used again, and all of it is given back. */
#include "law.h"
#include "monarc/coverage.h"
#include "monarc/profile.h"
#include "monarc/recording.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 14, REFUSALS = 5, LIMIT = 1 << 20 };

/* Memory that is counted, and refused from one allocation on for as long as `refused` says. */
struct counted_memory {
    size_t blocks, calls, refuse_at;
};

static void *resize(void *context, void *block, size_t bytes)
{
    struct counted_memory *m = (struct counted_memory *)context;
    if (!bytes) {
        m->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (++m->calls == m->refuse_at)
        return NULL;
    m->blocks += !block;
    return realloc(block, bytes);
}

static void expect_reason(bool ok, const struct monarc_error *e, bool is_refused)
{
    if (ok)
        return;
    expect(e->status != MONARC_OK && e->text[0], "a failure has a status and a reason");
    expect(!strchr(e->text, '\n'), "a reason is one line");
    expect(is_refused || e->status != MONARC_NO_MEMORY, "memory is short only when it is refused");
}

struct sums {
    uint64_t samples, calls, blocks;
};

static bool sum_histogram(void *context, const struct monarc_histogram *h, const uint64_t *counts)
{
    struct sums *s = (struct sums *)context;
    for (uint32_t i = 0; i < h->bins; i++)
        s->samples += counts[i];
    return true;
}

static bool sum_arcs(void *context, const struct monarc_arc *arcs, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((struct sums *)context)->calls += arcs[i].count;
    return true;
}

static bool sum_blocks(void *context, const struct monarc_block *blocks, size_t len)
{
    (void)blocks;
    ((struct sums *)context)->blocks += len;
    return true;
}

/* Calls sum to the same whether records are walked or kept, if nothing saturates. */
static void walk_profile(const struct monarc_source *in, const struct monarc_memory *memory,
                         const struct monarc_profile *p)
{
    struct sums sums = {0, 0, 0};
    struct monarc_profile_visitor visitor = {&sums, NULL, sum_histogram, sum_arcs, sum_blocks};
    struct monarc_profile_facts facts;
    struct monarc_error e;
    if (!monarc_profile_walk(in, NULL, memory, &visitor, &e))
        return;
    monarc_profile_get_facts(p, &facts);
    if (facts.calls < UINT64_MAX && facts.samples < UINT64_MAX)
        expect(sums.samples == facts.samples && sums.calls == facts.calls &&
                   sums.blocks == facts.blocks,
               "a walk sees what is kept");
}

static void write_profile(const struct monarc_profile *p, struct monarc_profile *again,
                          enum monarc_format format, bool is_refused)
{
    struct monarc_target out = monarc_target_to_memory();
    struct monarc_profile_facts facts;
    struct monarc_error e;
    bool ok = monarc_profile_write(p, format, &out, &e);
    expect_reason(ok, &e, true); /* large counts take many records, up to the limit */
    monarc_profile_get_facts(p, &facts);
    struct monarc_hint hint = {facts.pointer_bytes, facts.byte_order, 0, 20};
    struct monarc_source in = monarc_source_from_bytes(out.bytes, out.len);
    if (ok && facts.histograms + facts.arcs + facts.blocks && format <= MONARC_GMON0) {
        /* Records that fit as bytes may not as what is read from them. */
        bool may_fail = is_refused || out.len > LIMIT / 4;
        bool is_read = monarc_profile_read(again, &in, &hint, &e);
        expect_reason(is_read, &e, may_fail);
        expect(is_read || may_fail, "what was written is read");
        if (is_read && !is_refused)
            expect(monarc_profile_is_same(p, again, &e) ||
                       (may_fail && e.status == MONARC_NO_MEMORY),
                   "what is read is what was written");
    }
    monarc_target_free(&out);
}

static void try_profile(const struct monarc_source *in, const struct monarc_memory *memory,
                        bool is_refused)
{
    struct monarc_error e;
    struct monarc_finding findings[4];
    struct monarc_profile *p = monarc_profile_new(memory, &e);
    struct monarc_profile *q = p ? monarc_profile_new(memory, &e) : NULL;
    bool ok = q && monarc_profile_read(p, in, NULL, &e);
    expect_reason(ok, &e, is_refused);
    if (q) {
        if (ok && !is_refused)
            walk_profile(in, memory, p);
        for (int format = MONARC_NO_FORMAT; format <= (is_refused ? MONARC_GMON : MONARC_BSD);
             format++)
            write_profile(p, q, (enum monarc_format)format, is_refused);
        expect_reason(monarc_profile_check_laws(p, q, p, &e), &e, is_refused);
        expect_reason(monarc_profile_merge(q, p, &e), &e, is_refused);
        expect_reason(monarc_profile_merge(p, q, &e), &e, is_refused);
        expect_reason(monarc_profile_normalize(p, &e), &e, is_refused);
        monarc_profile_get_findings(p, findings, 4, &e);
    }
    monarc_profile_free(q);
    monarc_profile_free(p);
}

static void read_notes_back(struct monarc_notes *n, struct monarc_target *out,
                            const struct monarc_memory *memory, bool is_refused)
{
    struct monarc_error e;
    struct monarc_source in = monarc_source_from_bytes(out->bytes, out->len);
    struct monarc_notes *again = monarc_notes_new(memory, &e);
    struct monarc_arcs_facts was, is;
    bool ok = again && monarc_notes_read(again, &in, &e);
    expect(ok || is_refused, "notes that were written are read");
    monarc_notes_get_facts(n, &was);
    if (ok)
        monarc_notes_get_facts(again, &is);
    expect(!ok || was.functions == is.functions, "notes keep their functions");
    monarc_notes_free(again);
}

static void try_notes(const struct monarc_source *in, const struct monarc_memory *memory,
                      struct monarc_counters *c, bool is_refused)
{
    struct monarc_error e;
    struct monarc_notes *n = monarc_notes_new(memory, &e);
    struct monarc_function f;
    struct monarc_block_lines lines;
    if (!n)
        return;
    expect_reason(monarc_notes_read(n, in, &e), &e, is_refused);
    for (size_t i = 0; monarc_notes_get_function(n, i, &f); i++)
        for (size_t k = 0; monarc_notes_get_lines(n, i, k, &lines); k++)
            expect(lines.block < f.blocks || f.defect, "lines are of a block");
    for (int format = MONARC_GCNO; format <= MONARC_BBG; format++) {
        struct monarc_target out = monarc_target_to_memory();
        bool ok = monarc_notes_write(n, (enum monarc_format)format, NULL, &out, &e);
        expect_reason(ok || format == MONARC_GCDA, &e, is_refused);
        if (ok)
            read_notes_back(n, &out, memory, is_refused);
        monarc_target_free(&out);
    }
    expect_reason(monarc_counters_check(c, n, &e), &e, is_refused);
    monarc_notes_free(n);
}

static void try_counters(const struct monarc_source *in, const struct monarc_memory *memory,
                         bool is_refused)
{
    struct monarc_error e;
    struct monarc_counters *c = monarc_counters_new(memory, &e);
    struct monarc_counters *sum = c ? monarc_counters_new(memory, &e) : NULL;
    struct monarc_arcs_form gcc9 = {901, MONARC_BIG_ENDIAN};
    if (sum) {
        uint64_t some[4];
        expect_reason(monarc_counters_read(c, in, &e), &e, is_refused);
        for (size_t i = 0; i < 4; i++)
            monarc_counters_get_values(c, i, MONARC_COUNT_ARCS, 0, 4, some);
        for (int i = 0; i < 3; i++)
            expect_reason(monarc_counters_merge(sum, c, &e), &e, is_refused);
        bool laws = monarc_counters_check_laws(c, sum, c, &e);
        expect(laws || is_refused, "merging commutes and associates");
        struct monarc_target out = monarc_target_to_memory();
        expect_reason(monarc_counters_write(sum, MONARC_NO_FORMAT, NULL, NULL, &out, &e), &e,
                      is_refused);
        monarc_target_free(&out);
        expect_reason(monarc_counters_write(c, MONARC_GCDA, &gcc9, NULL, &out, &e), &e, is_refused);
        monarc_target_free(&out);
        expect_reason(monarc_counters_write_pair(c, "a.gcda", &gcc9, &out, &e), &e, is_refused);
        monarc_target_free(&out);
        try_notes(in, memory, c, is_refused);
    }
    monarc_counters_free(sum);
    monarc_counters_free(c);
}

static bool look_at_pair(void *context, const char *name, const struct monarc_counters *c)
{
    struct monarc_arcs_facts facts;
    monarc_counters_get_facts(c, &facts);
    *(size_t *)context += facts.functions + strlen(name);
    return *(size_t *)context < 1000;
}

/* Twice of it, written, is read as that and written as the same bytes. */
static void try_trace_sum(const struct monarc_trace *t, const struct monarc_memory *memory)
{
    struct monarc_error e;
    struct monarc_target first = monarc_target_to_memory(), second = monarc_target_to_memory();
    struct monarc_trace *sum = monarc_trace_new(memory, &e);
    size_t sections = monarc_trace_count_sections(t);
    if (sum && monarc_trace_merge(sum, t, &e) && monarc_trace_merge(sum, t, &e) &&
        monarc_trace_write(sum, &first, &e)) {
        struct monarc_source again = monarc_source_from_bytes(first.bytes, first.len);
        expect(monarc_trace_count_sections(sum) == 2 * sections,
               "sections are put behind sections");
        if (sections && monarc_trace_read(sum, &again, &e) && monarc_trace_write(sum, &second, &e))
            expect(second.len == first.len && !memcmp(first.bytes, second.bytes, first.len),
                   "tracefiles are written as they were read");
        else
            expect(!sections || e.status == MONARC_NO_MEMORY, "what is written can be read");
    }
    monarc_target_free(&first);
    monarc_target_free(&second);
    monarc_trace_free(sum);
}

static void try_others(const struct monarc_source *in, const struct monarc_memory *memory,
                       bool is_refused)
{
    struct monarc_error e;
    struct monarc_trace_section section;
    size_t seen = 0;
    struct monarc_trace *t = monarc_trace_new(memory, &e);
    if (t)
        expect_reason(monarc_trace_read(t, in, &e), &e, is_refused);
    for (size_t i = 0; t && monarc_trace_get_section(t, i, &section); i++)
        expect(section.source && section.test, "a section has a source");
    if (t)
        try_trace_sum(t, memory);
    monarc_trace_free(t);
    expect_reason(monarc_counters_walk(in, memory, look_at_pair, &seen, &e), &e, is_refused);
    expect_reason(monarc_format_detect(in, NULL, &e) != MONARC_NO_FORMAT, &e, is_refused);
}

static uint64_t walk_recording(const struct monarc_recording *r);

/* Refused memory leaves nothing, and any other reason what was there. */
static void try_recording_sum(const struct monarc_recording *r, const struct monarc_memory *memory)
{
    struct monarc_error e = {MONARC_OK, ""};
    struct monarc_recording *sum = monarc_recording_new(memory, &e);
    uint64_t weight = walk_recording(r);
    bool ok = sum && monarc_recording_merge(sum, r, &e) && monarc_recording_merge(sum, r, &e);
    if (ok)
        expect(walk_recording(sum) == 2 * weight || walk_recording(sum) == weight,
               "a recording twice has twice the weight, or once, if it is of ranks");
    else
        expect(e.status == MONARC_NO_MEMORY || e.status == MONARC_UNFIT, "a merge says why not");
    monarc_recording_free(sum);
}

/* Every row, and the stacks of all samples. */
static uint64_t walk_recording(const struct monarc_recording *r)
{
    struct monarc_recording_facts facts;
    struct monarc_object object;
    struct monarc_symbol symbol;
    struct monarc_process process;
    struct monarc_thread thread;
    struct monarc_event event;
    struct monarc_sample sample;
    struct monarc_loss loss;
    struct monarc_frame frames[4];
    uint64_t weight = 0;
    monarc_recording_get_facts(r, &facts);
    for (size_t i = 0; monarc_recording_get_object(r, i, &object); i++)
        expect(object.kind <= MONARC_OBJECT_CUT, "an object has a kind");
    for (size_t i = 0; monarc_recording_get_symbol(r, i, &symbol); i++)
        expect(symbol.name && symbol.object < facts.objects, "a symbol is of an object");
    for (size_t i = 0; monarc_recording_get_process(r, i, &process); i++)
        expect(process.program < facts.objects || process.program == MONARC_NONE, "programs");
    for (size_t i = 0; monarc_recording_get_thread(r, i, &thread); i++)
        expect(thread.name && thread.process < facts.processes, "a thread is of a process");
    for (size_t i = 0; monarc_recording_get_event(r, i, &event); i++)
        expect(event.name != NULL, "an event has a name");
    for (size_t i = 0; monarc_recording_get_loss(r, i, &loss); i++)
        expect(loss.text != NULL, "a loss is said");
    for (size_t i = 0; monarc_recording_get_sample(r, i, &sample); i++) {
        size_t len = monarc_recording_get_stack(r, sample.node, frames, 4);
        for (size_t k = 0; k < len && k < 4; k++)
            expect(frames[k].object < facts.objects, "a frame is of an object");
        weight += sample.weight;
    }
    return weight;
}

/* What was read, and its first rows again: all of what is there can be added. */
static void build_recording(const struct monarc_recording *r, struct monarc_recording *again,
                            bool is_refused)
{
    struct monarc_error e;
    struct monarc_recording_facts facts;
    struct monarc_object object;
    struct monarc_frame frames[4];
    struct monarc_target out = monarc_target_to_memory();
    monarc_recording_get_facts(r, &facts);
    facts.slice_ns += !facts.slice_ns;
    expect_reason(monarc_recording_set_facts(again, &facts, &e), &e, is_refused);
    for (size_t i = 0; i < 8 && monarc_recording_get_object(r, i, &object); i++)
        if (monarc_recording_add_object(again, &object, &e) == MONARC_NONE)
            expect_reason(false, &e, is_refused);
    for (uint32_t node = 1; node < 16 && node < facts.nodes; node++) {
        size_t len = monarc_recording_get_stack(r, node, frames, 4);
        uint32_t added = monarc_recording_add_stack(again, frames, len < 4 ? len : 4, &e);
        if (added == MONARC_NONE)
            expect_reason(false, &e, is_refused);
        else
            expect(monarc_recording_add_stack(again, frames, len < 4 ? len : 4, &e) == added ||
                       is_refused,
                   "a stack is there once");
    }
    expect_reason(monarc_recording_write(again, &out, &e), &e, is_refused);
    monarc_target_free(&out);
}

static void change_recording(const struct monarc_recording *r, const struct monarc_memory *memory,
                             bool is_refused)
{
    struct monarc_error e;
    struct monarc_recording *again = monarc_recording_new(memory, &e);
    struct monarc_profile *p = monarc_profile_new(memory, &e);
    if (again)
        build_recording(r, again, is_refused);
    if (p)
        expect_reason(monarc_recording_to_profile(r, p, &e), &e, true);
    bool laws = monarc_recording_check_laws(r, r, r, &e);
    expect(laws || e.status == MONARC_NO_MEMORY, "adding recordings up keeps their sums");
    monarc_profile_free(p);
    monarc_recording_free(again);
}

static void try_recording(const struct monarc_source *in, const struct monarc_memory *memory,
                          bool is_refused)
{
    struct monarc_error e;
    struct monarc_target target = monarc_target_to_memory();
    struct monarc_recording *r = monarc_recording_new(memory, &e);
    bool ok = r && monarc_recording_read(r, in, &e);
    if (r)
        expect_reason(ok, &e, is_refused);
    uint64_t weight = r ? walk_recording(r) : 0;
    if (ok) {
        try_recording_sum(r, memory);
        change_recording(r, memory, is_refused);
    }
    if (ok && monarc_recording_write(r, &target, &e)) {
        struct monarc_source again = monarc_source_from_bytes(target.bytes, target.len);
        if (monarc_recording_read(r, &again, &e))
            expect(walk_recording(r) == weight, "recordings are read back the same");
        else
            expect(e.status == MONARC_NO_MEMORY, "what is written can be read");
        monarc_target_free(&target);
    }
    monarc_recording_free(r);
}

static size_t try_all(const struct monarc_source *in, size_t refuse_at)
{
    struct counted_memory counted = {0, 0, refuse_at};
    struct monarc_memory memory = {LIMIT, resize, &counted};
    try_profile(in, &memory, refuse_at);
    try_counters(in, &memory, refuse_at);
    try_others(in, &memory, refuse_at);
    try_recording(in, &memory, refuse_at);
    expect(!counted.blocks, "all memory is given back");
    return counted.calls;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct monarc_source in = monarc_source_from_bytes(data, size);
    if (size > MOST_BYTES)
        return 0;
    size_t calls = try_all(&in, 0);
    size_t step = calls / REFUSALS + 1;
    for (size_t at = 1 + size % step; at <= calls; at += step)
        try_all(&in, at);
    return 0;
}
