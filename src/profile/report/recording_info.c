/* What a recording holds: its facts, then its lists as they are, nothing resolved.
 *
 * Text shows the first rows of a list and how many more there are; JSON has all. Of stacks,
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

/* Texts are pairs of key and value. The arguments of the command are one text each, in their order,
 * and make one line; what else there is gets a line of its own. */
static void recording_texts(struct facts *w, const struct recording *r)
{
    bool has_command = false;
    for (size_t i = 0; i < r->texts.len && w->out; i++) {
        if (strcmp(r->texts.at[i].key, "argument"))
            continue;
        fact(w, NULL, field_text(r->texts.at[i].value), has_command ? " *" : "  command: *");
        has_command = true;
    }
    fact_text(w, has_command ? "\n" : "");
    FACT_ROWS(w, "texts", 4, i, r->texts.len) {
        bool is_line = strcmp(r->texts.at[i].key, "argument") != 0;
        fact(w, "key", field_text(r->texts.at[i].key), is_line ? "  *: " : NULL);
        fact(w, "value", field_text(r->texts.at[i].value), is_line ? "*\n" : NULL);
    }
}

/* How long it ran, and how it was sampled, in text; JSON has all numbers of the recording's head.
 */
static void recording_run(struct facts *w, const struct recording *r)
{
    const struct recording_record *run = recording_record_of(RECORDING_TAG_RUN);
    uint64_t used_ns = recording_used_ns(r);
    bool has_cpu = r->user_ns + r->system_ns > 0;
    fact_ns(w, NULL, r->length_ns, "  ran *3 s");
    /* A recorder inside a process does not count them. */
    fact_nonzero(w, NULL, r->cpus, " on * CPUs");
    if (has_cpu || used_ns)
        fact_ns(w, NULL, has_cpu ? r->user_ns + r->system_ns : used_ns, ", used *3 s of CPU time");
    else
        fact_text(w, ", CPU time not known");
    if (has_cpu) {
        fact_ns(w, NULL, r->user_ns, " (*3 s user, ");
        fact_ns(w, NULL, r->system_ns, "*3 s system)");
    }
    fact(w, "method", field_text(recording_method_name(r->method)), "\n  method: *, ");
    for (uint32_t i = 0; i < run->len && w->json; i++)
        if (run->fields[i].key)
            json_pair_u64(w->json, run->fields[i].key, recording_field_get(r, &run->fields[i]));
    fact(w, NULL, field_u64(r->rate), "* samples a second requested");
    if (r->cost_ns + r->monitor_ns) {
        fact_ns(w, NULL, r->cost_ns, "; it took about *3 s of the program's CPU time, ");
        fact_ns(w, NULL, r->monitor_ns, "and *3 s of monarc's");
    }
    fact_text(w, "\n");
}

/* `weight` is the sum over the event's samples, in the unit of the event. The period is one
 * sample's weight; without one each sample has its own:
 *
 *     event cpu-clock: 994 samples of 1003009 ns, together 996990946
 *     event alloc: 120 samples, together 73400320 bytes */
static void recording_events(struct facts *w, const struct recording *r)
{
    /* By RECORDING_UNIT_*. */
    static const char *const NAMES[] = {"ns", "count", "bytes"};
    static const char *const UNITS[] = {"ns", "events", "bytes"};
    FACT_ROWS(w, "events", 4, i, r->events.len) {
        const struct recording_event *event = &r->events.at[i];
        uint64_t taken = recording_taken_of(r, (uint32_t)i);
        fact(w, "name", field_text(event->name), "  event *: ");
        fact(w, "unit", field_text(NAMES[event->unit]), NULL);
        fact(w, NULL, field_u64(taken), "* samples");
        fact_nonzero(w, "period", event->period, " of * ");
        fact_text(w, event->period ? UNITS[event->unit] : "");
        fact(w, "user_only", field_bool(event->user_only), NULL);
        fact(w, "samples", field_u64(taken), NULL);
        fact(w, "weight", field_u64(recording_weight(r, (uint32_t)i)),
             event->period ? ", together *" : ", together * ");
        fact_text(w, event->period ? "" : UNITS[event->unit]);
        fact_text(w, event->user_only ? ", user code alone\n" : "\n");
    }
}

/* Names and lines of the objects that the recording carries itself (excerpts), so that it can be
 * read where the program is not; the symbols themselves are not printed. A damaged excerpt is left
 * out of use, and said. */
