/* pprof's profile.proto, packed by gzip: for `go tool pprof`, Pyroscope, Parca, Perfetto,
 * Speedscope.
 *
 * One location a line of a function: those that ran, or called the next frame of a path, with one
 * of their addresses. Where no line is known it is that at which the function begins. Each path
 * with time is a sample of the first value. Calls are the second value: a sample for each pair of
 * caller and callee, since who called the caller is not known of them; their time is 0. Where
 * threads are separate, a path is a sample of each, with labels for its thread, and of each set of
 * labels that the program published. Other dimensions of the profile are values between the two.
 *
 *     string table    built while the rest is written, and put last: readers take any order
 *     ids             the number of a function or object in the exchange, plus 1; 0 is none
 *     location i      place i of the exchange, plus 1: those of functions come first
 *
 * Source: google/pprof, proto/profile.proto; field numbers are in model/pprof_fields.h. */
#include "output/out.h"
#include "output/formats.h"
#include "profile/export/exports.h"
#include "profile/model/pprof_fields.h"

#include <string.h>

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>

struct pprof {
    const struct exchange *x;
    struct protobuf out;
    struct intern texts; /* number 0 is "" */
};

/* The number of a text. It is not copied, so it must live until the export ends. */
static uint32_t pprof_text(struct pprof *p, const char *text)
{
    return intern_kept(&p->texts, text, strlen(text));
}

/* ValueType: what a value counts, and in which unit. */
static void pprof_type(struct pprof *p, uint32_t field, const char *type, const char *unit)
{
    size_t at = protobuf_begin(&p->out, field);
    protobuf_u64(&p->out, TYPE_TYPE, pprof_text(p, type));
    protobuf_u64(&p->out, TYPE_UNIT, pprof_text(p, unit));
    protobuf_end(&p->out, at);
}

/* A sample's values, one for each type, packed: of the first dimension what the caller says, since
 * it may be a thread's part; of the others what the frame has. `frame` 0: of no path. */
static void pprof_values(struct pprof *p, uint64_t time, uint32_t frame, uint64_t calls)
{
    size_t at = protobuf_begin(&p->out, SAMPLE_VALUE);
    protobuf_varint(&p->out, time);
    for (size_t i = 0; i < p->x->others_len; i++)
        protobuf_varint(&p->out, frame ? p->x->others[i].frames.at[frame].self : 0);
    if (p->x->has_calls)
        protobuf_varint(&p->out, calls);
    protobuf_end(&p->out, at);
}

/* Numeric labels group by size; a text stays what it is. */
static void pprof_label(struct pprof *p, const char *key, const char *value)
{
    size_t at = protobuf_begin(&p->out, SAMPLE_LABEL);
    protobuf_u64(&p->out, LABEL_KEY, pprof_text(p, key));
    protobuf_u64(&p->out, LABEL_TEXT, pprof_text(p, value));
    protobuf_end(&p->out, at);
}

/* Numbers as texts: pprof would group numeric labels by ranges, as if they were sizes. */
static void pprof_number_label(struct pprof *p, const char *key, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    size_t at = protobuf_begin(&p->out, SAMPLE_LABEL);
    protobuf_u64(&p->out, LABEL_KEY, pprof_text(p, key));
    protobuf_u64(&p->out, LABEL_TEXT, intern(&p->texts, text, strlen(text)));
    protobuf_end(&p->out, at);
}

