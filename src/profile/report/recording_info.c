/* What a recording holds: its facts, then its lists as they are, nothing resolved.
 *
 * Text shows the first MOST_LINES of a list and how many more there are; JSON has all. Of stacks,
 * symbols and samples both give numbers, since a recording of a minute has millions of them. Times
 * are nanoseconds in the file and JSON, and seconds in text. A figure that this kind of recorder
 * does not take (CPUs, peak memory, CPU time of a process) is left out of text and null in JSON.
 *
 *     a.monarc: recording of a run
 *       command: ./a.out input
 *       ran 1.020 s on 2 CPUs, used 0.998 s of CPU time (0.990 s user, 0.008 s system)
 *       method: perf, 997 samples a second requested; it took about 0.004 s of ...
 *       event cpu-clock: 994 samples of 1003009 ns, together 996990946
 *       stacks: 120 frames in context, 990 of 994 samples with whole ones; 300 entries in ...
 *       calls: 1000 along 3 arcs, 0 blocks
 *       symbols: ...   runs: ...   objects: ...   processes: ...   threads: ...
 *
 * Cost: a pass over the samples for each event and form, else one over each list. */
#include "profile/report/info.h"

#include "profile/analysis/recording/excerpts.h"
#include "profile/model/recording_lists.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

/* Of each list. A build has thousands of processes, and a page or two is what people read of
 * them. */
enum { MOST_LINES = 100 };

/* The reader has refused files with other kinds, so that the table needs no bound. */
static const char *recording_kind_name(uint32_t kind)
{
    static const char *const names[RECORDING_OBJECT_KINDS] = {
        [RECORDING_OBJECT_FILE] = "file",     [RECORDING_OBJECT_VDSO] = "vdso",
        [RECORDING_OBJECT_KERNEL] = "kernel", [RECORDING_OBJECT_GENERATED] = "generated code",
        [RECORDING_OBJECT_WAIT] = "waiting",  [RECORDING_OBJECT_CUT] = "ends of stacks"};
    return names[kind];
}

/* The program reports marks to the recorder; kinds of newer versions are possible. */
static const char *recording_mark_name(uint32_t kind)
{
    static const char *const names[] = {"phase", "begin", "end", "stopped", "resumed"};
    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

/* For text alone: a double has 53 bits, and loses nanoseconds beyond 104 days. */
static double recording_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Saturates: a damaged or merged file may have counts near the largest number. */
static uint64_t recording_calls_of(const struct recording *r)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < r->arcs.len; i++)
        if (__builtin_add_overflow(calls, r->arcs.at[i].count, &calls))
            return UINT64_MAX;
    return calls;
}

/* The same ones as often; saturates likewise. */
static uint64_t recording_branches_of(const struct recording *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->branches.len; i++)
        sum = add_saturating(sum, r->branches.at[i].count);
    return sum;
}

/* Samples of one event: those that were taken, however much each weighs. */
static uint64_t recording_taken_of(const struct recording *r, uint32_t event)
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        count += r->samples.at[i].event == event ? r->samples.at[i].count : 0;
    return count;
}

/* --- text ------------------------------------------------------------------------------------ */

/* How many of a list text leaves out. */
static void recording_text_more(struct out *out, size_t len)
{
    if (len > MOST_LINES) {
        out_str(out, "    ");
        text_more(out, len - MOST_LINES, "", "--json");
    }
}

/* Texts are pairs of key and value. The arguments of the command are one text each, in their order,
 * and make one line; what else there is gets a line of its own. */
static void recording_text_texts(struct out *out, const struct recording *r)
{
    bool has_command = false;
    for (size_t i = 0; i < r->texts.len; i++) {
        if (strcmp(r->texts.at[i].key, "argument"))
            continue;
        out_str(out, has_command ? " " : "  command: ");
        text_name(out, r->texts.at[i].value);
        has_command = true;
    }
    out_str(out, has_command ? "\n" : "");
    for (size_t i = 0; i < r->texts.len && i < MOST_LINES; i++) {
        if (!strcmp(r->texts.at[i].key, "argument"))
            continue;
        out_str(out, "  ");
        text_name(out, r->texts.at[i].key);
        out_str(out, ": ");
        text_name(out, r->texts.at[i].value);
        out_char(out, '\n');
    }
}

