/* Records of a profile's file, one after the other, none of them kept. */
#include "lib/profile.h"

struct walking {
    const struct monarc_profile_visitor *visitor;
    struct call_input in;
    struct format_hint hint;
    const struct format *format;
    struct profile out;
    bool has_begun, is_stopped;
    struct err why;
};

static bool begin(struct walking *w, const struct profile *p)
{
    if (w->has_begun || !w->visitor->begin)
        return true;
    struct monarc_profile_facts facts;
    profile_facts(p, &facts);
    w->has_begun = true;
    return w->visitor->begin(w->visitor->context, &(struct monarc_profile_facts){
                                                      .format = profile_format_number(w->format),
                                                      .pointer_bytes = facts.pointer_bytes,
                                                      .byte_order = facts.byte_order});
}

static bool hand_histogram(const struct monarc_profile_visitor *v, const struct histogram *h)
{
    struct monarc_histogram facts;
    if (!v->histogram)
        return true;
    uint64_t *counts = memory_resized(NULL, (size_t)h->bins * sizeof *counts);
    for (uint32_t i = 0; i < h->bins; i++)
        counts[i] = histogram_get(h, i);
    profile_histogram_facts(h, &facts);
    bool ok = v->histogram(v->context, &facts, counts);
    memory_free(counts);
    return ok;
}

static bool hand_record(struct walking *w, enum record_kind kind, const struct profile *p)
{
    const struct monarc_profile_visitor *v = w->visitor;
    switch (kind) {
    case RECORD_HISTOGRAM: return hand_histogram(v, &p->histograms.at[0]);
    case RECORD_ARC:
        return !v->arcs || v->arcs(v->context, (const struct monarc_arc *)p->arcs.at, p->arcs.len);
    default:
        return !v->blocks ||
               v->blocks(v->context, (const struct monarc_block *)p->blocks.at, p->blocks.len);
    }
}

static bool take(void *context, enum record_kind kind, const struct profile *p)
{
    struct walking *w = context;
    if (!w->is_stopped)
        w->is_stopped = !begin(w, p) || !hand_record(w, kind, p);
    return !w->is_stopped;
}

static bool walk(void *context)
{
    struct walking *w = context;
    const struct format_sink sink = {.context = w, .take = take};
    w->hint.sink = &sink;
    w->format = format_probe(w->in.bytes, w->in.name, &w->hint, &w->why);
    bool ok = w->format && w->format->read(w->in.bytes, w->in.name, &w->hint, &w->out, &w->why);
    if (ok && !w->is_stopped)
        w->is_stopped = !begin(w, &w->out);
    return ok;
}

bool monarc_profile_walk(const struct monarc_source *in, const struct monarc_hint *hint,
                         const struct monarc_memory *memory,
                         const struct monarc_profile_visitor *visitor, struct monarc_error *e)
{
    struct heap scratch;
    struct walking w = {.visitor = visitor, .hint = profile_hint(hint)};
    if (!visitor)
        return call_fail(e, MONARC_MISUSE, "there is nobody to hand records to");
    heap_init(&scratch, memory);
    bool ok = call_read(in, &scratch, &w.in, e);
    if (ok) {
        enum heap_outcome outcome = heap_run(&scratch, walk, &w);
        ok = w.is_stopped
                 ? call_fail(e, MONARC_STOPPED, "the caller stopped the walk")
                 : call_result(outcome, w.format ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &w.why,
                               e);
    }
    heap_release(&scratch);
    return ok;
}