/* `part` NULL: of no thread. */
static void pprof_path(struct pprof *p, uint32_t frame, const struct exchange_part *part)
{
    const struct exchange_frame *frames = p->x->frames.at;
    size_t sample = protobuf_begin(&p->out, PROFILE_SAMPLE);
    size_t list = protobuf_begin(&p->out, SAMPLE_LOCATION);
    for (uint32_t i = frame; i; i = frames[i].parent)
        protobuf_varint(&p->out, frames[i].place + UINT64_C(1));
    protobuf_end(&p->out, list);
    pprof_values(p, part ? part->self : frames[frame].self, frame, 0);
    if (frames[frame].is_estimate)
        pprof_label(p, "path", "estimated by call counts");
    if (part) {
        /* Labels of the thread, where they are known. The keys are those that an import looks for.
         */
        const struct recording *r = p->x->summary->run->recording;
        const struct recording_thread *t = &r->threads.at[part->thread];
        if (*t->name)
            pprof_label(p, "thread", t->name);
        if (t->tid)
            pprof_number_label(p, "thread_id", t->tid);
        if (t->process < r->processes.len && r->processes.at[t->process].pid)
            pprof_number_label(p, "process_id", r->processes.at[t->process].pid);
        /* What the program published: no number, even if it looks like one, since it is a name of
         * something. Its own keys come last, so that ours are found first. */
        const struct recording_label_set *set =
            part->labels ? &r->label_sets.at[part->labels] : NULL;
        for (uint32_t i = 0; set && i < set->len; i++)
            pprof_label(p, r->labels.at[set->first + i].key, r->labels.at[set->first + i].value);
    }
    protobuf_end(&p->out, sample);
}

/* An object, with its build-id in hex. It says that functions, files and lines are known, so that a
 * reader does not try to find them itself. */
