/* The facts of a process: command line, clock, objects, threads, marks, losses. Both forms print
 * the same. */
#include "profile/report/sidecar.h"

#include "profile/report/summary.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_LINES = 100 }; /* of one list in text; JSON has all */

static const char *sidecar_event_of(const struct process_facts *p)
{
    const char *name = event_name(p->event);
    return name ? name : "unknown";
}

static const char *sidecar_clock_of(const struct process_facts *p)
{
    static const char *const names[] = {"none", "perf", "timer", "itimer"};
    return p->clock < sizeof names / sizeof *names ? names[p->clock] : "unknown";
}

enum { WRITTEN_SIGNAL = 256 };

static const char *sidecar_written_because(const struct process_facts *p)
{
    static const char *const reasons[] = {"recovery", "exit", "exec", "request"};
    if (p->written >= WRITTEN_SIGNAL)
        return "signal";
    return p->written < sizeof reasons / sizeof *reasons ? reasons[p->written] : "unknown";
}

static const char *sidecar_mark_kind(uint32_t kind)
{
    static const char *const kinds[] = {"phase", "begin", "end"};
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "unknown";
}

/* --- text ------------------------------------------------------------------------------------ */

static void sidecar_text_more(struct out *out, size_t len)
{
    if (len > MOST_LINES)
        out_printf(out, "    ... and %zu more (--json has all)\n", len - MOST_LINES);
}

static void sidecar_text_process(struct out *out, const struct sidecar *r)
{
    const struct process_facts *p = &r->process;
    out_printf(out, "  process %" PRIu32 ", %d-bit, %s-endian\n  command:", p->pid, 8 * r->word,
               r->big_endian ? "big" : "little");
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, "argument")) {
            out_char(out, ' ');
            text_name(out, r->texts.at[i].value);
        }
    const char *directory = sidecar_text(r, "directory");
    if (directory) {
        out_str(out, "\n  in: ");
        text_name(out, directory);
    }
    out_printf(out, "\n  ran %.3f s, used %.3f s of CPU time, written at %s",
               (double)(p->end_ns - p->start_ns) / 1e9, (double)p->cpu_ns / 1e9,
               sidecar_written_because(p));
    if (p->written >= WRITTEN_SIGNAL)
        out_printf(out, " %" PRIu32, p->written - WRITTEN_SIGNAL);
    out_printf(out, "\n  samples: %" PRIu64 " of event %s, clock %s", p->samples,
               sidecar_event_of(p), sidecar_clock_of(p));
    if (p->millihertz)
        out_printf(out, ", %.1f per second (asked for: %" PRIu32 ")", (double)p->millihertz / 1000,
                   p->rate);
    out_printf(out, "\n  stacks: %zu frames in context\n", r->nodes.len);
    uint64_t calls = 0;
    for (size_t i = 0; i < r->arcs.len; i++)
        calls = add_saturating(calls, r->arcs.at[i].count);
    out_printf(out, "  calls between objects: %" PRIu64 " along %zu arcs\n", calls, r->arcs.len);
}

static void sidecar_text_lists(struct out *out, const struct sidecar *r)
{
    out_printf(out, "  objects: %zu\n", r->objects.len);
    for (size_t i = 0; i < r->objects.len && i < MOST_LINES; i++) {
        const struct sidecar_object *o = &r->objects.at[i];
        out_printf(out, "    0x%" PRIx64 "-0x%" PRIx64 " ", o->start, o->end);
        text_name(out, o->path[0] ? o->path : "(no file)");
        out_str(out, o->is_unloaded ? ", unloaded\n" : "\n");
    }
    sidecar_text_more(out, r->objects.len);
    out_printf(out, "  threads: %zu\n", r->threads.len);
    for (size_t i = 0; i < r->threads.len && i < MOST_LINES; i++) {
        const struct sidecar_thread *t = &r->threads.at[i];
        out_printf(out, "    %7" PRIu32 "  %9.3f s of CPU time, %" PRIu64 " samples  ", t->id,
                   (double)t->cpu_ns / 1e9, t->samples);
        text_name(out, t->name);
        out_char(out, '\n');
    }
    sidecar_text_more(out, r->threads.len);
    for (size_t i = 0; i < r->marks.len && i < MOST_LINES; i++) {
        const struct sidecar_mark *m = &r->marks.at[i];
        out_printf(
            out, "  mark at %.6f s, %s: ", (double)(int64_t)(m->at_ns - r->process.start_ns) / 1e9,
            sidecar_mark_kind(m->kind));
        text_name(out, m->name);
        out_char(out, '\n');
    }
    sidecar_text_more(out, r->marks.len);
    for (size_t i = 0; i < r->losses.len && i < MOST_LINES; i++) {
        if (!r->losses.at[i].count) { /* calls are always reported */
            out_str(out, "  lost: no call\n");
            continue;
        }
        out_printf(out, "  %s%" PRIu64 " ",
                   r->losses.at[i].reason < 3 ? "lost: " : "note: ", r->losses.at[i].count);
        text_name(out, r->losses.at[i].text);
        out_char(out, '\n');
    }
}