/* What ran, how it was sampled, and how much was gathered. The tree of stacks has a root which is
 * no frame, hence one less. Entries are samples that are alike within a slice of time: they are
 * counted, not kept one by one. */
static void recording_text_facts(struct out *out, const struct recording *r)
{
    out_printf(out, "  ran %.3f s", recording_seconds(r->length_ns));
    if (r->cpus) /* a recorder inside a process does not count them */
        out_printf(out, " on %" PRIu32 " CPUs", r->cpus);
    uint64_t used_ns = recording_used_ns(r);
    if (r->user_ns + r->system_ns)
        out_printf(out, ", used %.3f s of CPU time (%.3f s user, %.3f s system)\n",
                   recording_seconds(r->user_ns + r->system_ns), recording_seconds(r->user_ns),
                   recording_seconds(r->system_ns));
    else if (used_ns)
        out_printf(out, ", used %.3f s of CPU time\n", recording_seconds(used_ns));
    else
        out_str(out, ", CPU time not known\n");
    out_printf(out, "  method: %s, %" PRIu32 " samples a second requested",
               recording_method_name(r->method), r->rate);
    if (r->cost_ns + r->monitor_ns)
        out_printf(out, "; it took about %.3f s of the program's CPU time, and %.3f s of monarc's",
                   recording_seconds(r->cost_ns), recording_seconds(r->monitor_ns));
    out_char(out, '\n');
    /* By RECORDING_UNIT_*. The period is one sample's weight; without one each sample has its
     * own:
     *
     *     event cpu-clock: 994 samples of 1003009 ns, together 996990946
     *     event alloc: 120 samples, together 73400320 bytes */
    static const char *const units[] = {"ns", "events", "bytes"};
    for (uint32_t i = 0; i < r->events.len; i++) {
        const struct recording_event *event = &r->events.at[i];
        out_str(out, "  event ");
        text_name(out, event->name);
        out_printf(out, ": %" PRIu64 " samples", recording_taken_of(r, i));
        if (event->period)
            out_printf(out, " of %" PRIu64 " %s", event->period, units[event->unit]);
        out_printf(out, ", together %" PRIu64 "%s%s%s\n", recording_weight(r, i),
                   event->period ? "" : " ", event->period ? "" : units[event->unit],
                   event->user_only ? ", user code alone" : "");
    }
    out_printf(out,
               "  stacks: %zu frames in context, %" PRIu64 " of %" PRIu64
               " samples with complete ones; %zu entries in slices of %.6g s\n",
               r->nodes.len - 1, r->whole, r->stacks, r->samples.len,
               recording_seconds(r->slice_ns));
    out_printf(out, "  calls: %" PRIu64 " along %zu arcs, %zu blocks\n", recording_calls_of(r),
               r->arcs.len, r->blocks.len);
    if (r->branches.len)
        out_printf(out, "  branches: %" PRIu64 " that the CPU noted, %zu different ones\n",
                   recording_branches_of(r), r->branches.len);
}

/* Names and lines of the objects that the recording carries itself (excerpts), so that it can be
 * read where the program is not. A damaged excerpt is left out of use, and said. */
static void recording_text_symbols(struct out *out, const struct recording *r)
{
    struct excerpts_sum sum;
    excerpts_add_up(&sum, r);
    if (!sum.objects) {
        out_str(out, "  symbols: none inside ('monarc symbols' adds them)\n");
        return;
    }
    out_printf(out,
               "  symbols: %zu functions and %zu pieces of code with lines, of %zu objects, in "
               "%zu bytes",
               sum.functions, sum.places, sum.objects, sum.bytes);
    if (sum.damaged)
        out_printf(out, "; damaged for %zu objects", sum.damaged);
    out_char(out, '\n');
}

