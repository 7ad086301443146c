/* The part about a recording in the head of every report: what ran and when, how much of its CPU
 * time is accounted for, whole stacks, programs, and what recording cost.
 *
 * The sum that a reader can check: samples stand for so much CPU time, the kernel says how much
 * there was, and the losses say where the rest went, each with its reason. All of it is for
 * --verbose; else a head has what ran, and caveats: less than 95 % accounted for, stacks that are
 * not whole, runs that failed. Of a series of runs the mean of one run is given with the
 * interval of 95 %, in as many digits as the spread leaves a meaning.
 *
 *     Program  ./a.out input
 *     Profile  a.monarc, recorded 2024-01-01 12:00:00, mean of 5 runs
 *     Runs     elapsed  1.020 s +- 0.012, single runs from 1.002 to 1.034 (deviation 0.011)
 *              CPU time 0.998 s +- 0.010, ...
 *     Ranks    8 ranks of 8 on node7 (Open MPI); 'monarc ranks' compares them
 *     CPU      4.950 s of 4.990 s CPU time accounted for (99.2 %), all runs together
 *              0.040 s (0.8 %): why that is nowhere
 *     Stacks   97.0 % are complete, by time; the others end in [stack cut: REASON]
 *     Programs sh 60 %, cc1 40 %
 *     Cost     sampling took about 0.020 s of the program's CPU time (0.4 %)
 *
 * All sums were made by the analysis; this is their print, in constant space. */
#include "profile/report/report_header.h"

#include "output/out.h"
#include "profile/analysis/recording/parallelism.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Text names the first so many, as the summary has sorted them, and counts the rest. */
enum { MOST_PROGRAMS = 8 };
#define LEAST_PERCENT 0.5 /* what would round to nothing is among the others */

/* Words of JSON, by the kinds of a loss in the recording's format; the loss itself has a sentence
 * for people. */
static const char *const LOSS_NAMES[RECORDING_LOSSES] = {
    [RECORDING_LOST_RECORDS] = "records",   [RECORDING_LOST_THROTTLED] = "throttled",
    [RECORDING_LOST_UNPLACED] = "unplaced", [RECORDING_LOST_KERNEL] = "kernel",
    [RECORDING_LOST_UNSEEN] = "unseen",     [RECORDING_LOST_STOPPED] = "stopped",
    [RECORDING_LOST_OTHER] = "other",
};

/* Files of newer versions may have methods that this one does not know. */
const char *recording_method_name(uint32_t method)
{
    static const char *const names[] = {[RECORDING_METHOD_NONE] = "none",
                                        [RECORDING_METHOD_PERF] = "perf",
                                        [RECORDING_METHOD_PERF_USER] = "perf in user code",
                                        [RECORDING_METHOD_PTRACE] = "ptrace",
                                        [RECORDING_METHOD_PROCESS] = "in the process"};
    return method < sizeof names / sizeof *names ? names[method] : "unknown";
}

const char *recording_loss_name(uint32_t kind)
{
    return LOSS_NAMES[kind];
}

static double recording_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Of nothing: 0, so that a recording without CPU time prints no NaN. */
static double recording_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* --- text ------------------------------------------------------------------------------------ */

/* In local time: it is for people. */
static void recording_text_when(struct out *out, uint64_t real_ns)
{
    time_t at = (time_t)(real_ns / 1000000000);
    struct tm parts;
    char text[64];
    if (real_ns && localtime_r(&at, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts))
        out_printf(out, ", recorded %s", text);
}

/* A command line may be longer than a reader wants to see again; JSON has all of it. Without one,
 * as recorders inside of a process have none, the program's path stands for it. */
void recording_command_text(struct out *out, const struct recording_summary *s)
{
    enum { MOST_BYTES = 100 };
    char cut[MOST_BYTES + 4];
    const char *command = *s->command ? s->command : s->path;
    if (strlen(command) > MOST_BYTES) {
        snprintf(cut, sizeof cut, "%.*s...", MOST_BYTES, command);
        command = cut;
    }
    text_name(out, command);
}