static void recording_symbols(struct facts *w, const struct recording *r)
{
    struct excerpts_sum sum;
    excerpts_add_up(&sum, r);
    if (w->out && !sum.objects) {
        out_str(w->out, "  symbols: none inside ('monarc symbols' adds them)\n");
        return;
    }
    facts_begin(w, "symbols_inside");
    fact(w, "objects", field_u64(sum.objects), NULL);
    fact(w, "functions", field_u64(sum.functions), "  symbols: * functions and ");
    fact(w, "pieces_with_lines", field_u64(sum.places), "* pieces of code with lines, of ");
    fact(w, NULL, field_u64(sum.objects), "* objects, in ");
    fact(w, "bytes", field_u64(sum.bytes), "* bytes");
    fact_nonzero(w, "damaged_objects", sum.damaged, "; damaged for * objects");
    fact_text(w, "\n");
    facts_end(w);
}

/* Decoded; JSON has the number of wait(2). */
static void recording_text_status(struct out *out, int status)
{
    if (WIFSIGNALED(status))
        out_printf(out, ", ended by signal %d", WTERMSIG(status));
    else
        out_printf(out, ", ended with status %d", WEXITSTATUS(status));
}

/* The unwind tables of an object that was never read are not known to be missing; `is_read` says
 * that they were looked for. */
static void recording_objects(struct facts *w, const struct recording *r)
{
    fact(w, NULL, field_u64(r->objects.len), "  objects: *\n");
    FACT_ROWS(w, "objects", 4, i, r->objects.len) {
        const struct recording_object *o = &r->objects.at[i];
        bool is_file = o->kind == RECORDING_OBJECT_FILE;
        char id[2 * RECORDING_BUILD_ID_BYTES + 1] = "";
        for (uint32_t k = 0; k < o->build_id_bytes && w->json; k++) {
            id[2 * k] = "0123456789abcdef"[o->build_id[k] >> 4];
            id[2 * k + 1] = "0123456789abcdef"[o->build_id[k] & 15];
        }
        fact(w, "kind", field_text(recording_kind_name(o->kind)), is_file ? NULL : "    [*]");
        fact(w, "path", field_text(is_file ? o->path : NULL), "    *");
        fact(w, "build_id", field_text(id), NULL);
        fact(w, "low", field_address(o->low), NULL);
        fact(w, "high", field_address(o->high), NULL);
        fact(w, "is_deleted", field_bool(o->is_deleted), o->is_deleted ? ", deleted" : NULL);
        fact(w, "has_unwind", field_known(o->is_read || o->has_unwind, field_bool(o->has_unwind)),
             o->is_read && !o->has_unwind ? ", no unwind tables" : NULL);
        fact_text(w, "\n");
    }
}

/* Who, how long, how it ended, and why it is not whole. CPU time and peak memory are known of
 * processes that the recorder could wait for or ask about. */
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
}

/* Processes as they started, then the threads of all. CPU time is null for those that nothing
 * measured, peak memory where it is 0: zero is a time that was measured, but no process has a peak
 * of 0 bytes. */
static void recording_processes(struct facts *w, const struct recording *r)
{
    fact(w, NULL, field_u64(r->processes.len), "  processes: *\n");
    FACT_ROWS(w, "processes", 4, i, r->processes.len) {
        const struct recording_process *p = &r->processes.at[i];
        bool has_program = p->program != RECORDING_NONE;
        bool has_line = p->command && strcmp(p->command, p->name);
        if (w->out) {
            recording_text_process(w->out, r, (uint32_t)i);
            fact(w, NULL, field_text(p->why_unseen), ", not fully recorded: *");
            fact(w, NULL, field_text(has_line ? p->command : NULL), "\n            *");
            out_char(w->out, '\n');
            continue;
        }
        fact(w, "pid", field_u64(p->pid), NULL);
        fact(w, "parent_pid", field_u64(p->parent_pid), NULL);
        fact(w, "name", field_text(p->name), NULL);
        fact(w, "command", field_text(p->command), NULL);
        fact(w, "program", field_text(has_program ? r->objects.at[p->program].path : NULL), NULL);
        fact(w, "start_ns", field_u64(p->start_ns), NULL);
        fact(w, "end_ns", field_u64(p->end_ns), NULL);
        fact(w, "cpu_ns", field_known(p->has_cpu, field_u64(p->user_ns + p->system_ns)), NULL);
        fact(w, "peak_bytes", field_known(p->peak_bytes, field_u64(p->peak_bytes)), NULL);
        fact(w, "wait_status", field_known(p->has_ended, field_i64(p->status)), NULL);
        fact(w, "why_unseen", field_text(p->why_unseen), NULL);
    }
    /* Number 0 stands for several that lived too shortly to be kept apart. */
    fact(w, NULL, field_u64(r->threads.len), "  threads: *\n");
    FACT_ROWS(w, "threads", 4, i, r->threads.len) {
        const struct recording_thread *t = &r->threads.at[i];
        if (w->out)
            out_printf(w->out, "    %7" PRIu32 "  %9.3f s of CPU time  ", t->tid,
                       recording_seconds(t->cpu_ns));
        fact(w, NULL, field_text(t->tid ? t->name : "several together"), "*\n");
        fact(w, "pid", field_u64(r->processes.at[t->process].pid), NULL);
        fact(w, "thread", field_u64(t->tid), NULL);
        fact(w, "name", field_text(t->name), NULL);
        fact(w, "cpu_ns", field_known(t->has_cpu, field_u64(t->cpu_ns)), NULL);
    }
}