/* Decoded; JSON has the number of wait(2). */
static void recording_text_status(struct out *out, int status)
{
    if (WIFSIGNALED(status))
        out_printf(out, ", ended by signal %d", WTERMSIG(status));
    else
        out_printf(out, ", ended with status %d", WEXITSTATUS(status));
}

/* Runs of a series. */
static void recording_text_parts(struct out *out, const struct recording *r)
{
    if (r->parts.len)
        out_printf(out, "  runs: %zu\n", r->parts.len);
    for (size_t i = 0; i < r->parts.len && i < MOST_LINES; i++) {
        const struct recording_part *part = &r->parts.at[i];
        out_printf(out, "    run %-4" PRIu32 " %9.3f s elapsed %9.3f s of CPU time", part->number,
                   recording_seconds(part->elapsed_ns), recording_seconds(part->cpu_ns));
        recording_text_status(out, part->status);
        if (part->seed)
            out_printf(out, ", environment %" PRIu32 " bytes longer (seed %" PRIu64 ")",
                       part->padding, part->seed);
        out_char(out, '\n');
    }
    recording_text_more(out, r->parts.len);
}

/* The unwind tables of an object that was never read are not known to be missing; `is_read` says
 * that they were looked for. */
static void recording_text_objects(struct out *out, const struct recording *r)
{
    out_printf(out, "  objects: %zu\n", r->objects.len);
    for (size_t i = 0; i < r->objects.len && i < MOST_LINES; i++) {
        const struct recording_object *o = &r->objects.at[i];
        out_str(out, "    ");
        if (o->kind == RECORDING_OBJECT_FILE)
            text_name(out, o->path);
        else
            out_printf(out, "[%s]", recording_kind_name(o->kind));
        out_str(out, o->is_deleted ? ", deleted" : "");
        out_str(out, o->is_read && !o->has_unwind ? ", no unwind tables\n" : "\n");
    }
    recording_text_more(out, r->objects.len);
}

/* A line a process: who, how long, how it ended, and why it is not whole. CPU time and peak memory
 * are known of processes that the recorder could wait for or ask about. */
static void recording_text_process(struct out *out, const struct recording *r, uint32_t number)
{
    const struct recording_process *p = &r->processes.at[number];
    const struct recording_rank *rank = recording_rank_of(r, number);
    out_printf(out, "    %7" PRIu32 "  parent %7" PRIu32, p->pid, p->parent_pid);
    if (p->has_cpu)
        out_printf(out, "  %9.3f s of CPU time  ", recording_seconds(p->user_ns + p->system_ns));
    else
        out_str(out, "  CPU time not known     ");
    if (p->peak_bytes)
        out_printf(out, "peak %7.1f MB  ", (double)p->peak_bytes / 1e6);
    text_name(out, p->name);
    if (rank)
        out_printf(out, ", rank %" PRIu32, rank->rank);
    if (rank && rank->size)
        out_printf(out, " of %" PRIu32, rank->size);
    if (rank && *rank->host) {
        out_str(out, " on ");
        text_name(out, rank->host);
    }
    if (p->has_ended)
        recording_text_status(out, p->status);
    if (p->why_unseen) {
        out_str(out, ", not fully recorded: ");
        text_name(out, p->why_unseen);
    }
    if (p->command && strcmp(p->command, p->name)) {
        out_str(out, "\n            ");
        text_name(out, p->command);
    }
    out_char(out, '\n');
}

/* Thread 0 of a process stands for several that lived too shortly to be kept apart. Marks and
 * losses are listed without a head of their own: mostly there are none. */