/* `chosen` names the part (a time range, a process, a thread) that all figures below are of. */
void recording_head_text(struct out *out, const struct recording_summary *s,
                         const char *const *folders, size_t folders_len)
{
    out_str(out, "Program  ");
    recording_command_text(out, s);
    out_str(out, "\nProfile  ");
    text_name(out, folders[0]);
    if (folders_len > 1)
        out_printf(out, " and %zu more", folders_len - 1);
    recording_text_when(out, s->recording->start_real_ns);
    uint32_t runs = recording_count(s->recording);
    if (runs > 1)
        out_printf(out, ", mean of %" PRIu32 " runs", runs);
    else
        out_printf(out, ", %.3f s long", recording_seconds(s->recording->length_ns));
    uint64_t last_ns = recording_last_end_ns(s->recording);
    if (runs == 1 && last_ns > s->recording->length_ns)
        out_printf(out, " (%.3f s with processes that outlived it)", recording_seconds(last_ns));
    if (s->processes > runs)
        out_printf(out, ", %" PRIu32 " processes%s", s->processes, runs > 1 ? " in all" : "");
    if (s->chosen) {
        out_str(out, "\n         of it: ");
        text_name(out, s->chosen);
    }
    out_char(out, '\n');
}

/* As many digits as the spread leaves a meaning. Milliseconds below a second. `half` is half of the
 * 95 % interval of the mean; the deviation is that of single runs. */
static void recording_text_spread(struct out *out, const char *what,
                                  const struct recording_spread *s)
{
    const char *unit = s->most < 1 ? "ms" : "s";
    double scale = s->most < 1 ? 1000 : 1;
    int decimals = s->most < 0.01 ? 3 : s->most < 1 ? 2 : 3;
    out_printf(out, "%s%.*f %s +- %.*f, single runs from %.*f to %.*f (deviation %.*f)\n", what,
               decimals, scale * s->mean, unit, decimals, scale * s->half, decimals,
               scale * s->least, decimals, scale * s->most, decimals, scale * s->deviation);
}

/* What a series of runs took. A failed run counts all the same, with a note. A seed says that the
 * environment was made longer by chance, which moves the stack: else all runs have one layout, with
 * its luck. */
static void recording_text_parts(struct out *out, const struct recording_summary *s)
{
    const struct recording *r = s->recording;
    size_t failed = 0, varied = 0;
    if (r->parts.len < 2)
        return;
    for (size_t i = 0; i < r->parts.len; i++) {
        failed += r->parts.at[i].status != 0;
        varied += r->parts.at[i].seed != 0;
    }
    recording_text_spread(out, "Runs     elapsed  ", &s->elapsed);
    recording_text_spread(out, "         CPU time ", &s->cpu);
    if (varied)
        out_printf(out, "         memory layout varied from run to run (seed %" PRIu64 ")\n",
                   r->parts.at[0].seed);
    if (failed)
        out_printf(out, "         %zu of them ended with a non-zero status\n", failed);
}

/* Time that is nowhere, with the reason, and what else went missing. Losses of the kind OTHER are
 * no part of the account. A loss has time, or a number of times, or both; time is the stronger
 * statement. */
static void recording_text_losses(struct out *out, const struct recording_summary *s)
{
    for (size_t i = 0; i < s->recording->losses.len; i++) {
        const struct recording_loss *l = &s->recording->losses.at[i];
        if (l->kind == RECORDING_LOST_OTHER || (!l->ns && !l->count))
            continue;
        if (l->ns && l->ns <= s->cpu_ns) /* else it is not in the account */
            out_printf(out, "         %.3f s (%.1f %%): ", recording_seconds(l->ns),
                       recording_percent(l->ns, s->cpu_ns));
        else if (l->ns)
            out_printf(out, "         %.3f s: ", recording_seconds(l->ns));
        else
            out_printf(out, "         %" PRIu64 " times: ", l->count);
        text_name(out, l->text);
        if (l->ns && l->count > 1)
            out_printf(out, " (%" PRIu64 " times)", l->count);
        out_char(out, '\n');
    }
}

/* One program needs no line. Shares are of the CPU time, as who waits for others does nothing;
 * samples in the recorder itself (`aside`) are included. */
static void recording_text_programs(struct out *out, const struct recording_summary *s)
{
    enum { LABEL = 7, AND_MORE = 12 }; /* columns: those of a terminal are one line's */
    double all = s->weights->total + s->weights->aside, before = INFINITY;
    if (s->programs_len < 2)
        return;
    for (uint32_t i = 0; i < s->programs_len; i++)
        all -= s->programs[i].off;
    int used = LABEL;
    uint32_t shown = 0,
             last = s->programs_len; /* by CPU time; equal ones in the order of the list */
    for (; shown < s->programs_len && shown < MOST_PROGRAMS; shown++) {
        const struct recording_program *next = NULL;
        uint32_t number = 0;
        for (uint32_t i = 0; i < s->programs_len; i++) {
            const struct recording_program *p = &s->programs[i];
            double cpu = p->samples - p->off;
            bool is_left = cpu < before || (cpu == before && i > last);
            if (is_left && (!next || cpu > next->samples - next->off))
                next = p, number = i;
        }
        double percent = next ? 100 * (next->samples - next->off) / all : 0;
        if (!(percent >= LEAST_PERCENT) && (shown || !(percent > 0)))
            break;
        char part[16];
        int len = snprintf(part, sizeof part, " %.0f %%", percent);
        used += 2 + text_name_width(next->name, strlen(next->name)) + len;
        if (out->columns && shown && used + AND_MORE > out->columns)
            break;
        out_str(out, shown ? ", " : "Programs ");
        text_name(out, next->name);
        out_str(out, part);
        before = next->samples - next->off;
        last = number;
    }
    if (!shown)
        return;
    if (s->programs_len > shown)
        out_printf(out, " and %" PRIu32 " more", s->programs_len - shown);
    out_char(out, '\n');
}