static void pprof_mapping(struct pprof *p, uint32_t number)
{
    static const char HEX[] = "0123456789abcdef";
    const struct exchange_object *o = &p->x->objects.at[number];
    char id[2 * 64 + 1];
    size_t len = o->build_id_len < 64 ? o->build_id_len : 64;
    for (size_t i = 0; i < len; i++) {
        id[2 * i] = HEX[o->build_id[i] >> 4];
        id[2 * i + 1] = HEX[o->build_id[i] & 15];
    }
    size_t at = protobuf_begin(&p->out, PROFILE_MAPPING);
    protobuf_u64(&p->out, MAPPING_ID, number + UINT64_C(1));
    protobuf_u64(&p->out, MAPPING_START, o->low);
    protobuf_u64(&p->out, MAPPING_LIMIT, o->high);
    protobuf_u64(&p->out, MAPPING_FILE, pprof_text(p, o->path));
    protobuf_u64(&p->out, MAPPING_BUILD_ID, intern(&p->texts, id, 2 * len));
    protobuf_u64(&p->out, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_u64(&p->out, MAPPING_HAS_FILES, 1);
    protobuf_u64(&p->out, MAPPING_HAS_LINES, 1);
    protobuf_end(&p->out, at);
}

static void pprof_location(struct pprof *p, uint32_t number)
{
    const struct exchange_place *place = &p->x->places.at[number];
    const struct exchange_function *f = &p->x->functions.at[place->function];
    size_t at = protobuf_begin(&p->out, PROFILE_LOCATION);
    protobuf_u64(&p->out, LOCATION_ID, number + UINT64_C(1));
    if (f->object < p->x->objects.len)
        protobuf_u64(&p->out, LOCATION_MAPPING, f->object + UINT64_C(1));
    protobuf_u64(&p->out, LOCATION_ADDRESS, place->address);
    size_t line = protobuf_begin(&p->out, LOCATION_LINE);
    protobuf_u64(&p->out, LINE_FUNCTION, place->function + UINT64_C(1));
    protobuf_u64(&p->out, LINE_LINE, place->line);
    protobuf_end(&p->out, line);
    protobuf_end(&p->out, at);
}

static void pprof_function(struct pprof *p, uint32_t number)
{
    const struct exchange_function *f = &p->x->functions.at[number];
    size_t at = protobuf_begin(&p->out, PROFILE_FUNCTION);
    protobuf_u64(&p->out, FUNCTION_ID, number + UINT64_C(1));
    protobuf_u64(&p->out, FUNCTION_NAME, pprof_text(p, f->name));
    /* A name that is its own linkage name is taken for one that is to be demangled, and what stands
     * in its parentheses for parameters to be cut: "[no symbol] (libz.so)" would lose its library.
     */
    if (strcmp(f->name, f->linkage) || !strchr(f->name, '('))
        protobuf_u64(&p->out, FUNCTION_SYSTEM_NAME, pprof_text(p, f->linkage));
    if (f->file)
        protobuf_u64(&p->out, FUNCTION_FILE, pprof_text(p, f->file));
    protobuf_u64(&p->out, FUNCTION_LINE, f->line);
    protobuf_end(&p->out, at);
}

/* Everything of the profile that is not a list. The type that is shown first is the event, or calls
 * if no time was measured. */
static void pprof_head(struct pprof *p)
{
    const struct exchange *x = p->x;
    const struct recording_summary *recording = x->summary->run;
    for (size_t i = 0; i <= x->others_len; i++)
        pprof_type(p, PROFILE_SAMPLE_TYPE, exchange_measure(x, i)->event,
                   exchange_measure(x, i)->unit);
    if (x->has_calls)
        pprof_type(p, PROFILE_SAMPLE_TYPE, "calls", "count");
    protobuf_u64(&p->out, PROFILE_TIME, recording ? recording->recording->start_real_ns : 0);
    protobuf_u64(&p->out, PROFILE_DURATION, recording ? recording->recording->length_ns : 0);
    pprof_type(p, PROFILE_PERIOD_TYPE, x->event, x->unit);
    protobuf_u64(&p->out, PROFILE_PERIOD, x->period);
    protobuf_u64(&p->out, PROFILE_DEFAULT_TYPE, pprof_text(p, x->total ? x->event : "calls"));
    if (x->has_estimates)
        protobuf_u64(&p->out, PROFILE_COMMENT,
                     pprof_text(p, "paths are estimated by call counts; no stacks were recorded"));
}

/* Samples, calls, tables, texts. Mappings begin with the program's: readers take the first one for
 * it. */
static void pprof_all(struct pprof *p)
{
    const struct exchange *x = p->x;
    pprof_head(p);
    for (uint32_t i = 1; i < x->frames.len && !x->parts.len; i++)
        if (exchange_frame_has_any(x, i))
            pprof_path(p, i, NULL);
    for (size_t i = 0; i < x->parts.len; i++)
        pprof_path(p, x->parts.at[i].frame, &x->parts.at[i]);
    for (size_t i = 0; i < x->arcs.len; i++) {
        const struct exchange_arc *arc = &x->arcs.at[i];
        if (arc->calls) {
            /* A stack of two frames, callee first, with its calls and no time. */
            size_t sample = protobuf_begin(&p->out, PROFILE_SAMPLE);
            size_t list = protobuf_begin(&p->out, SAMPLE_LOCATION);
            protobuf_varint(&p->out, arc->callee + UINT64_C(1));
            protobuf_varint(&p->out, arc->caller + UINT64_C(1));
            protobuf_end(&p->out, list);
            pprof_values(p, 0, 0, arc->calls);
            protobuf_end(&p->out, sample);
        }
    }
    if (x->program != EXCHANGE_NOWHERE) /* readers take the first one for it */
        pprof_mapping(p, x->program);
    for (uint32_t i = 0; i < x->objects.len; i++)
        if (i != x->program)
            pprof_mapping(p, i);
    for (uint32_t i = 0; i < x->places.len; i++)
        pprof_location(p, i);
    for (uint32_t i = 0; i < x->functions.len; i++)
        pprof_function(p, i);
    for (size_t i = 0; i < p->texts.texts.len; i++)
        protobuf_bytes(&p->out, PROFILE_STRINGS, p->texts.texts.at[i], p->texts.lengths.at[i]);
}

void pprof_export(struct out *out, const struct exchange *x)
{
    struct pprof p = {.x = x};
    intern(&p.texts, "", 0);
    pprof_all(&p);
    struct bytes packed = gzip_pack((struct bytes){p.out.out.at, p.out.out.len});
    out_bytes(out, (const char *)packed.at, packed.len);
    free((void *)packed.at);
    protobuf_deinit(&p.out);
    intern_deinit(&p.texts);
}