void sidecar_text_report(struct out *out, const char *folder, const struct sidecar *r,
                         bool is_first)
{
    if (!is_first)
        out_char(out, '\n');
    text_name(out, folder);
    out_str(out, ": recording of monarc's runtime\n");
    sidecar_text_process(out, r);
    sidecar_text_lists(out, r);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void sidecar_json_process(struct json *j, const struct sidecar *r)
{
    const struct process_facts *p = &r->process;
    json_pair_u64(j, "pid", p->pid);
    json_pair_u64(j, "parent_pid", p->parent);
    json_key(j, "command"), json_begin(j, '[');
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, "argument"))
            json_str(j, r->texts.at[i].value);
    json_end(j);
    json_pair_str(j, "directory", sidecar_text(r, "directory"));
    json_pair_u64(j, "start_ns", p->start_real_ns);
    json_pair_u64(j, "run_ns", p->end_ns - p->start_ns);
    json_pair_u64(j, "cpu_ns", p->cpu_ns);
    json_pair_u64(j, "samples", p->samples);
    json_pair_str(j, "event", sidecar_event_of(p));
    json_pair_str(j, "clock", sidecar_clock_of(p));
    json_pair_double(j, "rate", (double)p->millihertz / 1000);
    json_pair_u64(j, "rate_asked_for", p->rate);
    json_pair_str(j, "written", sidecar_written_because(p));
    json_key(j, "signal");
    if (p->written >= WRITTEN_SIGNAL)
        json_u64(j, p->written - WRITTEN_SIGNAL);
    else
        json_none(j);
    json_pair_u64(j, "stack_frames", r->nodes.len);
    json_pair_u64(j, "arcs_between_objects", r->arcs.len);
}

static void sidecar_json_objects(struct json *j, const struct sidecar *r)
{
    json_key(j, "objects"), json_begin(j, '[');
    for (size_t i = 0; i < r->objects.len; i++) {
        const struct sidecar_object *o = &r->objects.at[i];
        char id[2 * BUILD_ID_BYTES + 1] = "";
        for (uint32_t k = 0; k < o->build_id_bytes; k++) {
            id[2 * k] = "0123456789abcdef"[o->build_id[k] >> 4];
            id[2 * k + 1] = "0123456789abcdef"[o->build_id[k] & 15];
        }
        json_begin(j, '{');
        json_pair_str(j, "path", o->path);
        json_pair_str(j, "profile", o->gmon);
        json_pair_str(j, "build_id", id);
        json_pair_address(j, "start", o->start);
        json_pair_address(j, "end", o->end);
        json_pair_address(j, "bias", o->bias);
        json_key(j, "is_unloaded"), json_bool(j, o->is_unloaded);
        json_end(j);
    }
    json_end(j);
}

static void sidecar_json_threads(struct json *j, const struct sidecar *r)
{
    json_key(j, "threads"), json_begin(j, '[');
    for (size_t i = 0; i < r->threads.len; i++) {
        json_begin(j, '{');
        json_pair_u64(j, "thread", r->threads.at[i].id);
        json_pair_str(j, "name", r->threads.at[i].name);
        json_pair_u64(j, "cpu_ns", r->threads.at[i].cpu_ns);
        json_pair_u64(j, "samples", r->threads.at[i].samples);
        json_end(j);
    }
    json_end(j);
}

static void sidecar_json_marks_and_losses(struct json *j, const struct sidecar *r)
{
    json_key(j, "marks"), json_begin(j, '[');
    for (size_t i = 0; i < r->marks.len; i++) {
        json_begin(j, '{');
        json_key(j, "at_ns"), json_i64(j, (int64_t)(r->marks.at[i].at_ns - r->process.start_ns));
        json_pair_str(j, "kind", sidecar_mark_kind(r->marks.at[i].kind));
        json_pair_str(j, "name", r->marks.at[i].name);
        json_end(j);
    }
    json_end(j);
    json_key(j, "losses"), json_begin(j, '[');
    for (size_t i = 0; i < r->losses.len; i++) {
        json_begin(j, '{');
        json_pair_u64(j, "reason", r->losses.at[i].reason);
        json_pair_u64(j, "count", r->losses.at[i].count);
        json_pair_str(j, "text", r->losses.at[i].text);
        json_end(j);
    }
    json_end(j);
}

void sidecar_json_report(struct json *j, const char *folder, const struct sidecar *r)
{
    json_begin(j, '{');
    json_pair_str(j, "name", folder);
    json_pair_str(j, "format", "recording");
    sidecar_json_process(j, r);
    sidecar_json_objects(j, r);
    sidecar_json_threads(j, r);
    sidecar_json_marks_and_losses(j, r);
    json_end(j);
}