static void recording_text_lists(struct out *out, const struct recording *r)
{
    out_printf(out, "  processes: %zu\n", r->processes.len);
    for (size_t i = 0; i < r->processes.len && i < MOST_LINES; i++)
        recording_text_process(out, r, (uint32_t)i);
    recording_text_more(out, r->processes.len);
    out_printf(out, "  threads: %zu\n", r->threads.len);
    for (size_t i = 0; i < r->threads.len && i < MOST_LINES; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        out_printf(out, "    %7" PRIu32 "  %9.3f s of CPU time  ", t->tid,
                   recording_seconds(t->cpu_ns));
        text_name(out, t->tid ? t->name : "several together");
        out_char(out, '\n');
    }
    recording_text_more(out, r->threads.len);
    for (size_t i = 0; i < r->marks.len && i < MOST_LINES; i++) {
        out_printf(out, "  mark at %.6f s, %s: ", recording_seconds(r->marks.at[i].at_ns),
                   recording_mark_name(r->marks.at[i].kind));
        text_name(out, r->marks.at[i].name);
        out_char(out, '\n');
    }
    recording_text_more(out, r->marks.len);
    for (size_t i = 0; i < r->losses.len && i < MOST_LINES; i++) {
        const struct recording_loss *l = &r->losses.at[i];
        out_printf(out, "  %s: %" PRIu64 " times, %.3f s: ", recording_loss_name(l->kind), l->count,
                   recording_seconds(l->ns));
        text_name(out, l->text);
        out_char(out, '\n');
    }
}