/* Times are since the start of the recording. Mostly there are none of both, so that text has no
 * heads. */
static void recording_marks_and_losses(struct facts *w, const struct recording *r)
{
    FACT_ROWS(w, "marks", 4, i, r->marks.len) {
        const struct recording_mark *mark = &r->marks.at[i];
        fact(w, NULL, field_double(recording_seconds(mark->at_ns)), "  mark at *6 s");
        fact(w, "at_ns", field_u64(mark->at_ns), NULL);
        fact(w, "kind", field_text(recording_mark_name(mark->kind)), ", *: ");
        fact(w, "name", field_text(mark->name), "*\n");
    }
    for (size_t i = 0; i < r->losses.len && i < FACT_ROWS_MOST && w->out; i++) {
        const struct recording_loss *l = &r->losses.at[i];
        out_printf(w->out, "  %s: %" PRIu64 " times, %.3f s: ", recording_loss_name(l->kind),
                   l->count, recording_seconds(l->ns));
        text_name(w->out, l->text);
        out_char(w->out, '\n');
    }
}

/* From what was requested to what was found; `format` distinguishes recordings from other files. */
void recording_facts(struct facts *w, const char *folder, const struct recording *r)
{
    uint64_t branches = recording_branches_of(r);
    fact(w, "name", field_text(folder), "*: recording of a run\n");
    fact(w, "format", field_text("run"), NULL);
    recording_texts(w, r);
    recording_run(w, r);
    recording_events(w, r);
    /* The tree of stacks has a root which is no frame, hence one less. Entries are samples that are
     * alike within a slice of time: they are counted, not kept one by one. */
    fact(w, "frames", field_u64(r->nodes.len - 1), "  stacks: * frames in context, ");
    fact(w, NULL, field_u64(r->whole), "* of ");
    fact(w, NULL, field_u64(r->stacks), "* samples with complete ones; ");
    fact(w, "entries", field_u64(r->samples.len), "* entries in slices of ");
    fact(w, NULL, field_double(recording_seconds(r->slice_ns)), "* s\n");
    fact(w, "symbols", field_u64(r->symbols.len), NULL);
    fact(w, "calls", field_u64(recording_calls_of(r)), "  calls: * along ");
    fact(w, "arcs", field_u64(r->arcs.len), "* arcs, ");
    fact(w, "blocks", field_u64(r->blocks.len), "* blocks\n");
    fact(w, "branches", field_u64(branches), r->branches.len ? "  branches: * recorded " : NULL);
    fact_nonzero(w, NULL, r->branches.len, "by the CPU, * different ones\n");
    recording_symbols(w, r);
    if (w->out && r->parts.len) {
        fact(w, NULL, field_u64(r->parts.len), "  runs: *\n");
        FACT_ROWS(w, NULL, 4, i, r->parts.len) {
            const struct recording_part *part = &r->parts.at[i];
            out_printf(w->out, "    run %-4" PRIu32 " %9.3f s elapsed %9.3f s of CPU time",
                       part->number, recording_seconds(part->elapsed_ns),
                       recording_seconds(part->cpu_ns));
            recording_text_status(w->out, part->status);
            if (part->seed)
                out_printf(w->out, ", environment %" PRIu32 " bytes longer (seed %" PRIu64 ")",
                           part->padding, part->seed);
            out_char(w->out, '\n');
        }
    }
    recording_objects(w, r);
    recording_processes(w, r);
    recording_marks_and_losses(w, r);
    if (w->json) {
        recording_parts_json(w->json, r);
        recording_ranks_json(w->json, r);
        recording_losses_json(w->json, r);
    }
}