/* Losses are those of the whole recording: of a chosen part nothing is known of them. */
static void recording_text_cpu(struct out *out, const struct recording_summary *s)
{
    if (s->has_cpu)
        out_printf(out, "CPU      %.3f s of %.3f s CPU time accounted for (%.1f %%)%s\n",
                   recording_seconds(s->accounted_ns), recording_seconds(s->cpu_ns),
                   recording_percent(s->accounted_ns, s->cpu_ns),
                   recording_count(s->recording) > 1 ? ", all runs together" : "");
    if (!s->chosen)
        recording_text_losses(out, s);
}

/* Nearly all whole is as good as all: what doctor calls few is said. */
static void recording_text_stacks(struct out *out, const struct recording_summary *s)
{
    if (s->whole >= 0 && fmin(s->whole, s->complete) < 0.95)
        out_printf(out,
                   "Stacks   %.1f %% are complete, by %s; the others end in [stack cut: REASON]\n",
                   100 * s->complete, recording_is_of_time(s) ? "time" : "count");
}

/* How long how many threads ran; text stops at eight numbers, the rest is one. Without switches it
 * is an estimate, and a note says what would measure it.
 *
 *     Parallel 1.800 s of CPU time in 1.257 s with a thread running: 1.43 at a time
 *              threads at a time: 0 for 0.013 s (1.0 %), 1 for 0.715 s (56.3 %), ...
 *
 * The second line adds up to the time that is meant, of which 0 is when nothing of the job ran: all
 * waited, or had no CPU. Less than a thousandth of it is left out. */
static void recording_text_parallelism(struct out *out, const struct recording_summary *s)
{
    enum { MOST_NUMBERS = 8 };
    const struct parallelism *p = s->parallelism;
    double all_ns = 0, rest_ns = 0;
    if (!p)
        return;
    for (uint32_t n = 0; n < p->len; n++)
        all_ns += p->ns[n];
    out_printf(out,
               "Parallel %.3f s of CPU time in %.3f s with a thread running: %.2f at a time%s\n",
               p->cpu_ns / 1e9, p->busy_ns / 1e9, p->busy_ns > 0 ? p->cpu_ns / p->busy_ns : 0,
               p->is_measured ? "" : " (estimated: --off-cpu measures it)");
    out_str(out, "         threads at a time:");
    const char *before = " ";
    for (uint32_t n = 0; n < p->len; n++) {
        if (n > MOST_NUMBERS) {
            rest_ns += p->ns[n];
            continue;
        }
        if (p->ns[n] < all_ns / 1000)
            continue;
        out_printf(out, "%s%" PRIu32 " for %.3f s (%.1f %%)", before, n, p->ns[n] / 1e9,
                   100 * p->ns[n] / all_ns);
        before = ", ";
    }
    if (rest_ns >= all_ns / 1000 && rest_ns > 0)
        out_printf(out, "%smore for %.3f s (%.1f %%)", before, rest_ns / 1e9,
                   100 * rest_ns / all_ns);
    out_str(out, "\n");
}

/* Losses of unknown time: no account shows them. */
static void recording_text_unmeasured(struct out *out, const struct recording_summary *s)
{
    const char *before = "Lost     ";
    for (size_t i = 0; i < s->recording->losses.len && !s->chosen; i++) {
        const struct recording_loss *l = &s->recording->losses.at[i];
        if (l->kind == RECORDING_LOST_OTHER || l->ns || !l->count)
            continue;
        out_printf(out, "%s%" PRIu64 " times: ", before, l->count);
        text_name(out, l->text);
        out_char(out, '\n');
        before = "         ";
    }
}

/* The ranks of a parallel job that are in here, by their numbers and machines: "rank 3 of 16 on
 * node7", "8 of 16 ranks on 2 machines". */