/* From what was requested to what was found: texts, facts, then lists. */
void recording_info_text(struct out *out, const char *folder, const struct recording *r,
                         bool is_first)
{
    if (!is_first)
        out_char(out, '\n');
    text_name(out, folder);
    out_str(out, ": recording of a run\n");
    recording_text_texts(out, r);
    recording_text_facts(out, r);
    recording_text_symbols(out, r);
    recording_text_parts(out, r);
    recording_text_objects(out, r);
    recording_text_lists(out, r);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* All numbers of the recording's head. */
static void recording_json_facts(struct json *j, const struct recording *r)
{
    const struct recording_record *run = recording_record_of(RECORDING_TAG_RUN);
    json_pair_str(j, "method", recording_method_name(r->method));
    for (uint32_t i = 0; i < run->len; i++)
        if (run->fields[i].key)
            json_pair_u64(j, run->fields[i].key, recording_field_get(r, &run->fields[i]));
    json_pair_u64(j, "frames", r->nodes.len - 1);
    json_pair_u64(j, "entries", r->samples.len);
    json_pair_u64(j, "symbols", r->symbols.len);
    json_pair_u64(j, "calls", recording_calls_of(r));
    json_pair_u64(j, "arcs", r->arcs.len);
    json_pair_u64(j, "blocks", r->blocks.len);
    json_pair_u64(j, "branches", recording_branches_of(r));
    JSON_ROWS(j, "texts", i, r->texts.len) {
        json_pair_str(j, "key", r->texts.at[i].key);
        json_pair_str(j, "value", r->texts.at[i].value);
    }
}

/* How much of the program's symbols is inside; the symbols themselves are not printed. */
static void recording_json_symbols(struct json *j, const struct recording *r)
{
    struct excerpts_sum sum;
    excerpts_add_up(&sum, r);
    json_key(j, "symbols_inside"), json_begin(j, '{');
    json_pair_u64(j, "objects", sum.objects);
    json_pair_u64(j, "functions", sum.functions);
    json_pair_u64(j, "pieces_with_lines", sum.places);
    json_pair_u64(j, "bytes", sum.bytes);
    json_pair_u64(j, "damaged_objects", sum.damaged);
    json_end(j);
}

/* `weight` is the sum over the event's samples, in the unit of the event: nanoseconds, or events.
 */
static void recording_json_events(struct json *j, const struct recording *r)
{
    static const char *const units[] = {"ns", "count", "bytes"};
    JSON_ROWS(j, "events", i, r->events.len) {
        const struct recording_event *event = &r->events.at[i];
        json_pair_str(j, "name", event->name);
        json_pair_str(j, "unit", units[event->unit]);
        json_pair_u64(j, "period", event->period);
        json_pair_bool(j, "user_only", event->user_only);
        json_pair_u64(j, "samples", recording_taken_of(r, i));
        json_pair_u64(j, "weight", recording_weight(r, i));
    }
}

/* The build id is in hexadecimal, empty if there is none. `has_unwind` null: the object was not
 * read, so that it is not known. */
static void recording_json_objects(struct json *j, const struct recording *r)
{
    JSON_ROWS(j, "objects", i, r->objects.len) {
        const struct recording_object *o = &r->objects.at[i];
        /* Written by hand: two digits a byte, as readelf -n and debuginfod have it. */
        char id[2 * RECORDING_BUILD_ID_BYTES + 1] = "";
        for (uint32_t k = 0; k < o->build_id_bytes; k++) {
            id[2 * k] = "0123456789abcdef"[o->build_id[k] >> 4];
            id[2 * k + 1] = "0123456789abcdef"[o->build_id[k] & 15];
        }
        json_pair_str(j, "kind", recording_kind_name(o->kind));
        json_pair_str(j, "path", o->kind == RECORDING_OBJECT_FILE ? o->path : NULL);
        json_pair_str(j, "build_id", id);
        json_pair_address(j, "low", o->low);
        json_pair_address(j, "high", o->high);
        json_pair_bool(j, "is_deleted", o->is_deleted);
        json_key(j, "has_unwind");
        if (o->is_read || o->has_unwind)
            json_bool(j, o->has_unwind);
        else
            json_none(j);
    }
}

/* Processes as they started, then threads of all. CPU time is null for processes that nothing
 * measured, peak memory where it is 0. */
static void recording_json_processes(struct json *j, const struct recording *r)
{
    JSON_ROWS(j, "processes", i, r->processes.len) {
        const struct recording_process *p = &r->processes.at[i];
        json_pair_u64(j, "pid", p->pid);
        json_pair_u64(j, "parent_pid", p->parent_pid);
        json_pair_str(j, "name", p->name);
        json_pair_str(j, "command", p->command);
        json_pair_str(j, "program",
                      p->program == RECORDING_NONE ? NULL : r->objects.at[p->program].path);
        json_pair_u64(j, "start_ns", p->start_ns);
        json_pair_u64(j, "end_ns", p->end_ns);
        json_key(j, "cpu_ns");
        /* Zero is a time that was measured, so a flag says whether it was; no process has a peak
         * of 0 bytes. */
        p->has_cpu ? json_u64(j, p->user_ns + p->system_ns) : json_none(j);
        json_key(j, "peak_bytes"), p->peak_bytes ? json_u64(j, p->peak_bytes) : json_none(j);
        json_key(j, "wait_status"), p->has_ended ? json_i64(j, p->status) : json_none(j);
        json_pair_str(j, "why_unseen", p->why_unseen);
    }
    JSON_ROWS(j, "threads", i, r->threads.len) {
        const struct recording_thread *t = &r->threads.at[i];
        json_pair_u64(j, "pid", r->processes.at[t->process].pid);
        json_pair_u64(j, "thread", t->tid);
        json_pair_str(j, "name", t->name);
        json_key(j, "cpu_ns"), t->has_cpu ? json_u64(j, t->cpu_ns) : json_none(j);
    }
}

/* Times are since the start of the recording. */
static void recording_json_marks(struct json *j, const struct recording *r)
{
    JSON_ROWS(j, "marks", i, r->marks.len) {
        json_pair_u64(j, "at_ns", r->marks.at[i].at_ns);
        json_pair_str(j, "kind", recording_mark_name(r->marks.at[i].kind));
        json_pair_str(j, "name", r->marks.at[i].name);
    }
}

/* An element of the array that `monarc info --json` prints, beside those of profile files; `format`
 * distinguishes them. */
void recording_info_json(struct json *j, const char *folder, const struct recording *r)
{
    json_begin(j, '{');
    json_pair_str(j, "name", folder);
    json_pair_str(j, "format", "run");
    recording_json_facts(j, r);
    recording_json_symbols(j, r);
    recording_json_events(j, r);
    recording_json_objects(j, r);
    recording_json_processes(j, r);
    recording_json_marks(j, r);
    recording_parts_json(j, r);
    recording_ranks_json(j, r);
    recording_losses_json(j, r);
    json_end(j);
}