static void recording_text_ranks(struct out *out, const struct recording *r)
{
    struct recording_ranks_sum sum = recording_sum_ranks(r);
    if (!sum.ranks)
        return;
    out_str(out, "Ranks    ");
    if (sum.ranks == 1)
        out_printf(out, "rank %" PRIu32, sum.first);
    else
        out_printf(out, "%" PRIu32 " ranks", sum.ranks);
    if (sum.size)
        out_printf(out, " of %" PRIu32, sum.size);
    if (*sum.host) {
        out_str(out, " on ");
        text_name(out, sum.host);
    }
    if (sum.hosts > 1)
        out_printf(out, " and %" PRIu32 " more machines", sum.hosts - 1);
    out_str(out, " (");
    text_name(out, r->ranks.at[0].launcher);
    out_str(out, sum.ranks > 1 ? "); 'monarc ranks' compares them\n" : ")\n");
}

/* In one line: how much, and the largest reason. */
static void recording_text_missing(struct out *out, const struct recording_summary *s)
{
    const struct recording_loss *most = NULL;
    for (size_t i = 0; i < s->recording->losses.len && !s->chosen; i++) {
        const struct recording_loss *l = &s->recording->losses.at[i];
        bool is_part = l->kind != RECORDING_LOST_OTHER && l->ns && l->ns <= s->cpu_ns;
        if (is_part && (!most || l->ns > most->ns))
            most = l;
    }
    char said[64];
    int used =
        snprintf(said, sizeof said, "CPU      %.0f %% of %.3f s missing",
                 100 - recording_percent(s->accounted_ns, s->cpu_ns), recording_seconds(s->cpu_ns));
    out_bytes(out, said, (size_t)used);
    if (most) {
        out_str(out, ": ");
        text_clause(out, most->text, used + 2);
    }
    out_char(out, '\n');
}

/* What every head has. Less than 95 % accounted for brings the whole account back. */
void recording_caveats_text(struct out *out, const struct recording_summary *s)
{
    enum { MOST_OF_IT = 95 }; /* percent */
    recording_text_ranks(out, s->recording);
    recording_text_parts(out, s);
    if (recording_percent(s->accounted_ns, s->cpu_ns) < MOST_OF_IT && out->columns && s->has_cpu)
        recording_text_missing(out, s);
    else if (recording_percent(s->accounted_ns, s->cpu_ns) < MOST_OF_IT)
        recording_text_cpu(out, s);
    else
        recording_text_unmeasured(out, s);
    recording_text_stacks(out, s);
    recording_text_programs(out, s);
    recording_text_parallelism(out, s);
}

/* The whole account, in the order in which a reader checks it: what ran, what of it is explained,
 * what is missing, what measuring cost. */
void recording_account_text(struct out *out, const struct recording_summary *s)
{
    const struct recording *r = s->recording;
    recording_text_ranks(out, r);
    recording_text_parts(out, s);
    recording_text_cpu(out, s);
    recording_text_stacks(out, s);
    recording_text_programs(out, s);
    recording_text_parallelism(out, s);
    if (r->cost_ns && !s->chosen)
        out_printf(out, "Cost     sampling took about %.3f s of the program's CPU time (%.1f %%)\n",
                   recording_seconds(r->cost_ns), recording_percent(r->cost_ns, s->cpu_ns));
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* All losses, those of the kind OTHER too: a program reads kinds and chooses itself. */
void recording_losses_json(struct json *j, const struct recording *r)
{
    JSON_ROWS(j, "losses", i, r->losses.len) {
        const struct recording_loss *l = &r->losses.at[i];
        json_pair_str(j, "kind", recording_loss_name(l->kind));
        json_pair_u64(j, "count", l->count);
        json_pair_u64(j, "ns", l->ns);
        json_pair_str(j, "text", l->text);
    }
}

/* All of them: text stops at eight. */
static void recording_json_programs(struct json *j, const struct recording_summary *s)
{
    JSON_ROWS(j, "programs", i, s->programs_len) {
        const struct recording_program *p = &s->programs[i];
        json_pair_str(j, "name", p->name);
        json_pair_str(j, "path",
                      p->object == RECORDING_NONE ? NULL
                                                  : s->recording->objects.at[p->object].path);
        json_pair_u64(j, "processes", p->processes);
        json_pair_double(j, "samples", p->samples);
    }
}

/* What runs differ by, with the interval of the mean. */
static void recording_json_spread(struct json *j, const char *key, const struct recording_spread *s)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_double(j, "mean", s->mean);
    json_pair_double(j, "low", s->mean - s->half);
    json_pair_double(j, "high", s->mean + s->half);
    json_pair_double(j, "deviation", s->deviation);
    json_pair_double(j, "least", s->least);
    json_pair_double(j, "most", s->most);
    json_end(j);
}

/* A member "runs": each of a series, which has one and more. `wait_status` is as wait(2) has it:
 * signal and exit status in one number. A seed of 0 is no seed. */
void recording_parts_json(struct json *j, const struct recording *r)
{
    if (!r->parts.len)
        return;
    JSON_ROWS(j, "runs", i, r->parts.len) {
        const struct recording_part *part = &r->parts.at[i];
        json_pair_u64(j, "number", part->number);
        json_pair_double(j, "elapsed_time", recording_seconds(part->elapsed_ns));
        json_pair_double(j, "cpu_time", recording_seconds(part->cpu_ns));
        json_key(j, "wait_status"), json_i64(j, part->status);
        json_pair_u64(j, "environment_bytes_added", part->padding);
        json_key(j, "seed"), part->seed ? json_u64(j, part->seed) : json_none(j);
    }
}

/* A member "parallelism", where samples were weighed by it: text leaves out what is below a
 * thousandth. */
static void recording_json_parallelism(struct json *j, const struct recording_summary *s)
{
    const struct parallelism *p = s->parallelism;
    if (!p)
        return;
    json_key(j, "parallelism"), json_begin(j, '{');
    json_pair_bool(j, "measured", p->is_measured);
    json_pair_double(j, "cpu_time", p->cpu_ns / 1e9);
    json_pair_double(j, "busy_time", p->busy_ns / 1e9);
    JSON_ITEMS(j, "histogram", n, p->len) {
        if (p->ns[n] < 0.5)
            continue;
        json_begin(j, '{');
        json_pair_u64(j, "threads", n);
        json_pair_double(j, "time", p->ns[n] / 1e9);
        json_end(j);
    }
    json_end(j);
}

/* A member "ranks": each process that is of a rank; none of recordings that are of no job. */
void recording_ranks_json(struct json *j, const struct recording *r)
{
    if (!r->ranks.len)
        return;
    JSON_ROWS(j, "ranks", i, r->ranks.len) {
        const struct recording_rank *rank = &r->ranks.at[i];
        json_pair_u64(j, "pid", r->processes.at[rank->process].pid);
        json_pair_u64(j, "rank", rank->rank);
        json_key(j, "size"), rank->size ? json_u64(j, rank->size) : json_none(j);
        json_key(j, "local_rank");
        rank->local == RECORDING_NONE ? json_none(j) : json_u64(j, rank->local);
        json_pair_str(j, "launcher", rank->launcher);
        json_pair_str(j, "host", *rank->host ? rank->host : NULL);
    }
}

/* The head of text, with nothing left out. Times are in seconds where the name says time, in
 * nanoseconds where it ends in _ns. */
void recording_head_json(struct json *j, const struct recording_summary *s)
{
    const struct recording *r = s->recording;
    json_key(j, "recording"), json_begin(j, '{');
    json_pair_str(j, "command", s->command);
    json_pair_u64(j, "start_ns", r->start_real_ns);
    json_pair_u64(j, "length_ns", r->length_ns);
    json_pair_str(j, "method", recording_method_name(r->method));
    json_pair_u64(j, "rate_asked_for", r->rate);
    json_pair_str(j, "event", s->event ? s->event->name : NULL);
    json_pair_str(j, "part", s->chosen);
    json_pair_u64(j, "samples_taken", s->weights->taken);
    json_pair_u64(j, "processes", s->processes);
    /* What was not measured is null: 0 seconds of CPU time would be a measurement. */
    json_pair_double(j, "cpu_time", s->has_cpu ? recording_seconds(s->cpu_ns) : NAN);
    json_pair_double(j, "accounted_time", s->has_cpu ? recording_seconds(s->accounted_ns) : NAN);
    json_pair_double(j, "whole_stacks", s->whole >= 0 ? s->whole : NAN);
    json_pair_double(j, "cost_time", recording_seconds(r->cost_ns));
    json_pair_double(j, "recorder_time", recording_seconds(r->monitor_ns));
    recording_parts_json(j, r);
    recording_ranks_json(j, r);
    if (r->parts.len > 1) {
        recording_json_spread(j, "elapsed", &s->elapsed);
        recording_json_spread(j, "cpu", &s->cpu);
    }
    recording_json_programs(j, s);
    recording_json_parallelism(j, s);
    recording_losses_json(j, r);
    json_end(j);
}
